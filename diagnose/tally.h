/* What a hunt did, counted schedule by schedule: how many, how they ended, what was
 * new, and the first failure. Program, arguments and store are borrowed names.
 */
#ifndef DIAGNOSE_TALLY_H
#define DIAGNOSE_TALLY_H

#include <jansson.h>

#include "base/memory.h"
#include "loom/hunt.h"

struct tally_count {
	char *name;
	uint64_t count;
};

struct tally {
	uint64_t schedules, passed, failed;
	uint64_t slow; /* neither: too slow under control, or what they showed did not happen again */
	uint64_t points, turns;                    /* of all schedules */
	uint64_t recorded_passed, recorded_failed; /* runs in the store */
	uint64_t passes, failures;                 /* that are wanted there */
	VEC(struct tally_count) ends;              /* of failed schedules, by kind */
	VEC(struct tally_count) arms;              /* schedules by policy */
	VEC(struct tally_count) uncontrolled;
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

/* Every schedule failed, but the program does not when it runs as it is: the control may be the reason. */
bool tally_blames_control(const struct tally *tally);
/* A sentence when the first run shows that there is nothing to hunt in. */
struct error *tally_check(const struct run *first, const char *program);
void tally_add(struct tally *tally, const struct steer_report *report, const char *arm);
char *tally_words(const struct tally *tally, uint64_t pairs, double seconds); /* for the bar */
/* "2 deadlock, 1 SIGABRT", clean. */
char *tally_join(const struct tally_count *counts, size_t n);
json_t *tally_json(const struct tally_count *counts, size_t n); /* name → count */
void tally_free(struct tally *tally);

#endif
