/* Events of a context that no edge tells of. A write over what others have read since is
 * an event of its thread (BUGABOO, section 3.3), but an edge leads to it only when
 * another thread wrote there last (section 4.1): where nobody did, or the thread
 * itself, the write is seen in nothing but the contexts of what its thread does next.
 *
 * Follows one graph, edge by edge in order of first occurrence. */
#ifndef ANALYSIS_BUGABOO_SILENT_H
#define ANALYSIS_BUGABOO_SILENT_H

#include <stdbool.h>

#include "analysis/bugaboo/graph.h"

struct silent {
	unsigned events; /* of context that the graphs keep */
	uint32_t stamp;  /* of the graph at hand */
	/* By context, with a 1 above its events: the graph in which an edge to a write had just this
	 * one, or one that ends so. */
	uint32_t *exactly, *ending;
};

void silent_make(struct silent *silent, unsigned events);
void silent_free(struct silent *silent);
/* Forgets all edges. */
void silent_begin(struct silent *silent);
void silent_note(struct silent *silent, const struct edge *edge);
/* Is one of the last `last` events of this context a write that no edge noted so far can be? */
bool silent_among(const struct silent *silent, uint16_t context, unsigned last);

#endif
