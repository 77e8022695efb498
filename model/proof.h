/* What experiments on a claim have counted, and the verdict that rests on it. loom/trials.c counts, diagnose/lab.c
 * judges by the rule in lab.h, report/proof_words.c tells it. */
#ifndef MODEL_PROOF_H
#define MODEL_PROOF_H

#include <stdbool.h>
#include <stdint.h>

/* Schedules in which a claim was forced or forbidden, or left alone. */
struct trials_counts {
	uint64_t runs;
	uint64_t failed;   /* with the failure that is meant */
	uint64_t other;    /* with another one */
	uint64_t given_up; /* runs in which somebody had to be let go, or that were too slow to tell, */
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

enum verdict { VERDICT_NONE, VERDICT_GUESS, VERDICT_LIKELY, VERDICT_PROVEN };

/* What experiments have told of a claim. */
struct proof {
	bool tried, mended;
	bool clean;                     /* none of the failing schedules fails any more when it is followed */
	struct trials_counts along;     /* forbidden, along and near failing schedules: the quick test */
	struct trials_counts near, any; /* forbidden, as many as the program as it is */
	struct trials_counts forced;
	bool turned;                                    /* the opposite order was tried, too */
	struct trials_counts others_first, group_first; /* of groups: forbidden, and one side asked for */
	bool harmless; /* forced it comes about, and fails clearly more rarely than the program as it is */
	enum verdict verdict;
};

#endif
