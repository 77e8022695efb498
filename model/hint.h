/* What forced switches of a failing run point at: a few accesses of two or more
 * threads that had to come in this order for the failure. Sites are ids, so a claim
 * can be kept apart from the run's numbering. */
#ifndef MODEL_HINT_H
#define MODEL_HINT_H

#include "model/finding.h"

#define HINT_STEPS 4u
#define HINTS_MOST 3u /* that are kept of a run, best first */

struct hint_step {
	uint64_t site; /* an id */
	uint32_t thread;
	bool write;
	bool missing; /* the run ended before it */
};

struct hint {
	struct hint_step steps[HINT_STEPS]; /* in the order of the failing run */
	size_t n;
	enum finding_class class;
	unsigned scenario;
	unsigned cost; /* accesses between what is claimed and the switch, or the edges of its window */
	bool measured; /* the switch was moved: `cost` counts from the edges */
	bool exact;    /* moving it over one of these accesses makes the failure go away */
};

struct hints {
	struct hint *items;
	size_t n, room; /* as VEC */
};

#endif
