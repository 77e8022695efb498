/* What a call of `unsnarl hunt` did: counted schedule by schedule, told at the
 * end. Program and store are borrowed names.
 */
#ifndef CMDS_HUNT_SUMMARY_H
#define CMDS_HUNT_SUMMARY_H

#include "base/memory.h"
#include "loom/hunt.h"
#include "report/story.h"

struct hunt_count {
	char *name;
	uint64_t count;
};

struct hunt_summary {
	uint64_t schedules, passed, failed;
	uint64_t recorded_passed, recorded_failed, passes; /* runs in the store, passing ones wanted */
	VEC(struct hunt_count) ends;                       /* of failed schedules, by kind */
	VEC(struct hunt_count) arms;                       /* schedules by policy */
	VEC(struct hunt_count) uncontrolled;
	bool found, interrupted;
	struct run failure;  /* the first one */
	uint64_t failure_at; /* it was this schedule, from 1 */
	char *failure_arm;
	uint64_t pairs, predecessors, edges; /* distinct */
	double wall_s;
	uint64_t seed, campaign, build;
	const char *store, *program;
	char *const *arguments;
};

/* A sentence when the first run shows that there is nothing to hunt in. */
struct error *hunt_summary_check(const struct run *first, const char *program);
void hunt_summary_add(struct hunt_summary *summary, const struct steer_report *report, const char *arm);
char *hunt_summary_words(const struct hunt_summary *summary, uint64_t pairs,
			 double seconds); /* for the bar */
/* `story` is that of the failure; NULL when none was found. */
void hunt_summary_print(const struct hunt_summary *summary, const struct story *story);
void hunt_summary_json(const struct hunt_summary *summary, const struct story *story);
void hunt_summary_free(struct hunt_summary *summary);

#endif
