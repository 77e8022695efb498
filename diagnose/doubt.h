/* Whether a failure is the program's: what is too slow under control is measured by the plain
 * run, and a hang is believed only when it happens again.
 */
#ifndef DIAGNOSE_DOUBT_H
#define DIAGNOSE_DOUBT_H

#include "loom/launch.h"
#include "loom/steer.h"

struct doubt {
	bool asked;            /* the plain run was made */
	bool passes;           /* and passed */
	double wall_s;         /* what it took */
	uint64_t accesses;     /* hooked ones that it did */
	uint64_t still_points; /* without any news: a livelock; 0 = as usual */
};

/* This was a run of the program as it is. */
void doubt_take_plain(struct doubt *doubt, const struct run *run);
/* Runs the program once as it is, unless that was done before. */
struct error *doubt_plain(struct doubt *doubt, const struct launch_options *launch);

/* The first run under control. Gives launch->timeout_s the length that this program needs. */
struct error *doubt_first(struct doubt *doubt, struct launch_options *launch, struct run *first);

/* A hang that does not happen again, or that is not long beside the plain run, becomes OUTCOME_SLOW. */
struct error *doubt_hang(struct doubt *doubt, const struct launch_options *launch,
			 struct steer_report *report);

#endif
