/* Many runs at a time: all are delivered, stopping leaves nothing, and neither
 * does the death of anyone in the chain.
 */
#include "tests/launched.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct launch_pool *start(struct launch_options options, unsigned jobs, uint64_t runs,
				 const char *name, const char *way)
{
	/* A pool does not need the options any more when it has started. */
	_cleanup_free_ char *path = program_path(name);
	char *argv[] = { path, (char *)way, (char *)mark(), NULL };
	struct launch_pool *pool;

	options.argv = argv;
	assert_none(launch_pool_start(&options, jobs, runs, &pool));
	return pool;
}

static void test_all_delivered(void **state)
{
	const uint64_t runs = 40;
	bool seen[40] = { false }, got, done = false;
	struct launch_options options = { .area = { .seed = 100, .jitter_us = 3 }, .force = LABEL_FAIL };
	struct launch_pool *pool = start(options, 3, runs, "ends", "area");
	uint64_t n = 0;

	(void)state;
	while (!done) {
		struct run run;
		unsigned long long seed;

		assert_none(launch_pool_next(pool, 10, &run, &got, &done));
		assert_true(got);
		n++;
		assert_int_equal(done, n == runs);
		assert_int_equal(run.observations.nthreads, 7);
		assert_int_equal(run.jitter_us, 3);
		assert_int_equal(sscanf(run.output, "seed %llu", &seed), 1);
		assert_true(seed >= 100 && seed < 140 && !seen[seed - 100]);
		seen[seed - 100] = true;
		run_free(&run);
	}
	assert_none(launch_pool_next(pool, 10, NULL, &got, &done));
	assert_true(done && !got);
	launch_pool_stop(pool);
	assert_int_equal(marked_processes(), 0);
}

static void test_no_runs(void **state)
{
	struct launch_pool *pool = start((struct launch_options){ 0 }, 0, 0, "ends", "exit");
	bool got, done;

	(void)state;
	assert_none(launch_pool_next(pool, 0, NULL, &got, &done));
	assert_true(done && !got);
	launch_pool_stop(pool);
	launch_pool_stop(NULL);
}

