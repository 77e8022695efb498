/* The paper's measure of a code point (BUGABOO, section 5): how frequent its contexts
 * are among its executions. See rank.h for how the formula is read. */
#ifndef ANALYSIS_BUGABOO_RARITY_H
#define ANALYSIS_BUGABOO_RARITY_H

#include "analysis/bugaboo/graph.h"

struct rarity {
	double rank; /* 0 to 1; small: many rare contexts. 1 when it did not execute */
	uint32_t contexts;
};

/* For each code point of the graph, over the edges of `sets` whose depth is not GRAPH_USUAL
 * (all, when `depths` is NULL). The caller frees the array. */
struct rarity *rarity_of_points(const struct graph *graph, const roaring_bitmap_t *const *sets, size_t n,
				const uint8_t *depths);

#endif
