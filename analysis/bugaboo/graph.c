/* Numbers what edges are made of, and tells how far edges differ. A shorter context
 * is the end of a longer one, so the graphs of all shorter contexts are contained
 * in the one that was recorded. Sets are Roaring bitmaps over the edges' numbers.
 */
#include "analysis/bugaboo/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"

static uint64_t node_key(uint32_t site, uint16_t context)
{
	return (uint64_t)site << 16 | context;
}

static uint32_t number_node(struct graph *graph, struct numbers *nodes, uint32_t site, uint16_t context)
{
	uint32_t number = numbers_put(nodes, node_key(site, context));

	if (number == graph->nnodes)
		graph->nodes[graph->nnodes++] = (struct graph_node){ .site = site, .context = context };
	return number;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Distinct numbers in rising order; returns how many. */
static size_t sort_distinct(uint32_t *numbers, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(numbers, n, sizeof *numbers, compare_numbers);
	for (size_t i = 0; i < n; i++)
		if (!i || numbers[i] != numbers[i - 1])
			numbers[kept++] = numbers[i];
	return kept;
}

static size_t site_index(const struct graph *graph, uint32_t site)
{
	const uint32_t *at =
		bsearch(&site, graph->sites, graph->nsites, sizeof *graph->sites, compare_numbers);

	return (size_t)(at - graph->sites);
}

static unsigned events_kept(const struct edge *edges, size_t n)
{
	unsigned most = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned sink = context_kept(edges[i].sink_context);
		unsigned source = edges[i].source == SITE_NIL ? 0 : context_kept(edges[i].source_context);

		most = sink > most ? sink : most;
		most = source > most ? source : most;
	}
	return most;
}

void graph_make(const struct edge *edges, size_t nedges, struct graph *out)
{
	struct numbers nodes = { 0 };

	*out = (struct graph){ .edges = edges, .nedges = nedges, .events = events_kept(edges, nedges) };
	out->nodes = memory_alloc(2 * nedges * sizeof *out->nodes + 1);
	out->source = memory_alloc(nedges * sizeof *out->source + 1);
	out->sink = memory_alloc(nedges * sizeof *out->sink + 1);
	out->source_point = memory_alloc(nedges * sizeof *out->source_point + 1);
	out->sink_point = memory_alloc(nedges * sizeof *out->sink_point + 1);
	for (size_t i = 0; i < nedges; i++) {
		out->source[i] = edges[i].source == SITE_NIL
					 ? GRAPH_NULL
					 : number_node(out, &nodes, edges[i].source, edges[i].source_context);
		out->sink[i] = number_node(out, &nodes, edges[i].sink, edges[i].sink_context);
	}
	numbers_free(&nodes);
	out->sites = memory_alloc(out->nnodes * sizeof *out->sites + 1);
	for (size_t i = 0; i < out->nnodes; i++)
		out->sites[i] = out->nodes[i].site;
	out->nsites = sort_distinct(out->sites, out->nnodes);
	out->point_of = memory_alloc(out->nsites * sizeof *out->point_of + 1);
	_cleanup_free_ uint32_t *each = memory_alloc(out->nsites * sizeof *each + 1);

	for (size_t i = 0; i < out->nsites; i++)
		each[i] = (uint32_t)i;
	graph_points(out, each, out->nsites);
}

void graph_points(struct graph *graph, const uint32_t *points, size_t npoints)
{
	if (graph->nsites)
		memcpy(graph->point_of, points, graph->nsites * sizeof *points);
	graph->npoints = npoints;
	for (size_t i = 0; i < graph->nnodes; i++)
		graph->nodes[i].point = graph->point_of[site_index(graph, graph->nodes[i].site)];
	for (size_t i = 0; i < graph->nedges; i++) {
		graph->source_point[i] =
			graph->source[i] == GRAPH_NULL ? GRAPH_NULL : graph->nodes[graph->source[i]].point;
		graph->sink_point[i] = graph->nodes[graph->sink[i]].point;
	}
}

void graph_free(struct graph *graph)
{
	free(graph->nodes);
	free(graph->source);
	free(graph->sink);
	free(graph->source_point);
	free(graph->sink_point);
	free(graph->sites);
	free(graph->point_of);
	*graph = (struct graph){ 0 };
}

uint16_t graph_context(uint16_t context, unsigned kept, unsigned events)
{
	unsigned has = context_events(context, kept);

	if (has <= events && kept < CONTEXT_MOST)
		return context;
	if (events >= CONTEXT_MOST)
		return context;
	return (uint16_t)(1u << 2 * events | (context & ((1u << 2 * events) - 1)));
}

roaring_bitmap_t *graph_union(const roaring_bitmap_t *const *sets, size_t n)
{
	/* The library does not change the sets; older versions want them without const. */
	return roaring_bitmap_or_many(n, (const roaring_bitmap_t **)(uintptr_t)sets);
}

roaring_bitmap_t *graph_difference(const roaring_bitmap_t *set, const roaring_bitmap_t *without)
{
	return roaring_bitmap_andnot(set, without);
}

void graph_list(const struct graph *graph, const roaring_bitmap_t *set, struct edge_list *out)
{
	size_t n = (size_t)roaring_bitmap_get_cardinality(set);

	if (n > out->room || !out->items) {
		free(out->items);
		out->items = memory_alloc(n * sizeof *out->items);
		out->room = n;
	}
	roaring_bitmap_to_uint32_array(set, out->items);
	while (n && out->items[n - 1] >= graph->nedges)
		n--;
	out->n = n;
}

/* ---- depths ---- */

/* An edge with the last `events` of its contexts; equal ones have equal keys, and others almost
 * never do: 128 bits would not fit the table, and a mix of 64 tells 200,000 edges apart. */
