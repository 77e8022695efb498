/* Numbers the odd edges by how they look with the context that makes them odd. Edges that
 * look the same then have the same depth, so one numbering does for all depths.
 */
#include "analysis/bugaboo/agreement.h"

#include "base/hash.h"
#include "base/memory.h"

/* Numbers of the looks; returns how many there are. */
static size_t number_looks(const struct graph *graph, const uint8_t *depths, uint32_t *looks)
{
	struct map known = { 0 };

	for (size_t i = 0; i < graph->nedges; i++) {
		bool fresh;

		if (depths[i] == GRAPH_USUAL)
			continue;
		uint64_t key = hash_bytes(graph_key(graph, i, depths[i]), &depths[i], sizeof depths[i]);
		uint64_t *number = map_put(&known, key, &fresh);

		if (fresh)
			*number = known.n - 1;
		looks[i] = (uint32_t)*number;
	}
	size_t n = known.n;

	map_free(&known);
	return n;
}

uint32_t *agreement_of_edges(const struct graph *graph, const uint8_t *depths,
			     const roaring_bitmap_t *const *sets, size_t n)
{
	uint32_t *agreeing = memory_alloc(graph->nedges * sizeof *agreeing + 1);
	_cleanup_free_ uint32_t *looks = memory_alloc(graph->nedges * sizeof *looks + 1);
	size_t nlooks = number_looks(graph, depths, looks);
	_cleanup_free_ uint32_t *runs = memory_alloc(nlooks * sizeof *runs + 1);
	_cleanup_free_ uint32_t *stamp = memory_alloc(nlooks * sizeof *stamp + 1);

	for (size_t i = 0; i < n; i++) {
		roaring_uint32_iterator_t at;

		for (roaring_init_iterator(sets[i], &at); at.has_value && at.current_value < graph->nedges;
		     roaring_advance_uint32_iterator(&at)) {
			if (depths[at.current_value] == GRAPH_USUAL)
				continue;
			uint32_t look = looks[at.current_value];

			runs[look] += stamp[look] != i + 1;
			stamp[look] = (uint32_t)i + 1;
		}
	}
	for (size_t i = 0; i < graph->nedges; i++)
		if (depths[i] != GRAPH_USUAL)
			agreeing[i] = runs[looks[i]];
	return agreeing;
}

bool agreement_initial(const struct graph *graph, uint32_t edge)
{
	uint16_t empty = graph->events < CONTEXT_MOST ? CONTEXT_EMPTY : 0;

	return graph->source[edge] == GRAPH_NULL || graph->edges[edge].source_context == empty;
}
