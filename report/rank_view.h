/* A ranking of code points for people and programs: the list, why each point stands
 * where it does, and how its threads communicated in failed runs beside how they
 * usually do.
 */
#ifndef REPORT_RANK_VIEW_H
#define REPORT_RANK_VIEW_H

#include <jansson.h>

#include "analysis/bugaboo/campaign.h"
#include "analysis/bugaboo/rank.h"
#include "report/listing.h"

struct rank_view {
	struct store *store;
	const struct graphs *graphs;
	const struct rank_result *result;
	struct excerpts excerpts;
	size_t passed, failed; /* runs compared */
	size_t top;            /* points to show */
	bool unlabelled;
	const char *what_failed; /* "failed runs", or what stands in their place */
};

/* "deposit reads accounts[].balance", clean. */
char *rank_view_does(const struct rank_view *view, uint32_t site, bool write);
/* Why the point is in the list, one or two sentences. */
char *rank_view_why(const struct rank_view *view, const struct rank_point *point);
/* Distinct functions among the first `n` points: how many a reader has opened by then. */
size_t rank_view_functions(const struct rank_view *view, size_t n);

void rank_view_print(struct rank_view *view);

#endif
