/* The choice of schedules: the same for the same seed and news, different for
 * another seed, shifted to what pays; and the reduction of failing schedules
 * against an exhaustive search on a made-up program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "loom/explore.h"
#include "loom/reduce.h"

static uint64_t state = 1;

static uint64_t below(uint64_t limit)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % limit;
}

/* ---- explore ---- */

/* A pretended result that depends on nothing but the order. */
static struct explore_news result_of(const struct steer_order *order, enum explore_arm arm, int paying,
				     struct schedule_turn *turns)
{
	uint64_t hash =
		hash_bytes(order->seed + order->policy, order->plan, order->nplan * sizeof *order->plan);

	for (size_t i = 0; i < 6; i++)
		turns[i] = (struct schedule_turn){ .thread = (uint32_t)(hash >> (4 * i) & 3),
						   .stop = STOP_PREEMPTED,
						   .points = 1 + (hash >> (5 * i) & 15) };
	return (struct explore_news){ .gain = paying < 0 ? hash % 7 == 0 : (int)arm == paying,
				      .points = 100 + hash % 10,
				      .contested = 50,
				      .turns = turns,
				      .nturns = 6 };
}

/* Names all orders of `rounds` rounds, with news that come one round late. */
static uint64_t explore_all(uint64_t seed, unsigned arms, int rounds, int paying, uint64_t *tried)
{
	struct explore *explore = explore_new(seed, arms);
	static struct schedule_turn turns[2][EXPLORE_ROUND][6];
	struct explore_news news[2][EXPLORE_ROUND];
	uint64_t hash = HASH_START;

	for (int round = 0; round < rounds; round++) {
		for (uint64_t i = 0; i < EXPLORE_ROUND; i++) {
			uint64_t index = (uint64_t)round * EXPLORE_ROUND + i;
			struct steer_order order;

			explore_next(explore, index, &order);
			assert_true(index == order.index && order.most_points > 0);
			uint64_t words[] = { order.policy, order.depth, order.seed, order.nplan,
					     order.points };

			hash = hash_bytes(hash, words, sizeof words);
			hash = schedule_hash(order.plan, order.nplan) ^ hash * 31;
			news[round % 2][i] = result_of(&order, explore_arm_of(explore, index), paying,
						       turns[round % 2][i]);
			steer_order_free(&order);
		}
		for (uint64_t i = 0; round && i < EXPLORE_ROUND; i++)
			explore_learn(explore, (uint64_t)(round - 1) * EXPLORE_ROUND + i,
				      &news[(round - 1) % 2][i]);
	}
	for (int arm = 0; tried && arm < EXPLORE_ARMS; arm++)
		tried[arm] = explore_tried(explore, (enum explore_arm)arm);
	explore_free(explore);
	return hash;
}

static void test_repeatable(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < 20; seed++) {
		uint64_t first = explore_all(seed, EXPLORE_ALL, 30, -1, NULL);

		assert_true(first == explore_all(seed, EXPLORE_ALL, 30, -1, NULL));
		assert_true(first != explore_all(seed + 1000, EXPLORE_ALL, 30, -1, NULL));
	}
}

static void test_shares(void **unused)
{
	uint64_t tried[EXPLORE_ARMS];

	(void)unused;
	for (int paying = 0; paying < EXPLORE_ARMS; paying++) {
		uint64_t all = 0;

		explore_all(7, EXPLORE_ALL, 60, paying, tried);
		for (int arm = 0; arm < EXPLORE_ARMS; arm++) {
			all += tried[arm];
			/* No arm is given up. */
			if (arm != EXPLORE_GUIDED)
				assert_true(tried[arm] > 20);
		}
		assert_int_equal(all, 60 * EXPLORE_ROUND);
		/* The guided one has nothing to guide it when only it would pay. */
		if (paying != EXPLORE_GUIDED)
			assert_true(tried[paying] * 3 > all);
	}
	explore_all(7, 1u << EXPLORE_PCT3, 5, -1, tried);
	assert_int_equal(tried[EXPLORE_PCT3], 5 * EXPLORE_ROUND);
}

/* ---- reduce ---- */

#define THREADS 3
#define LENGTH 6

/* A program of three threads without synchronisation, each of LENGTH points. It fails
 * when thread `b` passes its point `inside` while thread `a` is between two of its own. */
struct world {
	uint32_t a, b;
	uint64_t from, to, inside;
	unsigned tries;
	struct map plans; /* that were tried, by their hash */
};

struct play {
	uint64_t at[THREADS];
	bool failed;
	struct schedule_turn turns[THREADS * LENGTH + 1];
	size_t n;
};

static void step(const struct world *world, struct play *play, uint32_t thread)
{
	struct schedule_turn *turn = play->n ? &play->turns[play->n - 1] : NULL;

	if (!turn || turn->thread != thread) {
		if (turn)
			turn->stop = play->at[turn->thread] == LENGTH ? STOP_ENDED : STOP_PREEMPTED;
		turn = &play->turns[play->n++];
		*turn = (struct schedule_turn){ .thread = thread };
	}
	turn->points++;
	play->at[thread]++;
	if (thread == world->b && play->at[thread] == world->inside && play->at[world->a] > world->from &&
	    play->at[world->a] < world->to)
		play->failed = true;
}

