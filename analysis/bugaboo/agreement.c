/* Counts graph by graph which looks of odd edges it has; a stamp tells whether it was
 * counted yet.
 */
#include "analysis/bugaboo/agreement.h"

#include "base/memory.h"

/* The looks of odd edges as small numbers; returns how many there are. */
static size_t number_looks(const struct graph *graph, const uint8_t *depths, const uint32_t *looks,
			   uint32_t *numbers)
{
	size_t most = graph->nedges * (graph->events + 1), n = 0;
	_cleanup_free_ uint32_t *known = memory_alloc(most * sizeof *known + 1); /* number + 1 */

	for (size_t i = 0; i < graph->nedges; i++) {
		if (depths[i] == GRAPH_USUAL)
			continue;
		if (!known[looks[i]])
			known[looks[i]] = (uint32_t)++n;
		numbers[i] = known[looks[i]] - 1;
	}
	return n;
}

uint32_t *agreement_of_edges(const struct graph *graph, const uint8_t *depths, const uint32_t *looks,
			     const roaring_bitmap_t *const *sets, size_t n)
{
	uint32_t *agreeing = memory_alloc(graph->nedges * sizeof *agreeing + 1);
	_cleanup_free_ uint32_t *numbers = memory_alloc(graph->nedges * sizeof *numbers + 1);
	size_t nlooks = number_looks(graph, depths, looks, numbers);
	_cleanup_free_ uint32_t *runs = memory_alloc(nlooks * sizeof *runs + 1);
	_cleanup_free_ uint32_t *stamp = memory_alloc(nlooks * sizeof *stamp + 1);

	struct edge_list list = { 0 };

	for (size_t i = 0; i < n; i++) {
		graph_list(graph, sets[i], &list);
		for (size_t e = 0; e < list.n; e++) {
			if (depths[list.items[e]] == GRAPH_USUAL)
				continue;
			uint32_t look = numbers[list.items[e]];

			runs[look] += stamp[look] != i + 1;
			stamp[look] = (uint32_t)i + 1;
		}
	}
	VEC_FREE(&list);
	for (size_t i = 0; i < graph->nedges; i++)
		if (depths[i] != GRAPH_USUAL)
			agreeing[i] = runs[numbers[i]];
	return agreeing;
}

bool agreement_initial(const struct graph *graph, uint32_t edge)
{
	uint16_t empty = graph->events < CONTEXT_MOST ? CONTEXT_EMPTY : 0;

	return graph->source[edge] == GRAPH_NULL || graph->edges[edge].source_context == empty;
}
