/* One run area for many runs: armed before each, looked at after it, and cleaned
 * where the run wrote. A worker keeps one, so that a schedule which brings
 * nothing new costs neither a new file nor a harvest. */
#ifndef LOOM_REUSE_H
#define LOOM_REUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "loom/area.h"

struct reuse {
	int fd;          /* -1 = there is none at the moment */
	char *at;        /* the whole file, mapped */
	uint64_t number; /* of the area, from 1: another one has another number */
	struct set seen; /* hashes of the observations of all runs so far */
};

/* What a run left, in numbers. */
struct reuse_look {
	bool novel; /* it showed a pair, predecessor or edge for the first time */
	bool odd;   /* it wrote what no run writes */
	bool bound; /* a port by its number */
	uint32_t end, fault, processes;
	uint64_t points, contested, hash; /* of the schedule */
	uint64_t turns;
	struct claim_counts claim;
};

/* Ready for a run with these settings; makes an area when there is none. `plan`
 * is a file that holds control->nplan turns, `sites` one that holds control->nsites ids. */
struct error *reuse_arm(struct reuse *reuse, const struct area_options *options,
			const struct area_control *control, uint64_t seed, int plan, int sites);

/* Looks at what the run left; call once per run. */
struct reuse_look reuse_look(struct reuse *reuse);

/* Wipes what the run wrote. */
void reuse_clean(struct reuse *reuse);

/* Hands out what the run left: a copy, after which the area is clean, or when it is much the
 * area itself. */
int reuse_give(struct reuse *reuse);

/* The next run gets another area. */
void reuse_drop(struct reuse *reuse);

void reuse_free(struct reuse *reuse);

#endif