/* Places are not known here: a turn that ends at one ends where it may at the earliest. */
static uint64_t goal_of(uint64_t points, uint64_t at)
{
	if (points >= SCHEDULE_ENDLESS)
		return LENGTH;
	return points & SCHEDULE_UNTIL ? points & (SCHEDULE_GUARDED - 1) : at + points;
}

/* Follows the plan as far as it goes; then each thread to its end. */
static void play_plan(const struct world *world, const struct schedule_turn *plan, size_t n,
		      struct play *play)
{
	uint32_t last = 0;

	*play = (struct play){ 0 };
	for (size_t i = 0; i < n; i++) {
		uint64_t at = play->at[plan[i].thread], points = plan[i].points;
		uint64_t goal = goal_of(points, at);

		if (i && points & SCHEDULE_GUARDED &&
		    play->at[plan[i - 1].thread] >= goal_of(plan[i - 1].points, 0))
			continue;

		for (; at < goal && at < LENGTH; at++)
			step(world, play, last = plan[i].thread);
	}
	for (uint32_t thread = last; play->at[0] + play->at[1] + play->at[2] < THREADS * LENGTH;
	     thread = (thread + 1) % THREADS)
		while (play->at[thread] < LENGTH)
			step(world, play, thread);
	play->turns[play->n - 1].stop = STOP_LAST;
}

static struct error *try_plan(void *context, const struct schedule_turn *plan, size_t n, bool *same,
			      struct schedule *took, bool *over)
{
	struct world *world = context;
	struct play play;
	bool fresh;

	(void)over;
	world->tries++;
	map_put(&world->plans, schedule_hash(plan, n), &fresh);
	assert_true(fresh); /* no plan is tried twice */
	play_plan(world, plan, n, &play);
	*same = play.failed;
	if (play.failed) {
		took->turns = memory_alloc(play.n * sizeof *took->turns);
		memcpy(took->turns, play.turns, play.n * sizeof *took->turns);
		took->nturns = play.n;
	}
	return NULL;
}

/* The fewest forced switches of all interleavings that fail. */
static size_t fewest(const struct world *world, const struct play *play, uint32_t last, size_t forced,
		     size_t best)
{
	if (play->failed)
		return forced < best ? forced : best;
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		if (play->at[thread] == LENGTH)
			continue;
		size_t more = play->n && thread != last && play->at[last] < LENGTH;

		if (forced + more >= best)
			continue;
		struct play next = *play;

		step(world, &next, thread);
		best = fewest(world, &next, thread, forced + more, best);
	}
	return best;
}

static void test_reduce(void **unused)
{
	int reduced_worlds = 0;

	(void)unused;
	for (int i = 0; i < 3000 && reduced_worlds < 150; i++) {
		struct world world = { .a = (uint32_t)below(3), .from = below(LENGTH - 2) };
		struct schedule_turn plan[THREADS * LENGTH];
		struct play play;

		world.b = (world.a + 1 + (uint32_t)below(2)) % 3;
		world.to = world.from + 2 + below(2);
		world.inside = 1 + below(LENGTH);
		for (size_t k = 0; k < THREADS * LENGTH; k++)
			plan[k] = (struct schedule_turn){ .thread = (uint32_t)below(THREADS), .points = 1 };
		play_plan(&world, plan, THREADS * LENGTH, &play);
		if (!play.failed)
			continue;
		struct schedule from = { .turns = play.turns, .nturns = play.n };
		_cleanup_(schedule_free) struct schedule best = { 0 };
		size_t least = fewest(&world, &(struct play){ 0 }, 0, 0, 3);

		assert_null(reduce(&from, try_plan, &world, 400, &best));
		assert_true(world.tries <= 400);
		map_free(&world.plans);
		size_t forced = schedule_preemptions(best.turns, best.nturns);

		/* What comes out fails, followed to the letter, and is as short as can be. */
		play_plan(&world, best.turns, best.nturns, &play);
		assert_true(play.failed);
		if (forced > least)
			fail_msg("%zu forced switches where %zu are enough", forced, least);
		reduced_worlds++;
	}
	assert_int_equal(reduced_worlds, 150);
}

static struct error *try_nothing(void *context, const struct schedule_turn *plan, size_t n, bool *same,
				 struct schedule *took, bool *over)
{
	(void)over;
	(void)context;
	(void)plan;
	(void)n;
	(void)took;
	*same = false;
	return NULL;
}

static void test_reduce_in_vain(void **unused)
{
	struct schedule_turn turns[] = { { .thread = 0, .points = 3, .stop = STOP_PREEMPTED },
					 { .thread = 1, .points = 1, .stop = STOP_LAST } };
	struct schedule from = { .turns = turns, .nturns = 2 };
	_cleanup_(schedule_free) struct schedule best = { 0 };

	(void)unused;
	assert_null(reduce(&from, try_nothing, NULL, 100, &best));
	assert_true(schedule_hash(best.turns, best.nturns) == schedule_hash(turns, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeatable),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_reduce),
		cmocka_unit_test(test_reduce_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
