/* Which schedule to try next. A portfolio of policies; effort shifts to those
 * that bring new observations or failures. Knows no processes: orders go out,
 * news of what they brought come in, both in rounds, and the next rounds follow
 * from the seed and the news alone. */
#ifndef LOOM_EXPLORE_H
#define LOOM_EXPLORE_H

#include "loom/steer.h"

enum explore_arm {
	EXPLORE_RANDOM,
	EXPLORE_PCT2,
	EXPLORE_PCT3,
	EXPLORE_PCT5,
	EXPLORE_POS,
	EXPLORE_SURW,
	/* For threads that run the same code. */
	EXPLORE_RANDOM_PLACES,
	EXPLORE_PCT2_GROUPS,
	EXPLORE_PCT3_GROUPS,
	EXPLORE_POS_PLACES,
	EXPLORE_SURW_PLACES,
	EXPLORE_GUIDED, /* changes schedules that brought something new */
	EXPLORE_ARMS
};
#define EXPLORE_ALL ((1u << EXPLORE_ARMS) - 1)
#define EXPLORE_ALIKE                                                                          \
	(1u << EXPLORE_RANDOM_PLACES | 1u << EXPLORE_PCT2_GROUPS | 1u << EXPLORE_PCT3_GROUPS | \
	 1u << EXPLORE_POS_PLACES | 1u << EXPLORE_SURW_PLACES)
#define EXPLORE_ROUND 32 /* orders whose choice knows the same news */

const char *explore_arm_name(enum explore_arm arm);

/* What a schedule brought. */
struct explore_news {
	uint64_t gain; /* new pairs, predecessors and edges */
	bool failed;
	uint64_t points, contested;
	const struct schedule_turn *turns; /* NULL = not known */
	size_t nturns;
	struct point_sites *sites; /* with which the turns are counted; NULL = none */
};

struct explore;
/* `arms` is a set of bits. */
struct explore *explore_new(uint64_t seed, unsigned arms);
/* What a run is like, before the first order. */
void explore_begin(struct explore *explore, const struct explore_news *news);
/* The order for schedule `index`; indexes rise one by one. */
void explore_next(struct explore *explore, uint64_t index, struct steer_order *order);
/* Which arm chose schedule `index`, one of the last two rounds. */
enum explore_arm explore_arm_of(const struct explore *explore, uint64_t index);
/* News of schedule `index`; in order. */
void explore_learn(struct explore *explore, uint64_t index, const struct explore_news *news);
uint64_t explore_tried(const struct explore *explore, enum explore_arm arm);
void explore_free(struct explore *explore);

#endif
