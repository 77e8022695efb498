/* Trials: many schedules of one program in which a claim is forced or forbidden, or in
 * which it is left alone, counted. The schedules are those near known failing ones and
 * any others, chosen by number and seed alone, so the same ones are tried with a claim
 * and without it. They are the experiment on which a verdict rests. */
#ifndef LOOM_TRIALS_H
#define LOOM_TRIALS_H

#include "loom/steer.h"
#include "model/claim.h"
#include "model/proof.h"

#define TRIALS_SCHEDULES 16u

struct trials {
	struct steer *steer;
	const struct run *failed;                /* which failure is meant: one that ends like this */
	const struct schedule *const *schedules; /* that fail, TRIALS_SCHEDULES at most */
	size_t nschedules;
	uint64_t seed;
	bool (*stop)(void);  /* may be NULL */
	double deadline;     /* as watch_now; 0 = none */
	uint64_t runs, most; /* in all trials so far, and at most; most 0 = no limit */
	uint64_t left;       /* bits: which of the first schedules, followed, failed in any way, last time */
	struct point_sites *sites[TRIALS_SCHEDULES]; /* of each schedule, made when needed */
};
bool trials_are_over(const struct trials *trials); /* out of time or runs, or stopped */
void trials_free(struct trials *trials);           /* what it made itself */

enum trials_where {
	TRIALS_ALONG, /* schedule i follows failing schedule i as far as that can be followed */
	TRIALS_NEAR,  /* follows one of them for a while, then any policy */
	TRIALS_ANY,   /* any policy from the beginning */
};

/* Tries `n` schedules from number `first` on; the counts are added up in `counts`. With `until_failure` it
 * ends after the round in which the failure came. `claim` NULL: the program as it is. */
struct error *trials_run(struct trials *trials, const struct claim *claim, enum claim_use use,
			 enum trials_where where, uint64_t first, uint64_t n, bool until_failure,
			 struct trials_counts *counts);

#endif
