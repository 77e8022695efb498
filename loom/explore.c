/* The portfolio. An arm's share of a round is its yield of late, what it brought
 * per schedule, above a floor that keeps every arm alive: what has paid so far
 * may be used up, and deep bugs fall to policies that bring little else.
 *
 * The guided arm works as fuzzers do: it takes a schedule that has shown
 * something new, cuts it at a random point, lets another thread go there, and
 * leaves the rest to the old schedule or to a policy.
 */
#include "loom/explore.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define KEPT_MOST 512      /* schedules that brought something new */
#define TURNS_MOST 20000   /* longer ones are not kept */
#define FLOOR 0.05         /* share of an arm that brings nothing */
#define DECAY 0.85         /* of old yields, per round */
#define FAILURE_GAIN 8     /* what a failure counts among new observations */
#define ROUNDS_KNOWN 4     /* rounds whose arms are remembered */
#define LEAST_CAP 20000000 /* points before a run counts as too slow, */
#define CAP_TIMES 1000     /* and how many times the usual number of points */
#define MOST_BURST 64      /* points that an inserted turn runs at most */
#define ALIKE_LEAST 4      /* threads in a run, of which at least three may run the same code */

struct arm {
	double runs, gain; /* decayed */
	double weight;     /* frozen for a round */
	uint64_t tried;
};

struct kept {
	struct schedule_turn *turns;
	size_t nturns;
	struct point_sites *sites; /* its turns are counted with these */
	uint64_t points, chosen;
};

struct explore {
	uint64_t seed;
	unsigned allowed;
	struct arm arms[EXPLORE_ARMS];
	enum explore_arm chosen[EXPLORE_ROUND * ROUNDS_KNOWN];
	VEC(struct kept) kept;
	size_t usable;         /* of the kept ones, in this round */
	uint32_t threads;      /* seen at most in a run */
	unsigned idle;         /* arms that have nothing to do in this round */
	uint64_t points, most; /* contested ones that are usual, all that were seen at most */
	uint32_t thread_points[CONTROL_THREADS];
};

const char *explore_arm_name(enum explore_arm arm)
{
	static const char *const names[EXPLORE_ARMS] = { "random",        "pct2",        "pct3",
							 "pct5",          "pos",         "surw",
							 "random-places", "pct2-groups", "pct3-groups",
							 "pos-places",    "surw-places", "guided" };

	return (unsigned)arm < EXPLORE_ARMS ? names[arm] : "unknown";
}

/* A number that depends on nothing but these. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a + (b + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

struct dice {
	uint64_t seed, thrown;
};

static uint64_t below(struct dice *dice, uint64_t limit)
{
	return limit ? mix(dice->seed, dice->thrown++) % limit : 0;
}

static double fraction(struct dice *dice)
{
	return (double)(mix(dice->seed, dice->thrown++) >> 11) * 0x1p-53;
}

struct explore *explore_new(uint64_t seed, unsigned arms)
{
	struct explore *explore = memory_alloc(sizeof *explore);

	explore->seed = seed;
	explore->allowed = arms & EXPLORE_ALL ? arms & EXPLORE_ALL : EXPLORE_ALL;
	for (int i = 0; i < EXPLORE_ARMS; i++)
		explore->arms[i].weight = 1;
	return explore;
}

static void kept_free(struct kept *kept)
{
	free(kept->turns);
	point_sites_drop(kept->sites);
}

void explore_free(struct explore *explore)
{
	if (!explore)
		return;
	for (size_t i = 0; i < explore->kept.n; i++)
		kept_free(&explore->kept.items[i]);
	VEC_FREE(&explore->kept);
	free(explore);
}

uint64_t explore_tried(const struct explore *explore, enum explore_arm arm)
{
	return explore->arms[arm].tried;
}

/* Yields become weights; what came before counts less and less. */
static void begin_round(struct explore *explore)
{
	double total = 0, share[EXPLORE_ARMS];

	for (int i = 0; i < EXPLORE_ARMS; i++) {
		struct arm *arm = &explore->arms[i];

		share[i] = (arm->gain + 1) / (arm->runs + 2);
		total += explore->allowed >> i & 1 ? share[i] : 0;
		arm->gain *= DECAY;
		arm->runs *= DECAY;
	}
	for (int i = 0; i < EXPLORE_ARMS; i++)
		explore->arms[i].weight = FLOOR + share[i] / total;
	explore->usable = explore->kept.n;
	explore->idle = explore->usable ? 0 : 1u << EXPLORE_GUIDED;
	explore->idle |= explore->threads < ALIKE_LEAST ? EXPLORE_ALIKE : 0;
}

