/* Plans out of phases: each ends with a forced switch of a failing schedule, and until
 * then threads run in turn, each until it blocks, but none gets ahead of where it
 * stood in the failing run. Knows no processes. */
#ifndef LOOM_PHASES_H
#define LOOM_PHASES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/schedule.h"

/* How threads are held back until the switch. */
enum phases_hold {
	PHASES_HOLD_ALL,   /* where they stood when it came */
	PHASES_HOLD_FRESH, /* only those that did not run at all until then */
	PHASES_PLACE,      /* likewise, and the switch comes at the same place a little earlier or later */
	PHASES_EARLY,      /* or much earlier */
	PHASES_HOLDS,
};

/* The plan that keeps the turns with these indexes, in rising order, exact. The caller
 * frees *plan; returns its length. */
size_t phases_plan(const struct schedule *from, const size_t *exact, size_t nexact, enum phases_hold hold,
		   struct schedule_turn **plan);

#endif
