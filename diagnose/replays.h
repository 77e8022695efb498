/* A schedule followed again, strictly, in fresh processes, and compared with the record. */
#ifndef DIAGNOSE_REPLAYS_H
#define DIAGNOSE_REPLAYS_H

#include "loom/launch.h"

struct replays {
	uint64_t runs, identical; /* the same end, output and schedule */
};

/* How a run that followed a schedule differs from it. */
struct replays_same {
	bool end, output, schedule;
};
struct replays_same replays_compare(const struct schedule *recorded, const struct run *run);

/* Follows `schedule` `n` times, for `seconds` at most or until `stop` says so. */
struct error *replays_do(const struct launch_options *launch, const struct schedule *schedule, unsigned jobs,
			 uint64_t n, double seconds, bool (*stop)(void), struct replays *out);

#endif
