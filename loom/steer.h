/* Runs of chosen schedules, many a second: each worker sits on a core of its own
 * and forks its runs from a server. Orders are worked off in the order they were
 * given, reports come as they are done. */
#ifndef LOOM_STEER_H
#define LOOM_STEER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "loom/launch.h"
#include "loom/point_sites.h"
#include "model/run.h"
#include "model/schedule.h"

struct steer_order {
	uint64_t index;
	enum schedule_policy policy;
	uint32_t depth;
	uint64_t seed;
	struct schedule_turn *plan; /* owned; followed before the policy decides */
	size_t nplan;
	struct point_sites *sites;    /* owned: one hold of it; NULL = none */
	bool strict;                  /* the plan is all */
	bool light;                   /* without couples: fast, not for recording */
	bool spare;                   /* also a failing run only if it shows something new */
	bool keep;                    /* harvest the run even if it passes and shows nothing new */
	uint64_t points, most_points; /* contested points that are likely; beyond the latter it is too slow */
	uint64_t still_points;        /* without any news: a livelock */
	bool early;                   /* long waits may run out while others can go on */
	uint32_t thread_points[CONTROL_THREADS]; /* points of each thread that are likely */
	struct claim claim;                      /* forced or forbidden, as it says */
};
void steer_order_free(struct steer_order *order);

struct steer_report {
	uint64_t index;
	enum label label;
	enum outcome outcome;
	int code;
	uint64_t points, contested, turns, hash;
	double cpu_s;   /* of the program, the worker and its server */
	bool harvested; /* `run` is filled */
	bool light;     /* its observations are not all that there are */
	struct claim_counts claim;
	struct run run;
};
void steer_report_free(struct steer_report *report);

struct steer;
/* The control of the options does not count. */
struct error *steer_start(const struct launch_options *options, unsigned jobs, struct steer **out);
/* Takes the plan over. */
struct error *steer_give(struct steer *steer, struct steer_order *order);
/* One run as launch_run makes it, before all that is waiting; reports that come meanwhile are kept. What it
 * observes, its time-out, label and control are those of `options`. */
struct error *steer_run(struct steer *steer, const struct launch_options *options, struct run *run);
size_t steer_pending(const struct steer *steer); /* given and not taken */
/* The next report; *got is false when none came in time or a signal came. */
struct error *steer_take(struct steer *steer, double wait_s, struct steer_report *report, bool *got);
void steer_stop(struct steer *steer);

#endif
