/* Counts in how many graphs each code point stands in each context, over all sites of
 * the point, and sums the squares of the relative frequencies.
 */
#include "analysis/bugaboo/rarity.h"

#include "base/memory.h"
#include "base/numbers.h"

/* Pairs of code point and context, numbered, with the graphs that have them. */
struct places {
	uint32_t *of_node; /* number of each node's pair */
	uint32_t *point, *runs, *stamp;
	size_t n;
};

static void places_make(const struct graph *graph, struct places *out)
{
	struct numbers numbers = { 0 };

	*out = (struct places){ .of_node = memory_alloc(graph->nnodes * sizeof *out->of_node + 1),
				.point = memory_alloc(graph->nnodes * sizeof *out->point + 1),
				.runs = memory_alloc(graph->nnodes * sizeof *out->runs + 1),
				.stamp = memory_alloc(graph->nnodes * sizeof *out->stamp + 1) };
	for (size_t i = 0; i < graph->nnodes; i++) {
		const struct graph_node *node = &graph->nodes[i];

		out->of_node[i] = numbers_put(&numbers, (uint64_t)node->point << 16 | node->context);
		out->point[out->of_node[i]] = node->point;
	}
	out->n = numbers.n;
	numbers_free(&numbers);
}

static void places_free(struct places *places)
{
	cleanup_free(&places->of_node);
	cleanup_free(&places->point);
	cleanup_free(&places->runs);
	cleanup_free(&places->stamp);
}

static void count_graph(const struct graph *graph, const roaring_bitmap_t *set, const uint8_t *depths,
			struct places *places, uint32_t stamp)
{
	roaring_uint32_iterator_t at;

	for (roaring_init_iterator(set, &at); at.has_value && at.current_value < graph->nedges;
	     roaring_advance_uint32_iterator(&at)) {
		const uint32_t ends[] = { graph->source[at.current_value], graph->sink[at.current_value] };

		if (depths && depths[at.current_value] == GRAPH_USUAL)
			continue;
		for (int i = 0; i < 2; i++) {
			uint32_t place = ends[i] == GRAPH_NULL ? 0 : places->of_node[ends[i]];

			if (ends[i] == GRAPH_NULL || places->stamp[place] == stamp)
				continue;
			places->stamp[place] = stamp;
			places->runs[place]++;
		}
	}
}

struct rarity *rarity_of_points(const struct graph *graph, const roaring_bitmap_t *const *sets, size_t n,
				const uint8_t *depths)
{
	_cleanup_(places_free) struct places places = { 0 };
	struct rarity *rarities = memory_alloc(graph->npoints * sizeof *rarities + 1);
	_cleanup_free_ double *total = memory_alloc(graph->npoints * sizeof *total + 1);

	places_make(graph, &places);
	for (size_t i = 0; i < n; i++)
		count_graph(graph, sets[i], depths, &places, (uint32_t)i + 1);
	for (size_t i = 0; i < places.n; i++) {
		rarities[places.point[i]].rank += (double)places.runs[i] * places.runs[i];
		rarities[places.point[i]].contexts += places.runs[i] > 0;
		total[places.point[i]] += places.runs[i];
	}
	for (size_t i = 0; i < graph->npoints; i++)
		rarities[i].rank = total[i] > 0 ? rarities[i].rank / (total[i] * total[i]) : 1;
	return rarities;
}
