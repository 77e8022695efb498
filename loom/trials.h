/* Trials: many schedules of one program in which a claim is forced or forbidden, or in
 * which it is left alone, counted. The schedules are those near known failing ones and
 * any others, chosen by number and seed alone, so the same ones are tried with a claim
 * and without it. They are the experiment on which a verdict rests. */
#ifndef LOOM_TRIALS_H
#define LOOM_TRIALS_H

#include "loom/steer.h"
#include "model/claim.h"

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

struct trials_counts {
	uint64_t runs;
	uint64_t failed;          /* with the failure that is meant */
	uint64_t other;           /* with another one */
	uint64_t given_up;        /* runs in which somebody had to be let go, */
	uint64_t failed_given_up; /* and of these with the failure that is meant */
	uint64_t held;            /* runs in which somebody was held */
	uint64_t occurred;        /* runs in which the forced interleaving came about, */
	uint64_t failed_occurred; /* and failed, in whatever way */
	uint64_t before, after;   /* passing runs in which others' steps came before, after a whole group */
	bool cut;                 /* out of time, or stopped */
};

/* A claim is kept when somebody had to be let go in one run of so many at most. */
#define TRIALS_KEPT 10u
bool trials_are_kept(const struct trials_counts *counts);
/* Where it is: runs in which nobody was let go, and those of them with the failure that is meant; else all. */
uint64_t trials_kept(const struct trials_counts *counts);
uint64_t trials_failed(const struct trials_counts *counts);

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
