/* Single runs of ordinary programs: how they end, what they print, what they
 * leave behind, how they are judged.
 */
#include "tests/launched.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void test_exits(void **state)
{
	(void)state;
	assert_ended(RUN("ends", "exit", "0"), OUTCOME_EXIT, 0, LABEL_PASS, "exit status 0");
	assert_ended(RUN("ends", "exit", "3"), OUTCOME_EXIT, 3, LABEL_FAIL, "exit status 3");
	assert_ended(RUN("ends", "_exit", "255"), OUTCOME_EXIT, 255, LABEL_FAIL, "exit status 255");
	assert_ended(RUN("ends", "close-all"), OUTCOME_EXIT, 0, LABEL_PASS, "exit status 0");
}

static void test_signals(void **state)
{
	(void)state;
	assert_ended(RUN("ends", "abort"), OUTCOME_SIGNAL, SIGABRT, LABEL_FAIL, "killed by SIGABRT");
	assert_ended(RUN("ends", "segv"), OUTCOME_SIGNAL, SIGSEGV, LABEL_FAIL, "killed by SIGSEGV");
	assert_ended(RUN("ends", "raise", "9"), OUTCOME_SIGNAL, SIGKILL, LABEL_FAIL, "killed by SIGKILL");
	assert_ended(RUN("ends", "raise", "15"), OUTCOME_SIGNAL, SIGTERM, LABEL_FAIL, "killed by SIGTERM");
	assert_ended(RUN("ends", "raise", "40"), OUTCOME_SIGNAL, 40, LABEL_FAIL, "killed by signal 40");
}

static void test_timeout(void **state)
{
	const char *reason = "still running after 0.25 s (hung)";
	struct launch_options options = { .timeout_s = 0.25 };
	double start = now_s();
	struct run run = RUN_WITH(options, "ends", "hang", mark());

	(void)state;
	assert_true(run.wall_s >= 0.25 && run.wall_s < 5);
	assert_ended(run, OUTCOME_TIMEOUT, 0, LABEL_FAIL, reason);
	/* Stopped by itself; printing without end. */
	run = RUN_WITH(options, "ends", "raise", "19", mark());
	assert_ended(run, OUTCOME_TIMEOUT, 0, LABEL_FAIL, reason);
	run = RUN_WITH(options, "chatter", "flood", "-1", mark());
	assert_ended(run, OUTCOME_TIMEOUT, 0, LABEL_FAIL, reason);
	assert_true(now_s() - start < 15);
	assert_int_equal(marked_processes(), 0);
}

static void test_nothing_left(void **state)
{
	const char *const ways[] = { "child", "session", "daemon", "chain", "comet" };

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		double start = now_s();

		assert_ended(RUN("brood", ways[i], mark()), OUTCOME_EXIT, 0, LABEL_PASS, "exit status 0");
		assert_int_equal(marked_processes(), 0);
		assert_true(now_s() - start < 10);
	}
	assert_ended(RUN_WITH((struct launch_options){ .timeout_s = 0.2 }, "brood", "hang", mark()),
		     OUTCOME_TIMEOUT, 0, LABEL_FAIL, "still running after 0.2 s (hung)");
	assert_int_equal(marked_processes(), 0);
}

static void test_orphans_are_buried(void **state)
{
	(void)state;
	assert_ended(RUN("brood", "orphan"), OUTCOME_EXIT, 0, LABEL_PASS, "exit status 0");
}

static void test_measures(void **state)
{
	struct run run = RUN("ends", "sleep", "60000");
	time_t now = time(NULL);

	(void)state;
	assert_true(run.wall_s >= 0.06 && run.wall_s < 5);
	assert_true(run.cpu_s >= 0 && run.cpu_s < 1);
	assert_true(run.peak_kib > 100 && run.peak_kib < 1000000);
	assert_true(run.started / 1000000 >= now - 10 && run.started / 1000000 <= now);
	run_free(&run);
}

static void test_surroundings(void **state)
{
	struct rlimit core;

	(void)state;
	getrlimit(RLIMIT_CORE, &core);
	core.rlim_cur = core.rlim_max;
	setrlimit(RLIMIT_CORE, &core);
	/* What the test itself inherited is not launch's doing. */
	close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
	struct run run = RUN("ends", "surroundings");

	if (run.output)
		fail_msg("%s", run.output);
	assert_ended(run, OUTCOME_EXIT, 0, LABEL_PASS, "exit status 0");
}

static void test_area(void **state)
{
	struct launch_options options = {
		.area = { .observe = OBSERVE_ALL, .context = 5, .jitter_us = 20, .seed = 77 },
		.force = LABEL_FAIL
	};
	struct run run = RUN_WITH(options, "ends", "area");

	(void)state;
	assert_string_equal(run.output, "seed 77 jitter 20 context 5\n");
	assert_int_equal(run.observations.nthreads, 7);
	assert_int_equal(run.jitter_us, 20);
	assert_ended(run, OUTCOME_EXIT, 0, LABEL_FAIL, "exit status 0 (label given)");
}