static void test_wait_is_bounded(void **state)
{
	struct launch_pool *pool = start((struct launch_options){ 0 }, 2, 4, "ends", "hang");
	double begin = now_s();
	struct run run;
	bool got, done;

	(void)state;
	assert_none(launch_pool_next(pool, 0.1, &run, &got, &done));
	assert_true(!got && !done);
	assert_true(now_s() - begin >= 0.1 && now_s() - begin < 5);
	await_marked(2);
	launch_pool_stop(pool);
	assert_int_equal(marked_processes(), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void test_interrupt(void **state)
{
	struct sigaction action = { .sa_handler = note_interrupt, .sa_flags = SA_RESTART }, before;
	double begin = now_s();
	struct run run;
	bool got, done;

	(void)state;
	sigaction(SIGINT, &action, &before);
	struct launch_pool *pool = start((struct launch_options){ 0 }, 2, 10, "brood", "hang");

	/* Each of the two runs is three processes. */
	await_marked(6);
	pid_t pid = fork();

	if (pid == 0) {
		usleep(100000);
		kill(getppid(), SIGINT);
		_exit(0);
	}
	assert_none(launch_pool_next(pool, 60, &run, &got, &done));
	assert_true(interrupted && !got && !done);
	launch_pool_stop(pool);
	waitpid(pid, NULL, 0);
	sigaction(SIGINT, &before, NULL);
	assert_int_equal(marked_processes(), 0);
	assert_true(now_s() - begin < 20);
}

static void test_errors_come_through(void **state)
{
	struct launch_options options = { .argv = (char *[]){ (char *)"/nonexistent/x", NULL } };
	struct launch_pool *pool;
	struct run run;
	bool got, done;

	(void)state;
	assert_none(launch_pool_start(&options, 2, 3, &pool));
	for (int i = 1; i <= 3; i++) {
		assert_fails_with(launch_pool_next(pool, 10, &run, &got, &done),
				  "cannot start /nonexistent/x");
		assert_true(!got && done == (i == 3));
	}
	launch_pool_stop(pool);
}

/* Children of this process, which must be the reaper of all that dies here. */
static pid_t first_child(void)
{
	_cleanup_fclose_ FILE *list = fopen("/proc/thread-self/children", "re");
	int pid = 0;

	assert_non_null(list);
	return fscanf(list, "%d", &pid) == 1 ? (pid_t)pid : 0;
}

static void test_worker_killed(void **state)
{
	struct launch_pool *pool = start((struct launch_options){ 0 }, 1, 5, "ends", "hang");
	struct run run;
	bool got, done;

	(void)state;
	await_marked(1);
	kill(first_child(), SIGKILL);
	assert_fails_with(launch_pool_next(pool, 10, &run, &got, &done), "worker process was killed");
	assert_false(got);
	launch_pool_stop(pool);
	await_marked(0);
}

/* A tool in the middle of its runs, and another child of it that holds all its
 * descriptors open. */
static _Noreturn void be_tool(int *holder)
{
	struct launch_pool *pool = start((struct launch_options){ 0 }, 2, 10, "brood", "hang");
	struct run run;
	bool got, done;
	pid_t pid = fork();

	/* Neither stays when the test fails. */
	alarm(60);
	if (pid == 0) {
		for (;;)
			pause();
	}
	*holder = pid;
	launch_pool_next(pool, 100, &run, &got, &done);
	_exit(0);
}

/* The tool itself is killed: the workers notice and take all along, also what
 * has escaped into sessions of its own. */
static void test_parent_killed(void **state)
{
	int *holder = mmap(NULL, sizeof *holder, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t tool = fork();

	(void)state;
	if (tool == 0)
		be_tool(holder);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	await_marked(6);
	kill(tool, SIGKILL);
	await_marked(0);
	kill(*holder, SIGKILL);
	munmap(holder, sizeof *holder);
	/* The workers have become children of this process: they end as well. */
	for (double begin = now_s(); waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD; usleep(1000))
		assert_true(now_s() - begin < 10);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void test_descriptors(void **state)
{
	size_t before = open_descriptors();

	(void)state;
	for (int i = 0; i < 50; i++) {
		struct launch_pool *pool = start((struct launch_options){ 0 }, 2, 4, "ends", "exit");
		struct run run;
		bool got, done;

		/* Reports that nobody reads hold descriptors too. */
		for (int k = 0; k < i % 5; k++) {
			assert_none(launch_pool_next(pool, 10, &run, &got, &done));
			run_free(&run);
		}
		launch_pool_stop(pool);
	}
	assert_int_equal(open_descriptors(), before);
}

static double cpu_of(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void test_cost(void **state)
{
	const int runs = 1000;
	bool got, done = false;
	double begin = now_s(), own = cpu_of(RUSAGE_SELF), workers = cpu_of(RUSAGE_CHILDREN), programs = 0;
	struct launch_pool *pool = start((struct launch_options){ .timeout_s = 10 }, 2, runs, "ends", "exit");

	(void)state;
	while (!done) {
		struct run run = { 0 };

		assert_none(launch_pool_next(pool, 10, &run, &got, &done));
		programs += run.cpu_s;
		run_free(&run);
	}
	launch_pool_stop(pool);
	own = cpu_of(RUSAGE_SELF) - own;
	workers = cpu_of(RUSAGE_CHILDREN) - workers - programs;
	print_message(
		"per run: %.0f us wall; CPU: %.0f us here, %.0f us in the worker, %.0f us in the program\n",
		(now_s() - begin) / runs * 1e6, own / runs * 1e6, workers / runs * 1e6,
		programs / runs * 1e6);
	assert_true((own + workers) / runs < 5e-3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_delivered),
		cmocka_unit_test(test_no_runs),
		cmocka_unit_test(test_wait_is_bounded),
		cmocka_unit_test(test_interrupt),
		cmocka_unit_test(test_errors_come_through),
		cmocka_unit_test(test_worker_killed),
		cmocka_unit_test(test_parent_killed),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
