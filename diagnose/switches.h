/* What the forced switches of a failing run point at. A thread was stopped, others
 * ran, then it went on: the switch is needed for the failure, so something that the
 * thread did shortly before or does shortly after conflicts with what the others did
 * meanwhile. Conflicts on one location on both sides make a triple, on two locations a
 * couple, on one side only an order. The nearest are claimed: nearest to the switch, or
 * where it was moved until the failure went away, to the edges of what it may be moved
 * in. Pure: knows no processes. */
#ifndef DIAGNOSE_SWITCHES_H
#define DIAGNOSE_SWITCHES_H

#include "model/atlas.h"
#include "model/hint.h"
#include "model/run.h"

/* What moving a switch has shown, in accesses (loom/window.h in points). */
struct switch_moved {
	size_t turn;          /* of the schedule: that the switch ends */
	size_t before, after; /* the thread's own that do not matter, on either side of the switch */
	size_t meanwhile;     /* the first so many of the others' are enough; SIZE_MAX: not known */
	bool early, late;     /* the edges were found */
	uint64_t early_site, late_site, brief_site; /* what stands there, ids; 0 = not known */
	bool has_next; /* `next` is what stands at the late edge, from a run that got so far */
	struct event next;
};

struct switches_moved {
	struct switch_moved *items;
	size_t n, room; /* as VEC */
};

/* The others' part after a forced switch, in the trace. */
struct gap {
	uint32_t thread; /* that was stopped */
	size_t own;      /* accesses of it before */
	size_t from, to; /* what the others did; events[to] is the thread's own, if there is one */
};

/* The gap that the end of turn `turn` of the schedule leaves; false when it is the last one. */
bool switches_gap(const struct observations *run, const struct schedule *schedule, size_t turn,
		  struct gap *out);

/* Claims, best first, HINTS_MOST at most. `run` is traced and followed `schedule`; `moved` may be NULL. */
void switches_claim(const struct observations *run, struct atlas *atlas, const struct schedule *schedule,
		    const struct switches_moved *moved, struct hints *out);

#endif