static void test_output(void **state)
{
	struct run run = RUN("chatter", "out", "said", "err", "complained", "status", "1");

	(void)state;
	assert_string_equal(run.output, "complained\nsaid");
	run_free(&run);
	run = RUN("chatter", "out", "said", "status", "0");
	assert_null(run.output);
	run_free(&run);
	run = RUN("chatter", "out", "a", "nul", "", "out", "b", "status", "1");
	assert_string_equal(run.output, "a?b");
	run_free(&run);

	/* All of the short one, the rest of the room for the long one. */
	run = RUN("chatter", "flood", "3000", "out", "last words", "err", "short", "status", "1");
	assert_int_equal(strlen(run.output), 16384 + 1);
	assert_memory_equal(run.output, "short\n", 6);
	assert_string_equal(run.output + strlen(run.output) - 12, "x\nlast words");
	run_free(&run);
}

/* What is still in the pipe when the program ends. */
static void test_last_words(void **state)
{
	struct launch_options options = { .check = "test $(wc -c) = 1024000" };

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_ended(RUN_WITH(options, "chatter", "pipe", "1048576", "burst", "1000"), OUTCOME_EXIT,
			     0, LABEL_PASS, "exit status 0");
}

static char *file_with(const char *text)
{
	char *name = memory_string("/tmp/expect-XXXXXX");
	_cleanup_close_ int fd = mkstemp(name);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return name;
}

static void assert_expecting(const char *expected, const char *printed, unsigned line)
{
	_cleanup_free_ char *name = file_with(expected);
	_cleanup_free_ char *reason = line ? memory_format("output differs from %s at line %u", name, line)
					   : memory_string("exit status 0");
	struct launch_options options = { .expect = name };

	assert_ended(RUN_WITH(options, "chatter", "err", "noise", "out", printed), OUTCOME_EXIT, 0,
		     line ? LABEL_FAIL : LABEL_PASS, reason);
	unlink(name);
}

static void test_expect(void **state)
{
	(void)state;
	assert_expecting("one\ntwo\n", "one\ntwo\n", 0);
	assert_expecting("one\ntwo", "one\ntwo", 0);
	assert_expecting("", "", 0);
	assert_expecting("one\ntwo\n", "one\ntwo", 2);
	assert_expecting("one\ntwo", "one\ntwo\n", 2);
	assert_expecting("one\ntwo\n", "one\ntwo\nthree\n", 3);
	assert_expecting("one\ntwo\nthree\n", "one\ntwo\n", 3);
	assert_expecting("one\ntwo\n", "one\ntvo\n", 2);
	assert_expecting("one\n", "", 1);
	assert_expecting("", "one\n", 1);
}

static void test_expect_large(void **state)
{
	_cleanup_free_ char *name = file_with("");
	struct launch_options options = { .expect = name };
	_cleanup_free_ char *command =
		memory_format("yes $(head -c 1023 /dev/zero | tr '\\0' x) | head -n 5000 >%s", name);
	_cleanup_free_ char *reason = memory_format("output differs from %s at line 5000", name);

	(void)state;
	assert_int_equal(system(command), 0);
	assert_ended(RUN_WITH(options, "chatter", "flood", "5000"), OUTCOME_EXIT, 0, LABEL_PASS,
		     "exit status 0");
	assert_ended(RUN_WITH(options, "chatter", "flood", "4999", "out", "y"), OUTCOME_EXIT, 0, LABEL_FAIL,
		     reason);
	unlink(name);
}

static void test_expect_unreadable(void **state)
{
	struct launch_options options = { .expect = "/nonexistent/file", .argv = (char *[]){ NULL } };
	struct run run;

	(void)state;
	assert_fails_with(launch_run(&options, &run), "/nonexistent/file");
	options.expect = "/tmp";
	assert_fails_with(launch_run(&options, &run), "/tmp");
}

static void assert_checked(const char *check, const char *printed, enum label label, const char *reason)
{
	struct launch_options options = { .check = check, .timeout_s = 2 };

	assert_ended(RUN_WITH(options, "chatter", "out", printed), OUTCOME_EXIT, 0, label, reason);
}

static void test_check(void **state)
{
	_cleanup_free_ char *leaves = memory_format("sh -c 'sleep 1000; : %s' & cat >/dev/null", mark());

	(void)state;
	assert_checked("grep -q hello", "hello", LABEL_PASS, "exit status 0");
	assert_checked("grep -q hello", "goodbye", LABEL_FAIL, "grep -q hello exited with 1");
	assert_checked("kill -TERM $$", "", LABEL_FAIL, "kill -TERM $$ was killed by SIGTERM");
	assert_checked("sleep 1000", "", LABEL_FAIL, "sleep 1000 was still running after 2 s");
	/* It need not read, gets no area and may leave things behind. */
	assert_checked("true", "unread", LABEL_PASS, "exit status 0");
	assert_checked("test -z \"$UNSNARL_AREA\"", "", LABEL_PASS, "exit status 0");
	assert_checked(leaves, "", LABEL_PASS, "exit status 0");
	assert_int_equal(marked_processes(), 0);
}

