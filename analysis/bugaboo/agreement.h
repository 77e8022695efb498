/* How much an odd edge says about the fault. What the fault itself does, many failed
 * graphs show in the same way; what chance does, few. And data that were written before
 * any communication say nothing by who reads them when. */
#ifndef ANALYSIS_BUGABOO_AGREEMENT_H
#define ANALYSIS_BUGABOO_AGREEMENT_H

#include <stdbool.h>

#include "analysis/bugaboo/graph.h"

/* For each edge that is not GRAPH_USUAL, in how many of the sets one stands that looks the same
 * (graph_depths). The caller frees the array. */
uint32_t *agreement_of_edges(const struct graph *graph, const uint8_t *depths, const uint32_t *looks,
			     const roaring_bitmap_t *const *sets, size_t n);

/* Did nobody write the data, or a thread that had not communicated yet? */
bool agreement_initial(const struct graph *graph, uint32_t edge);

#endif
