/* What a campaign knows of a site: the pairs, predecessors and edges it takes
 * part in, each with the number of runs that showed it.
 */
#ifndef REPORT_SITE_VIEW_H
#define REPORT_SITE_VIEW_H

#include "base/memory.h"
#include "model/run.h"
#include "store/store.h"

struct site_tally {
	uint64_t runs, failed; /* runs that showed it, and how many of those failed */
	uint64_t last;         /* number of the last of them */
};

struct site_threads {
	uint32_t head, tail;
};

struct site_pair { /* one for each kind and pair of sites */
	struct site_tally tally;
	enum pair_kind kind;
	uint32_t head_site, tail_site;
	VEC(struct site_threads) threads;
};

struct site_predecessor {
	struct site_tally tally;
	uint32_t before;
};

struct site_edge {
	struct site_tally tally;
	struct edge edge;
};

struct site_view {
	uint32_t site;
	struct site_tally tally; /* runs in which the site took part in anything */
	VEC(struct site_pair) pairs;
	VEC(struct site_predecessor) predecessors;
	VEC(struct site_edge) edges;
};

/* Fills views[i] for sites[i] of `n`; *found when any of them is known to the
 * campaign. The caller frees each view, also after an error. */
struct error *site_views_collect(struct store *store, uint64_t campaign, const uint32_t *sites, size_t n,
				 struct site_view *views, bool *found);
void site_view_free(struct site_view *view);

#endif
