/* Names code points and edges by hashes of their places, so that graphs of two stores
 * can be held against each other.
 */
#include "analysis/bugaboo/imprecision.h"

#include "base/hash.h"

static uint64_t point_key(const struct graphs *graphs, uint32_t point)
{
	const struct code_point *place = &graphs->points.items[point];
	uint32_t where[] = { place->line, place->column };
	uint64_t key = hash_bytes(hash_string(HASH_START, place->file), where, sizeof where);

	return hash_string(key, place->function);
}

static roaring_bitmap_t *all_edges(const struct graphs *graphs)
{
	roaring_bitmap_t *all =
		graph_union((const roaring_bitmap_t *const *)graphs->passed.items, graphs->passed.n);

	for (size_t i = 0; i < graphs->failed.n; i++)
		roaring_bitmap_or_inplace(all, graphs->failed.items[i]);
	return all;
}

/* Points (value: number + 1) and bare edges that communicate. */
static struct graph_size collect(const struct graphs *graphs, struct map *points, struct map *edges)
{
	const struct graph *graph = &graphs->graph;
	roaring_bitmap_t *all = all_edges(graphs);
	roaring_uint32_iterator_t at;

	for (roaring_init_iterator(all, &at); at.has_value && at.current_value < graph->nedges;
	     roaring_advance_uint32_iterator(&at)) {
		uint32_t source = graph->source_point[at.current_value];
		uint32_t sink = graph->sink_point[at.current_value];

		if (source == GRAPH_NULL)
			continue;
		uint64_t ends[] = { point_key(graphs, source), point_key(graphs, sink),
				    graph->edges[at.current_value].write };

		*map_put(points, ends[0], NULL) = source + 1;
		*map_put(points, ends[1], NULL) = sink + 1;
		map_put(edges, hash_bytes(HASH_START, ends, sizeof ends), NULL);
	}
	struct graph_size size = graph_measure(graph, all);

	roaring_bitmap_free(all);
	return size;
}

static size_t missing(const struct map *in, const struct map *from, uint32_t *list)
{
	size_t n = 0;

	for (size_t i = 0; i < in->room; i++) {
		if (!in->slots[i].used || map_get(from, in->slots[i].key))
			continue;
		if (list)
			list[n] = (uint32_t)in->slots[i].value - 1;
		n++;
	}
	return n;
}

void imprecision_measure(const struct graphs *whole, const struct graphs *lossy, struct imprecision *out)
{
	struct map points = { 0 }, edges = { 0 }, lossy_points = { 0 }, lossy_edges = { 0 };

	*out = (struct imprecision){ 0 };
	out->whole = collect(whole, &points, &edges);
	out->lossy = collect(lossy, &lossy_points, &lossy_edges);
	out->points = points.n;
	out->edges = edges.n;
	out->missed_points = memory_alloc(points.n * sizeof *out->missed_points + 1);
	out->missed = missing(&points, &lossy_points, out->missed_points);
	out->extra = missing(&lossy_points, &points, NULL);
	out->missed_edges = missing(&edges, &lossy_edges, NULL);
	out->extra_edges = missing(&lossy_edges, &edges, NULL);
	map_free(&points);
	map_free(&edges);
	map_free(&lossy_points);
	map_free(&lossy_edges);
}