static void test_check_sees_all(void **state)
{
	struct launch_options options = { .check = "test $(wc -c) = 3072000" };
	struct run run;

	(void)state;
	assert_ended(RUN_WITH(options, "chatter", "flood", "3000"), OUTCOME_EXIT, 0, LABEL_PASS,
		     "exit status 0");
	/* What the check says is part of a failed run's output. */
	options.check = "echo wrong; exit 1";
	run = RUN_WITH(options, "chatter", "out", "text");
	assert_string_equal(run.output, "text\nwrong\n");
	run_free(&run);
	/* The check decides, not the exit status; a signal fails all the same. */
	assert_ended(RUN_WITH(options, "chatter", "status", "4"), OUTCOME_EXIT, 4, LABEL_FAIL,
		     "echo wrong; exit 1 exited with 1");
	options.check = "true";
	assert_ended(RUN_WITH(options, "chatter", "status", "4"), OUTCOME_EXIT, 4, LABEL_PASS,
		     "exit status 4");
	assert_ended(RUN_WITH(options, "ends", "segv"), OUTCOME_SIGNAL, SIGSEGV, LABEL_FAIL,
		     "killed by SIGSEGV");
	options.timeout_s = 0.1;
	assert_ended(RUN_WITH(options, "ends", "hang", mark()), OUTCOME_TIMEOUT, 0, LABEL_FAIL,
		     "still running after 0.1 s (hung)");
}

static void test_given_label(void **state)
{
	struct launch_options options = { .force = LABEL_PASS, .check = "false", .timeout_s = 0.1 };

	(void)state;
	assert_ended(RUN_WITH(options, "ends", "segv"), OUTCOME_SIGNAL, SIGSEGV, LABEL_PASS,
		     "killed by SIGSEGV (label given)");
	assert_ended(RUN_WITH(options, "ends", "hang", mark()), OUTCOME_TIMEOUT, 0, LABEL_PASS,
		     "still running after 0.1 s (hung) (label given)");
	assert_int_equal(marked_processes(), 0);
}

static void test_no_program(void **state)
{
	char *argv[] = { (char *)"/nonexistent/program", NULL };
	struct launch_options options = { .argv = argv };
	struct run run;

	(void)state;
	assert_fails_with(launch_run(&options, &run), "cannot start /nonexistent/program: No such file");
}

static void test_descriptors(void **state)
{
	size_t before = open_descriptors();

	(void)state;
	for (int i = 0; i < 25; i++) {
		struct run run = RUN("ends", "exit", "0");

		run_free(&run);
		run = RUN_WITH((struct launch_options){ .check = "true" }, "ends", "exit", "1");
		run_free(&run);
	}
	assert_int_equal(open_descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Each of these changes the process it runs in: in a child, then. */
static int in_child(void (*what)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		what();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void without_descriptors(void)
{
	char *argv[] = {
		program_path("chatter"), (char *)"out", (char *)"x", (char *)"err", (char *)"y", NULL
	};
	struct launch_options options = { .argv = argv, .force = LABEL_FAIL };
	struct run run;

	close(0);
	close(1);
	close(2);
	if (launch_run(&options, &run) || strcmp(run.output, "y\nx") != 0)
		_exit(1);
}

static void with_little_room(void)
{
	char *argv[] = { program_path("ends"), NULL };
	struct launch_options options = { .argv = argv };
	struct rlimit limit = { 1 << 20, 1 << 20 }, descriptors = { 64, 64 };
	struct run run;

	setrlimit(RLIMIT_NOFILE, &descriptors);
	if (launch_run(&options, &run) || run.label != LABEL_PASS)
		_exit(1);
	setrlimit(RLIMIT_FSIZE, &limit);
	struct error *error = launch_run(&options, &run);

	if (!error || !strstr(error->message, "ulimit -f"))
		_exit(2);
}

static void as_replacement(void)
{
	char *argv[] = { program_path("ends"), (char *)"area", NULL };
	struct launch_options options = { .argv = argv, .area = { .seed = 5 } };
	int null = open("/dev/null", O_WRONLY);

	dup2(null, 1);
	launch_exec(&options);
	_exit(3);
}

static void test_odd_surroundings(void **state)
{
	(void)state;
	assert_int_equal(in_child(without_descriptors), 0);
	assert_int_equal(in_child(with_little_room), 0);
	assert_int_equal(in_child(as_replacement), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_nothing_left),
		cmocka_unit_test(test_orphans_are_buried),
		cmocka_unit_test(test_measures),
		cmocka_unit_test(test_surroundings),
		cmocka_unit_test(test_area),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_last_words),
		cmocka_unit_test(test_expect),
		cmocka_unit_test(test_expect_large),
		cmocka_unit_test(test_expect_unreadable),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_check_sees_all),
		cmocka_unit_test(test_given_label),
		cmocka_unit_test(test_no_program),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_odd_surroundings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
