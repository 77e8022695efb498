/* What a hunt did, counted schedule by schedule: how many, how they ended, what was
 * new, and the first failure. diagnose/tally_schedule.c fills it, report/hunt_view.c and
 * report/diagnosis_view.c tell it. Program, arguments and store are borrowed names.
 */
#ifndef MODEL_TALLY_H
#define MODEL_TALLY_H

#include "base/memory.h"
#include "model/claim.h"
#include "model/run.h"

struct tally_count {
	char *name;
	uint64_t count;
};

struct tally_counts {
	struct tally_count *items;
	size_t n, room; /* as VEC */
};

struct tally {
	uint64_t schedules, passed, failed;
	uint64_t slow; /* neither: too slow under control, or what they showed did not happen again */
	uint64_t points, turns; /* of all schedules */
	uint64_t contested;     /* of these points: when another thread could have gone on instead */
	uint64_t processes;     /* the most that a run had */
	uint64_t recorded_passed, recorded_failed; /* runs in the store */
	uint64_t passes, failures;                 /* that are wanted there */
	struct tally_counts ends;                  /* of failed schedules, by kind */
	struct tally_counts arms;                  /* schedules by policy */
	struct tally_counts uncontrolled;
	bool found, interrupted;
	bool plain_passes;   /* the program passes when it runs as it is; asked for when no schedule passed */
	struct run failure;  /* the first one */
	uint64_t failure_at; /* it was this schedule, from 1 */
	char *failure_arm;
	uint64_t pairs, predecessors, edges; /* distinct */
	enum claim_use claim;                /* of all schedules */
	uint64_t held, given_up, occurred;   /* schedules, of a claim that is used in all of them */
	double wall_s, cpu_s;                /* cpu_s: of all schedules, everything included */
	uint64_t seed, campaign, build;
	const char *store, *program;
	char *const *arguments;
};

#define TALLY_FAILURES 100 /* wanted, unless somebody says otherwise */
#define TALLY_ALIKE 100    /* schedules that went alike: if none has gone otherwise by then, none will */

/* Every schedule failed by what a run as it is would show too, and that one passes: the control may be the reason. */
bool tally_blames_control(const struct tally *tally);
/* Enough schedules passed, and in none of them was there ever a second thread that could have gone on. */
bool tally_lacks_choice(const struct tally *tally);
void tally_free(struct tally *tally);

#endif
