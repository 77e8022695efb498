/* What free runs say of the members that controlled runs taught: a store with made-up
 * runs of two accesses, of which the read came after the write, or after nobody. */
#include <stdlib.h>

#include "analysis/invariant/training.h"
#include "tests/store_world.h"

enum { READ, WRITE };
#define KINDS 4

/* Runs of one kind: in `usual` of them the read came after the write, in `odd` after nobody, in the rest only the
 * write is on record. */
struct runs {
	bool controlled, clocked, failed;
	uint32_t jitter_us;
	unsigned usual, odd, without;
};

static void add_run(struct world *world, struct store *store, uint64_t campaign, const struct runs *kind,
		    struct predecessor read)
{
	struct predecessor predecessors[] = { { WRITE, SITE_NIL }, read };
	struct run_unit unit = { .hash = world_unit_hash(0, 0),
				 .nsites = world->nsites[0][0],
				 .path = world->programs[0] };
	struct run run = { .outcome = OUTCOME_EXIT,
			   .label = kind->failed ? LABEL_FAIL : LABEL_PASS,
			   .reason = "made up",
			   .jitter_us = kind->jitter_us,
			   .schedule.policy = kind->clocked      ? SCHEDULE_CLOCK
					      : kind->controlled ? SCHEDULE_RANDOM
								 : SCHEDULE_FREE,
			   .observations = { .units = &unit,
					     .nunits = 1,
					     .predecessors = predecessors,
					     .npredecessors = read.site == READ ? 2 : 1 } };

	world_good(store_add(store, campaign, &run));
}

static void add_runs(struct world *world, struct store *store, uint64_t campaign, const struct runs *kind)
{
	for (unsigned i = 0; i < kind->usual + kind->odd + kind->without; i++)
		add_run(world, store, campaign, kind,
			i < kind->usual               ? (struct predecessor){ READ, WRITE }
			: i < kind->usual + kind->odd ? (struct predecessor){ READ, SITE_NIL }
						      : (struct predecessor){ WRITE, WRITE });
}

/* How many members the sets lack for luck after these campaigns, which have up to KINDS kinds of runs more than the
 * controlled ones: 50 that pass, in 20 of which the read comes after nobody. */
static size_t lucky(const struct runs (*kinds)[KINDS], size_t ncampaigns, bool free_too)
{
	struct world world;
	struct training training;
	struct guard_set set = { 0 };

	world_make(&world, 5);
	struct store *store = world_open(&world);

	training_start(&training);
	for (size_t c = 0; c < ncampaigns; c++) {
		const struct runs controlled = { .controlled = true, .usual = 30, .odd = 20 };
		uint64_t campaign = world_campaign(store, c ? "/other" : "/program");

		add_runs(&world, store, campaign, &controlled);
		for (unsigned i = 0; i < KINDS; i++)
			add_runs(&world, store, campaign, &kinds[c][i]);
		world_good(training_add(&training, store, campaign, free_too));
	}
	training_settle(&training);
	training_set(&training, &set);
	size_t left_out = training.lucky;

	guard_set_free(&set);
	training_free(&training);
	store_close(store);
	world_end(&world);
	return left_out;
}

static const struct runs failures = { .controlled = true, .failed = true, .odd = 5 };

static void test_luck(void **unused)
{
	(void)unused;
	const struct runs free_runs = { .usual = 60 };

	/* Only where controlled runs failed, and free ones do not have it. */
	assert_int_equal(lucky(&(const struct runs[KINDS]){ failures, free_runs }, 1, false), 1);
	assert_int_equal(lucky(&(const struct runs[KINDS]){ free_runs }, 1, false), 0);
	assert_int_equal(lucky(&(const struct runs[KINDS]){ failures }, 1, false), 0);
	/* Free runs that failed say nothing of controlled ones. */
	assert_int_equal(
		lucky(&(const struct runs[KINDS]){ { .failed = true, .odd = 5 }, free_runs }, 1, false), 0);
	/* Where free runs teach themselves nobody is a witness. */
	assert_int_equal(lucky(&(const struct runs[KINDS]){ failures, free_runs }, 1, true), 0);
}

static void test_share(void **unused)
{
	(void)unused;
	/* One in twenty is enough, where chance does not explain it. */
	assert_int_equal(lucky(&(const struct runs[KINDS]){ failures, { .usual = 91, .odd = 9 } }, 1, false),
			 0);
	assert_int_equal(lucky(&(const struct runs[KINDS]){ failures, { .usual = 92, .odd = 8 } }, 1, false),
			 1);
	assert_int_equal(
		lucky(&(const struct runs[KINDS]){ failures, { .usual = 940, .odd = 60 } }, 1, false), 1);
	assert_int_equal(
		lucky(&(const struct runs[KINDS]){ failures, { .usual = 930, .odd = 70 } }, 1, false), 0);
}

/* Two of a hundred controlled runs had it: it is no work of control when as many free ones did. */
static void test_natural(void **unused)
{
	(void)unused;
	const struct runs more = { .controlled = true, .usual = 950 };

	assert_int_equal(
		lucky(&(const struct runs[KINDS]){ failures, more, { .usual = 98, .odd = 2 } }, 1, false), 0);
	assert_int_equal(
		lucky(&(const struct runs[KINDS]){ failures, more, { .usual = 99, .odd = 1 } }, 1, false), 1);
}

/* Runs by clocks bring nothing about: a member that only they and one free run had is no work of control. */
static void test_clocks(void **unused)
{
	(void)unused;
	const struct runs clocked = { .controlled = true, .clocked = true, .odd = 500 };
	const struct runs more = { .controlled = true, .usual = 950 };
	const struct runs free_runs[] = { { .usual = 98, .odd = 2 }, { .usual = 99, .odd = 1 } };

	assert_int_equal(
		lucky(&(const struct runs[KINDS]){ failures, clocked, more, free_runs[0] }, 1, false), 0);
	assert_int_equal(
		lucky(&(const struct runs[KINDS]){ failures, clocked, more, free_runs[1] }, 1, false), 1);
}

static void test_witnesses(void **unused)
{
	(void)unused;
	const unsigned few = TRAINING_QUIET - 1;

	/* Too few, or with random delays, which bring about as much as control does. */
	assert_int_equal(lucky(&(const struct runs[KINDS]){ failures, { .usual = few } }, 1, false), 0);
	assert_int_equal(lucky(&(const struct runs[KINDS]){ failures, { .usual = few + 1 } }, 1, false), 1);
	assert_int_equal(
		lucky(&(const struct runs[KINDS]){ failures, { .usual = 60, .jitter_us = 200 } }, 1, false),
		0);
	/* An access that they never reached. */
	assert_int_equal(lucky(&(const struct runs[KINDS]){ failures, { .without = 60 } }, 1, false), 0);
}

/* What is usual with one input stands, though another never had it. */
static void test_campaigns(void **unused)
{
	(void)unused;
	const struct runs free_runs = { .usual = 60 };
	const struct runs kinds[][KINDS] = { { failures, free_runs },
					     { failures, { .usual = 60, .odd = 40 } } };
	const struct runs alike[][KINDS] = { { failures, free_runs }, { failures, free_runs } };

	assert_int_equal(lucky(kinds, 2, false), 0);
	assert_int_equal(lucky(alike, 2, false), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_luck),      cmocka_unit_test(test_share),
		cmocka_unit_test(test_natural),   cmocka_unit_test(test_witnesses),
		cmocka_unit_test(test_campaigns), cmocka_unit_test(test_clocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