static uint64_t projected_key(const struct graph *graph, size_t i, unsigned events)
{
	const struct edge *edge = &graph->edges[i];
	uint32_t words[4] = {
		edge->source,
		edge->sink,
		(uint32_t)graph_context(edge->sink_context, graph->events, events) << 1 | edge->write,
		edge->source == SITE_NIL ? 0 : graph_context(edge->source_context, graph->events, events),
	};

	return hash_bytes(HASH_START, words, sizeof words);
}

size_t graph_project(const struct graph *graph, unsigned events, uint32_t *numbers)
{
	struct numbers known = { 0 };

	numbers_reserve(&known, graph->nedges);
	for (size_t i = 0; i < graph->nedges; i++)
		numbers[i] = numbers_put(&known, projected_key(graph, i, events));
	size_t n = known.n;

	numbers_free(&known);
	return n;
}

/* Numbers of one length of context: in how many passed graphs each stands, at most, and whether most
 * failed graphs have it although a passed one does. */
struct level {
	uint32_t *numbers, *passed;
	uint8_t *mostly;
	size_t n;
};

static void level_free(struct level *level)
{
	free(level->numbers);
	free(level->passed);
	free(level->mostly);
}

/* Of the numbers that might be in most failed graphs, those that are: counts graph by graph. */
static void count_failed(const struct graph_counts *counts, const roaring_bitmap_t *edges,
			 struct level *level)
{
	_cleanup_free_ uint32_t *graphs = memory_alloc(level->n * sizeof *graphs + 1);
	_cleanup_free_ uint32_t *stamps = memory_alloc(level->n * sizeof *stamps + 1);

	for (size_t i = 0; i < counts->nfailed; i++) {
		roaring_bitmap_t *both = roaring_bitmap_and(counts->failed[i], edges);
		roaring_uint32_iterator_t at;

		for (roaring_init_iterator(both, &at); at.has_value; roaring_advance_uint32_iterator(&at)) {
			uint32_t number = level->numbers[at.current_value];

			graphs[number] += stamps[number] != i + 1;
			stamps[number] = (uint32_t)i + 1;
		}
		roaring_bitmap_free(both);
	}
	for (size_t i = 0; i < level->n; i++)
		level->mostly[i] = level->mostly[i] && graphs[i] >= counts->mostly * (double)counts->nfailed;
}

static void look_at_level(const struct graph *graph, const struct graph_counts *counts, unsigned events,
			  struct level *out)
{
	out->numbers = memory_alloc(graph->nedges * sizeof *out->numbers + 1);
	out->n = graph_project(graph, events, out->numbers);
	out->passed = memory_alloc(out->n * sizeof *out->passed + 1);
	out->mostly = memory_alloc(out->n + 1);
	_cleanup_free_ uint32_t *failed = memory_alloc(out->n * sizeof *failed + 1);
	roaring_bitmap_t *edges = roaring_bitmap_create();

	for (size_t i = 0; i < graph->nedges; i++) {
		out->passed[out->numbers[i]] += counts->edge_passed[i];
		failed[out->numbers[i]] += counts->edge_failed[i];
	}
	for (size_t i = 0; i < graph->nedges; i++) {
		uint32_t number = out->numbers[i];

		out->mostly[number] = out->passed[number] &&
				      out->passed[number] <= counts->npassed / GRAPH_SELDOM &&
				      failed[number] >= counts->mostly * (double)counts->nfailed;
		if (out->mostly[number])
			roaring_bitmap_add(edges, (uint32_t)i);
	}
	if (!roaring_bitmap_is_empty(edges))
		count_failed(counts, edges, out);
	roaring_bitmap_free(edges);
}

uint8_t *graph_depths(const struct graph *graph, const struct graph_counts *counts, uint32_t *harmless,
		      uint32_t *looks)
{
	uint8_t *depths = memory_alloc(graph->nedges + 1);
	uint32_t first = 0; /* number of this length of context */

	memset(depths, GRAPH_USUAL, graph->nedges + 1);
	for (unsigned events = graph->events + 1; events-- > 0;) {
		_cleanup_(level_free) struct level level = { 0 };

		look_at_level(graph, counts, events, &level);
		for (size_t i = 0; i < graph->nedges; i++) {
			uint32_t number = level.numbers[i];

			if (level.passed[number] && !level.mostly[number])
				continue;
			depths[i] = (uint8_t)events;
			harmless[i] = level.passed[number];
			looks[i] = first + number;
		}
		first += (uint32_t)level.n;
	}
	return depths;
}

/* ---- sizes ---- */

struct graph_size graph_measure(const struct graph *graph, const roaring_bitmap_t *set)
{
	_cleanup_free_ uint8_t *seen_node = memory_alloc(graph->nnodes + 1);
	_cleanup_free_ uint8_t *seen_site = memory_alloc(graph->nsites + 1);
	struct map bare = { 0 };
	struct graph_size size = { 0 };
	roaring_uint32_iterator_t at;

	for (roaring_init_iterator(set, &at); at.has_value && at.current_value < graph->nedges;
	     roaring_advance_uint32_iterator(&at)) {
		const uint32_t ends[] = { graph->source[at.current_value], graph->sink[at.current_value] };

		size.edges++;
		map_put(&bare, projected_key(graph, at.current_value, 0), NULL);
		for (int i = 0; i < 2; i++) {
			if (ends[i] == GRAPH_NULL)
				continue;
			size_t site = site_index(graph, graph->nodes[ends[i]].site);

			size.nodes += !seen_node[ends[i]]++;
			size.sites += !seen_site[site];
			seen_site[site] = 1;
			seen_node[ends[i]] = 1;
		}
	}
	size.bare_edges = bare.n;
	map_free(&bare);
	return size;
}