static enum explore_arm choose_arm(const struct explore *explore, struct dice *dice)
{
	unsigned allowed = explore->allowed;
	double total = 0;

	/* What is asked for alone is done, guided or not. */
	if (allowed & ~explore->idle)
		allowed &= ~explore->idle;
	for (int i = 0; i < EXPLORE_ARMS; i++)
		total += allowed >> i & 1 ? explore->arms[i].weight : 0;
	double at = fraction(dice) * total;
	int last = 0;

	for (int i = 0; i < EXPLORE_ARMS; i++) {
		if (!(allowed >> i & 1))
			continue;
		last = i;
		at -= explore->arms[i].weight;
		if (at < 0)
			break;
	}
	return (enum explore_arm)last;
}

/* Rarely chosen schedules first: two candidates, the fresher one wins. */
static struct kept *choose_kept(struct explore *explore, struct dice *dice)
{
	struct kept *one = &explore->kept.items[below(dice, explore->usable)];
	struct kept *other = &explore->kept.items[below(dice, explore->usable)];
	struct kept *kept = other->chosen < one->chosen ? other : one;

	kept->chosen++;
	return kept;
}

/* A thread that has a turn behind `at` and is not `but`; THREAD_NONE when there is none. */
static uint32_t other_thread(const struct kept *kept, size_t at, uint32_t but, struct dice *dice)
{
	uint32_t found = THREAD_NONE;
	uint64_t seen = 0;

	for (size_t i = at + 1; i < kept->nturns && i < at + 64; i++)
		if (!kept->turns[i].wake && kept->turns[i].thread != but && below(dice, ++seen) == 0)
			found = kept->turns[i].thread;
	return found;
}

/* Lets another thread go at a random point of a kept schedule. */
static void change(const struct kept *kept, struct dice *dice, struct steer_order *order)
{
	uint64_t point = below(dice, kept->points ? kept->points : 1);
	size_t at = 0, n = 0;

	order->sites = point_sites_hold(kept->sites);
	order->plan = memory_alloc((kept->nturns + 2) * sizeof *order->plan);
	while (at + 1 < kept->nturns && (kept->turns[at].wake || kept->turns[at].points <= point)) {
		point -= kept->turns[at].wake ? 0 : kept->turns[at].points;
		order->plan[n++] = kept->turns[at++];
	}
	struct schedule_turn cut = kept->turns[at];
	uint32_t other = other_thread(kept, at, cut.thread, dice);
	bool keep_rest = below(dice, 2);

	if (!cut.wake && point && point < cut.points)
		order->plan[n++] = (struct schedule_turn){ .thread = cut.thread,
							   .stop = STOP_PREEMPTED,
							   .points = point };
	if (other != THREAD_NONE)
		order->plan[n++] = (struct schedule_turn){ .thread = other,
							   .stop = STOP_PREEMPTED,
							   .points = 1 + below(dice, MOST_BURST) };
	if (keep_rest && !cut.wake && cut.points > point) {
		cut.points -= point;
		order->plan[n++] = cut;
		memcpy(order->plan + n, kept->turns + at + 1, (kept->nturns - at - 1) * sizeof *order->plan);
		n += kept->nturns - at - 1;
	}
	order->nplan = n;
}

static void set_policy(struct explore *explore, enum explore_arm arm, struct dice *dice,
		       struct steer_order *order)
{
	static const struct {
		enum schedule_policy policy;
		uint32_t depth;
	} policies[EXPLORE_ARMS] = {
		[EXPLORE_RANDOM] = { SCHEDULE_RANDOM, 0 },
		[EXPLORE_PCT2] = { SCHEDULE_PCT, 2 },
		[EXPLORE_PCT3] = { SCHEDULE_PCT, 3 },
		[EXPLORE_PCT5] = { SCHEDULE_PCT, 5 },
		[EXPLORE_POS] = { SCHEDULE_POS, 0 },
		[EXPLORE_SURW] = { SCHEDULE_SURW, 0 },
		[EXPLORE_RANDOM_PLACES] = { SCHEDULE_RANDOM_PLACES, 0 },
		[EXPLORE_PCT2_GROUPS] = { SCHEDULE_PCT_GROUPS, 2 },
		[EXPLORE_PCT3_GROUPS] = { SCHEDULE_PCT_GROUPS, 3 },
		[EXPLORE_POS_PLACES] = { SCHEDULE_POS_PLACES, 0 },
		[EXPLORE_SURW_PLACES] = { SCHEDULE_SURW_PLACES, 0 },
		[EXPLORE_GUIDED] = { SCHEDULE_POS, 0 },
	};

