/* The size of the paper's largest case: 780,977 pairs in the failed run and 100
 * passing runs, read from a store and put through all three procedures, in less
 * than a second of CPU time and 500 MB.
 */
#include "tests/store_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/locon/answer.h"
#include "analysis/locon/gather.h"
#include "base/memory.h"

#define PAIRS 780977u
#define PASSED 100u
#define MOST_CPU_S 1.0
#define MOST_KIB (500u * 1024)

static double cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Nine of ten pairs are in every run, the others in most; the failed run has all
 * that the generator knows, and three of its own. */
static bool is_in(struct world *world, uint32_t pair, bool failed)
{
	if (pair >= PAIRS - 3)
		return failed;
	return failed || pair % 10 || world_below(world, 100) < 20 + pair % 70;
}

static void big_run(struct world *world, bool failed, struct run *out)
{
	struct observations *seen = &out->observations;
	uint32_t nsites = world->nsites[0][0];

	*out = (struct run){ .outcome = OUTCOME_EXIT,
			     .label = failed ? LABEL_FAIL : LABEL_PASS,
			     .code = failed,
			     .wall_s = 1,
			     .started = 1700000000000000 };
	seen->units = memory_alloc(sizeof *seen->units);
	seen->nunits = 1;
	seen->units[0] =
		(struct run_unit){ world_unit_hash(0, 0), 0, nsites, memory_string(world->programs[0]) };
	seen->nthreads = 400;
	seen->nprocesses = 1;
	seen->pairs = memory_alloc(PAIRS * sizeof *seen->pairs);
	for (uint32_t p = 0; p < PAIRS; p++) {
		if (!is_in(world, p, failed))
			continue;
		uint32_t rest = p / 3, head = rest % nsites, tail = rest / nsites % nsites,
			 threads = rest / nsites / nsites;

		seen->pairs[seen->npairs++] = (struct pair){
			.kind = (enum pair_kind)(1 + p % 3),
			.head_site = head,
			.tail_site = tail,
			.head_thread = threads % 300,
			.tail_thread = threads % 300 + 1 + threads / 300,
			.head_order = 1 + p / 2,
			.tail_order = 1 + p / 2 + p % 7,
			.address = 0x550000000000 + (uint64_t)(p % 100000) * 8,
			.head_loop.site = LOOP_NONE,
			.tail_loop.site = LOOP_NONE,
		};
	}
}

static void record(struct world *world)
{
	struct store *store = world_open(world);
	uint64_t campaign = world_campaign(store, world->programs[0]);

	for (uint32_t r = 0; r <= PASSED; r++) {
		struct run run;

		big_run(world, r == PASSED, &run);
		world_good(store_add(store, campaign, &run));
		run_free(&run);
	}
	store_close(store);
}

/* All three procedures at all levels that the data have, each asked by itself. */
static void analyse(struct world *world)
{
	struct store *store = NULL;
	struct locon_data data;
	struct locon locon;
	size_t found = 0;
	double begun = cpu();

	world_good(store_open(world->store, false, &store));
	world_good(locon_gather(store, PASSED + 1, &data));
	double read = cpu();

	locon_open(&locon, &data.input);
	double indexed = cpu();

	for (unsigned procedure = LOCON_DEFAULT; procedure <= LOCON_III; procedure++) {
		const struct locon_request request = {
			.procedure = procedure, .level = -1, .top = 20, .run = data.run, .sites = data.sites
		};
		struct locon_answer answer;

		locon_answer(&locon, &request, &answer);
		found += answer.findings.n;
		if (procedure == LOCON_I)
			assert_true(answer.suspects > 0);
		locon_answer_free(&answer);
	}
	locon_close(&locon);
	locon_data_free(&data);
	store_close(store);
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("%u pairs, %u runs: read %.3f s, indexed %.3f s, procedures %.3f s, all %.3f s; %ld MB\n",
	       PAIRS, PASSED + 1, read - begun, indexed - read, cpu() - indexed, cpu() - begun,
	       usage.ru_maxrss / 1024);
	assert_true(found > 0);
	assert_true(cpu() - begun < MOST_CPU_S);
	assert_true(usage.ru_maxrss < (long)MOST_KIB);
}

/* The analysis in a process of its own, so that its memory is its own. */
static void test_largest_case(void **state)
{
	struct world world;
	int status;

	(void)state;
	world_make(&world, 3);
	pid_t recorder = fork();

	if (!recorder) {
		record(&world);
		_exit(0);
	}
	assert_int_equal(waitpid(recorder, &status, 0), recorder);
	assert_int_equal(status, 0);
	analyse(&world);
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_largest_case) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
