/* Counts in how many graphs each code point stands in each context, over all sites of
 * the point, and sums the squares of the relative frequencies.
 */
#include "analysis/bugaboo/rarity.h"

#include "base/memory.h"
#include "base/numbers.h"

/* Pairs of code point and context, numbered, with the graphs that have them. */
struct places {
	uint32_t *of_node; /* number of each node's pair */
	struct place {
		uint32_t point, runs, stamp;
	} *items;
	size_t n;
};

static void places_make(const struct graph *graph, struct places *out)
{
	struct numbers numbers = { 0 };

	*out = (struct places){ .of_node = memory_alloc(graph->nnodes * sizeof *out->of_node + 1),
				.items = memory_alloc(graph->nnodes * sizeof *out->items + 1) };
	for (size_t i = 0; i < graph->nnodes; i++) {
		const struct graph_node *node = &graph->nodes[i];

		out->of_node[i] = numbers_put(&numbers, (uint64_t)node->point << 16 | node->context);
		out->items[out->of_node[i]].point = node->point;
	}
	out->n = numbers.n;
	numbers_free(&numbers);
}

static void places_free(struct places *places)
{
	cleanup_free(&places->of_node);
	cleanup_free(&places->items);
}

static void count_end(struct places *places, uint32_t node, uint32_t stamp)
{
	if (node == GRAPH_NULL)
		return;
	struct place *place = &places->items[places->of_node[node]];

	place->runs += place->stamp != stamp;
	place->stamp = stamp;
}

static void count_graph(const struct graph *graph, const struct edge_list *list, const uint8_t *depths,
			struct places *places, uint32_t stamp)
{
	for (size_t i = 0; i < list->n; i++) {
		uint32_t edge = list->items[i];

		if (depths && depths[edge] == GRAPH_USUAL)
			continue;
		count_end(places, graph->source[edge], stamp);
		count_end(places, graph->sink[edge], stamp);
	}
}

struct rarity *rarity_of_points(const struct graph *graph, const roaring_bitmap_t *const *sets, size_t n,
				const uint8_t *depths)
{
	_cleanup_(places_free) struct places places = { 0 };
	struct edge_list list = { 0 };
	struct rarity *rarities = memory_alloc(graph->npoints * sizeof *rarities + 1);
	_cleanup_free_ double *total = memory_alloc(graph->npoints * sizeof *total + 1);

	places_make(graph, &places);
	for (size_t i = 0; i < n; i++) {
		graph_list(graph, sets[i], &list);
		count_graph(graph, &list, depths, &places, (uint32_t)i + 1);
	}
	VEC_FREE(&list);
	for (size_t i = 0; i < places.n; i++) {
		const struct place *place = &places.items[i];

		rarities[place->point].rank += (double)place->runs * place->runs;
		rarities[place->point].contexts += place->runs > 0;
		total[place->point] += place->runs;
	}
	for (size_t i = 0; i < graph->npoints; i++)
		rarities[i].rank = total[i] > 0 ? rarities[i].rank / (total[i] * total[i]) : 1;
	return rarities;
}