	order->policy = policies[arm].policy;
	order->depth = policies[arm].depth;
	if (arm != EXPLORE_GUIDED || !explore->usable)
		return;
	/* What goes on behind the change: calmly, in any order, or as the policies do. */
	static const enum schedule_policy next[] = { SCHEDULE_STAY, SCHEDULE_POS, SCHEDULE_RANDOM,
						     SCHEDULE_PCT };

	order->policy = next[below(dice, 4)];
	order->depth = order->policy == SCHEDULE_PCT ? 3 : 0;
	change(choose_kept(explore, dice), dice, order);
}

void explore_next(struct explore *explore, uint64_t index, struct steer_order *order)
{
	struct dice dice = { .seed = mix(explore->seed, index) };

	if (index % EXPLORE_ROUND == 0)
		begin_round(explore);
	enum explore_arm arm = choose_arm(explore, &dice);

	explore->chosen[index % (EXPLORE_ROUND * ROUNDS_KNOWN)] = arm;
	explore->arms[arm].tried++;
	uint64_t cap = explore->most * CAP_TIMES;

	*order = (struct steer_order){ .index = index,
				       .seed = mix(explore->seed, ~index) >> 16, /* short enough to type */
				       .points = explore->points,
				       .most_points = cap < LEAST_CAP ? LEAST_CAP : cap };
	memcpy(order->thread_points, explore->thread_points, sizeof order->thread_points);
	set_policy(explore, arm, &dice, order);
}

enum explore_arm explore_arm_of(const struct explore *explore, uint64_t index)
{
	return explore->chosen[index % (EXPLORE_ROUND * ROUNDS_KNOWN)];
}

static void keep(struct explore *explore, const struct explore_news *news)
{
	struct kept *kept;

	if (!news->turns || !news->nturns || news->nturns > TURNS_MOST)
		return;
	if (explore->kept.n < KEPT_MOST) {
		kept = VEC_PUSH(&explore->kept);
	} else {
		/* The one that was changed most often has given what it had. */
		kept = &explore->kept.items[0];
		for (size_t i = 1; i < explore->kept.n; i++)
			if (explore->kept.items[i].chosen > kept->chosen)
				kept = &explore->kept.items[i];
		kept_free(kept);
	}
	*kept = (struct kept){ .turns = memory_alloc(news->nturns * sizeof *kept->turns),
			       .nturns = news->nturns,
			       .sites = point_sites_hold(news->sites) };
	memcpy(kept->turns, news->turns, news->nturns * sizeof *kept->turns);
	for (size_t i = 0; i < news->nturns; i++)
		kept->points += news->turns[i].wake ? 0 : news->turns[i].points;
}

/* How long runs and their threads usually are, slowly following. */
static void measure(struct explore *explore, const struct explore_news *news)
{
	uint64_t sums[CONTROL_THREADS] = { 0 };

	if (news->points > explore->most)
		explore->most = news->points;
	if (news->contested)
		explore->points =
			explore->points ? (explore->points * 7 + news->contested + 7) / 8 : news->contested;
	for (size_t i = 0; i < news->nturns; i++) {
		uint32_t thread = news->turns[i].thread;

		if (news->turns[i].wake)
			continue;
		if (thread < CONTROL_THREADS)
			sums[thread] += news->turns[i].points;
		if (thread >= explore->threads)
			explore->threads = thread + 1;
	}
	for (size_t i = 0; i < CONTROL_THREADS; i++) {
		uint64_t sum = sums[i] < UINT32_MAX ? sums[i] : UINT32_MAX, old = explore->thread_points[i];

		if (sum)
			explore->thread_points[i] = (uint32_t)(old ? (old * 7 + sum) / 8 : sum);
	}
}

void explore_begin(struct explore *explore, const struct explore_news *news)
{
	measure(explore, news);
	keep(explore, news);
}

void explore_learn(struct explore *explore, uint64_t index, const struct explore_news *news)
{
	struct arm *arm = &explore->arms[explore_arm_of(explore, index)];

	arm->runs++;
	arm->gain += log2(1 + (double)news->gain + (news->failed ? FAILURE_GAIN : 0));
	measure(explore, news);
	if (news->gain && !news->failed)
		keep(explore, news);
}
