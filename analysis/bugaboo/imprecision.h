/* What a coarser way of seeing misses (BUGABOO, section 6.3): code points that take
 * part in communication in one set of graphs and in none of another, which may come
 * from another store: points are matched by their place in the source. */
#ifndef ANALYSIS_BUGABOO_IMPRECISION_H
#define ANALYSIS_BUGABOO_IMPRECISION_H

#include "analysis/bugaboo/campaign.h"

struct imprecision {
	size_t points, missed; /* communicating code points of `whole`, those not in `lossy` */
	size_t extra;          /* those only in `lossy`: false sharing */
	size_t edges, missed_edges, extra_edges; /* the same for edges between points, without context */
	struct graph_size whole, lossy;
	uint32_t *missed_points; /* numbers in `whole`; the caller frees them */
};

/* Over all runs, passed and failed. Null sources do not count as communication. */
void imprecision_measure(const struct graphs *whole, const struct graphs *lossy, struct imprecision *out);

#endif
