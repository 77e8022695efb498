/* Which code points wrote, in a failed run, over what others had read. An edge need not
 * tell of it (silent.h), but the predecessor does: the last access by another thread was
 * a read. Where a write has an edge it was over what another had written; so of a run's
 * points those without one are meant, and all only if there are none.
 */
#include "analysis/bugaboo/campaign.h"

#include <string.h>

/* Drops the points at which an edge to a write arrives, unless that leaves none. */
static void drop_edged(const struct graph *graph, const roaring_bitmap_t *edges, const uint8_t *wrote,
		       uint8_t *left)
{
	roaring_uint32_iterator_t at;

	memcpy(left, wrote, graph->npoints);
	for (roaring_init_iterator(edges, &at); at.has_value && at.current_value < graph->nedges;
	     roaring_advance_uint32_iterator(&at))
		if (graph->edges[at.current_value].write)
			left[graph->sink_point[at.current_value]] = 0;
	if (!memchr(left, 1, graph->npoints))
		memcpy(left, wrote, graph->npoints);
}

void overwrites_list(const struct graph *graph, const roaring_bitmap_t *edges, const uint8_t *wrote,
		     struct point_list *out)
{
	_cleanup_free_ uint8_t *left = memory_alloc(graph->npoints + 1);

	*out = (struct point_list){ .points = memory_alloc(graph->npoints * sizeof *out->points + 1) };
	if (graph->npoints)
		drop_edged(graph, edges, wrote, left);
	for (uint32_t point = 0; point < graph->npoints; point++)
		if (left[point])
			out->points[out->n++] = point;
	if (out->n > OVERWRITES_MOST)
		out->n = 0;
}

/* The point of each predecessor that says so, GRAPH_NULL for the others. */
static struct error *find_points(struct store *store, const struct graphs *graphs, uint32_t *points)
{
	const struct site *site, *before;

	for (size_t i = 0; i < graphs->interned.npredecessors; i++) {
		const struct predecessor *predecessor = &graphs->interned.predecessors[i];

		if (points[i] == GRAPH_NULL)
			continue;
		if (predecessor->before == SITE_NIL) {
			points[i] = GRAPH_NULL;
			continue;
		}
		TRY(store_site(store, predecessor->site, &site));
		TRY(store_site(store, predecessor->before, &before));
		if ((site->kind != SITE_WRITE && site->kind != SITE_UPDATE) || before->kind != SITE_READ)
			points[i] = GRAPH_NULL;
	}
	return NULL;
}

struct error *graphs_find_overwrites(struct store *store, struct graphs *graphs)
{
	const struct graph *graph = &graphs->graph;
	_cleanup_free_ uint32_t *points = graphs_predecessor_points(graphs);
	size_t failed = 0;

	TRY(find_points(store, graphs, points));
	for (size_t i = 0; i < graphs->executed.n; i++) {
		_cleanup_free_ uint8_t *wrote = memory_alloc(graph->npoints + 1);
		roaring_uint32_iterator_t at;

		if (!graphs->executed.items[i].failed)
			continue;
		for (roaring_init_iterator(graphs->executed.items[i].predecessors, &at);
		     at.has_value && at.current_value < graphs->interned.npredecessors;
		     roaring_advance_uint32_iterator(&at))
			if (points[at.current_value] != GRAPH_NULL)
				wrote[points[at.current_value]] = 1;
		overwrites_list(graph, graphs->failed.items[failed++], wrote, VEC_PUSH(&graphs->overwrites));
	}
	return NULL;
}
