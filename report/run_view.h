/* What a call of `unsnarl run` did: cmds/run_summary.c counts run by run, and it is told at the
 * end. The names of program and store are borrowed, the reasons are copies.
 */
#ifndef REPORT_RUN_VIEW_H
#define REPORT_RUN_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "model/run.h"
#include "store/store.h"

#define RUN_SUMMARY_NUMBERS 6 /* run numbers named per reason */

struct run_reason {
	char *words;
	uint64_t count;
	uint64_t numbers[RUN_SUMMARY_NUMBERS]; /* the first of them */
};

struct run_counts {
	uint64_t pairs, predecessors, edges;
};

struct run_summary {
	uint64_t wanted, done, passed, failed, hung;
	uint64_t first, last;             /* numbers */
	VEC(struct run_reason) reasons;   /* of the failed ones */
	uint64_t dropped, incomplete;     /* observations without room, runs that had such */
	uint64_t machine[MACHINE_COUNTS]; /* of runs on a simulated machine, added up */
	uint64_t unobserved;              /* runs in which the runtime never started */
	struct run_counts before, after;  /* distinct in the campaign */
	double wall_s;
	uint64_t seed;
	uint32_t jitter_us;
	bool interrupted;
	uint64_t campaign;
	const char *store; /* folder, as given */
	const char *program;
	char *const *arguments;
	uint64_t build;
};

/* "97 passed, 3 failed, 1 hung", for the progress bar. */
char *run_view_words(const struct run_summary *summary);
void run_view_print(const struct run_summary *summary); /* to stdout */
void run_view_json(const struct run_summary *summary);

#endif
