/* Reads what the ranking needs. Sites at one position of the source are one code
 * point. Which code points ran in a run, communicating or not, is told by the
 * predecessors, where those were observed: every access has one, if only nil.
 */
#include "analysis/bugaboo/campaign.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define EDGES 4u /* in run_settings.observe */

static uint64_t position_key(const struct site *site)
{
	uint32_t place[] = { site->line, site->column };
	uint64_t key = hash_bytes(hash_string(HASH_START, site->file), place, sizeof place);

	return site->line ? key : hash_string(hash_string(key, site->function), site->variable);
}

static struct error *name_points(struct store *store, struct graphs *out)
{
	struct graph *graph = &out->graph;
	struct map positions = { 0 }, functions = { 0 };
	_cleanup_free_ uint32_t *points = memory_alloc(graph->nsites * sizeof *points + 1);
	struct error *error = NULL;

	for (size_t i = 0; i < graph->nsites && !error; i++) {
		const struct site *site;
		bool fresh;

		error = store_site(store, graph->sites[i], &site);
		if (error)
			break;
		uint64_t *number = map_put(&positions, position_key(site), &fresh);

		if (fresh) {
			uint64_t key = hash_string(hash_string(HASH_START, site->file), site->function);
			uint64_t *function = map_put(&functions, key, NULL);

			*number = out->points.n;
			if (!*function)
				*function = functions.n;
			*VEC_PUSH(&out->points) =
				(struct code_point){ .file = site->file,
						     .function = site->function,
						     .variable = site->variable,
						     .line = site->line,
						     .column = site->column,
						     .site = graph->sites[i],
						     .function_number = (uint32_t)*function - 1 };
		}
		points[i] = (uint32_t)*number;
		if (!*out->points.items[points[i]].variable)
			out->points.items[points[i]].variable = site->variable;
	}
	map_free(&positions);
	map_free(&functions);
	if (!error)
		graph_points(graph, points, out->points.n);
	return error;
}

/* Counts for each point the runs that have a predecessor of one of its sites. */
static void count_ran(const struct graphs *graphs, const uint32_t *point_of, const roaring_bitmap_t *set,
		      uint32_t *ran, uint32_t *stamp, uint32_t run)
{
	roaring_uint32_iterator_t at;

	for (roaring_init_iterator(set, &at);
	     at.has_value && at.current_value < graphs->interned.npredecessors;
	     roaring_advance_uint32_iterator(&at)) {
		uint32_t point = point_of[at.current_value];

		if (point == GRAPH_NULL || stamp[point] == run)
			continue;
		stamp[point] = run;
		ran[point]++;
	}
}

uint32_t *graphs_predecessor_points(const struct graphs *graphs)
{
	const struct graph *graph = &graphs->graph;
	uint32_t *points = memory_alloc(graphs->interned.npredecessors * sizeof *points + 1);
	struct map sites = { 0 };

	for (size_t i = 0; i < graph->nsites; i++)
		*map_put(&sites, graph->sites[i], NULL) = graph->point_of[i];
	for (size_t i = 0; i < graphs->interned.npredecessors; i++) {
		const uint64_t *point = map_get(&sites, graphs->interned.predecessors[i].site);

		points[i] = point ? (uint32_t)*point : GRAPH_NULL;
	}
	map_free(&sites);
	return points;
}

/* Takes the sets of one run. */
static struct error *load_run(struct store *store, const struct run *run, struct graphs *out)
{
	struct membership membership;

	TRY(store_membership(store, run->number, &membership));
	bool failed = run->label == LABEL_FAIL;

	*(failed ? VEC_PUSH(&out->failed) : VEC_PUSH(&out->passed)) = membership.edges;
	*(failed ? VEC_PUSH(&out->failed_runs) : VEC_PUSH(&out->passed_runs)) = run->number;
	*VEC_PUSH(&out->executed) =
		(struct graphs_executed){ .failed = failed, .predecessors = membership.predecessors };
	membership.edges = membership.predecessors = NULL;
	membership_free(&membership);
	if (!failed)
		return NULL;
	struct edge_order *order = VEC_PUSH(&out->orders);

	*order = (struct edge_order){ 0 };
	return store_edge_order(store, run->number, &order->edges, &order->n);
}

static int compare_runs(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool seen_alike(const struct run_settings *a, const struct run_settings *b)
{
	return a->known == b->known &&
	       (!a->known || (a->context == b->context && a->line == b->line && a->machine == b->machine &&
			      (a->observe & EDGES) == (b->observe & EDGES)));
}

static bool seen_in(const struct run_settings *settings, enum graphs_way way)
{
	return way == WAY_ANY || ((way == WAY_MACHINE) == settings->machine &&
				  (way == WAY_LINE) == (settings->line && !settings->machine));
}

/* Edges with contexts of different lengths are different edges: only runs that were observed
 * as the newest failed one, or the newest of all, can be compared. */
static void keep_alike(struct run *runs, size_t n, const uint64_t *wanted, size_t nwanted,
		       enum graphs_way way, struct graphs *out, bool *keep)
{
	const struct run *like = NULL;

	for (size_t i = n; i-- > 0;) {
		keep[i] = (!wanted ||
			   bsearch(&runs[i].number, wanted, nwanted, sizeof *wanted, compare_runs)) &&
			  (!runs[i].settings.known || (runs[i].settings.observe & EDGES)) &&
			  seen_in(&runs[i].settings, way);
		if (keep[i] && (!like || (like->label != LABEL_FAIL && runs[i].label == LABEL_FAIL)))
			like = &runs[i];
	}
	for (size_t i = 0; i < n; i++) {
		if (!keep[i] || seen_alike(&like->settings, &runs[i].settings))
			continue;
		keep[i] = false;
		out->skipped++;
	}
	out->context = like && like->settings.known ? (int)like->settings.context : -1;
	out->line = like && like->settings.known && like->settings.line;
	out->machine = like && like->settings.machine;
}

/* Summaries stand in order of number; every run of `wanted`, in rising order, must be there. */
static struct error *load_wanted(struct store *store, const struct run *summaries, size_t nsummaries,
				 const uint64_t *wanted, size_t n, const bool *keep, struct graphs *out)
{
	size_t at = 0;

	for (size_t i = 0; i < nsummaries; i++) {
		if (wanted && (at == n || summaries[i].number < wanted[at]))
			continue;
		if (wanted && summaries[i].number > wanted[at])
			break;
		if (keep[i])
			TRY(load_run(store, &summaries[i], out));
		while (at < n && wanted[at] == summaries[i].number)
			at++;
	}
	if (wanted && at < n)
		return error_new(
			"run %llu is not of campaign %llu as the others are; only runs of one program "
			"with one command line can be compared",
			(unsigned long long)wanted[at], (unsigned long long)out->campaign);
	return NULL;
}

static struct error *load_all(struct store *store, const uint64_t *runs, size_t n, enum graphs_way way,
			      struct graphs *out)
{
	_cleanup_free_ uint64_t *wanted = memory_alloc(n * sizeof *wanted + 1);
	struct run *summaries = NULL;
	size_t nsummaries = 0;

	if (n) {
		memcpy(wanted, runs, n * sizeof *wanted);
		qsort(wanted, n, sizeof *wanted, compare_runs);
	}
	TRY(store_runs(store, out->campaign, &summaries, &nsummaries));
	_cleanup_free_ bool *keep = memory_alloc(nsummaries * sizeof *keep + 1);

	keep_alike(summaries, nsummaries, n ? wanted : NULL, n, way, out, keep);
	struct error *error = load_wanted(store, summaries, nsummaries, n ? wanted : NULL, n, keep, out);

	for (size_t i = 0; i < nsummaries; i++)
		run_free(&summaries[i]);
	free(summaries);
	if (error)
		return error;
	return store_interned(store, out->campaign, &out->interned);
}

struct error *graphs_number(struct store *store, struct graphs *out)
{
	graph_free(&out->graph);
	out->points.n = 0;
	cleanup_free(&out->ran_passed);
	cleanup_free(&out->ran_failed);
	out->ran_passed = out->ran_failed = NULL;
	graph_make(out->interned.edges, out->interned.nedges, &out->graph);
	if (out->context >= 0)
		out->graph.events =
			(unsigned)out->context < CONTEXT_MOST ? (unsigned)out->context : CONTEXT_MOST;
	TRY(name_points(store, out));
	if (!out->interned.npredecessors)
		return NULL;
	_cleanup_free_ uint32_t *point_of = graphs_predecessor_points(out);
	_cleanup_free_ uint32_t *stamp = memory_alloc(out->points.n * sizeof *stamp + 1);

	out->ran_passed = memory_alloc(out->points.n * sizeof *out->ran_passed + 1);
	out->ran_failed = memory_alloc(out->points.n * sizeof *out->ran_failed + 1);
	for (size_t i = 0; i < out->executed.n; i++)
		count_ran(out, point_of, out->executed.items[i].predecessors,
			  out->executed.items[i].failed ? out->ran_failed : out->ran_passed, stamp,
			  (uint32_t)i + 1);
	return NULL;
}

struct error *graphs_load(struct store *store, uint64_t campaign, const uint64_t *runs, size_t n,
			  enum graphs_way way, struct graphs *out)
{
	*out = (struct graphs){ .campaign = campaign };
	TRY(load_all(store, runs, n, way, out));
	return graphs_number(store, out);
}

/* The set with its members renumbered. */
static roaring_bitmap_t *renumber(roaring_bitmap_t *set, const uint32_t *numbers, size_t n)
{
	roaring_bitmap_t *fresh = roaring_bitmap_create();
	roaring_uint32_iterator_t at;

	for (roaring_init_iterator(set, &at); at.has_value && at.current_value < n;
	     roaring_advance_uint32_iterator(&at))
		roaring_bitmap_add(fresh, numbers[at.current_value]);
	roaring_bitmap_free(set);
	return fresh;
}

/* Edges that are one now stand where the first of them stood. */
static void renumber_order(struct edge_order *order, const uint32_t *numbers, size_t n, size_t fresh)
{
	_cleanup_free_ uint8_t *seen = memory_alloc(fresh + 1);
	size_t kept = 0;

	for (size_t i = 0; i < order->n; i++) {
		uint32_t edge = order->edges[i];

		if (edge >= n || seen[numbers[edge]])
			continue;
		seen[numbers[edge]] = 1;
		order->edges[kept++] = numbers[edge];
	}
	order->n = kept;
}

static void free_orders(struct graphs *graphs)
{
	for (size_t i = 0; i < graphs->orders.n; i++)
		free(graphs->orders.items[i].edges);
	VEC_FREE(&graphs->orders);
}

void graphs_shorten(struct graphs *graphs, unsigned events)
{
	struct graph *graph = &graphs->graph;
	struct edge *edges = graphs->interned.edges;
	_cleanup_free_ uint32_t *numbers = memory_alloc(graph->nedges * sizeof *numbers + 1);
	_cleanup_free_ uint32_t *points = memory_alloc(graph->nsites * sizeof *points + 1);
	size_t npoints = graph->npoints, n;
	unsigned kept = graph->events;

	if (events >= kept)
		return;
	n = graph_project(graph, events, numbers);
	memcpy(points, graph->point_of, graph->nsites * sizeof *points);
	for (size_t i = 0; i < graph->nedges; i++) {
		struct edge edge = edges[i];

		edge.sink_context = graph_context(edge.sink_context, kept, events);
		if (edge.source != SITE_NIL)
			edge.source_context = graph_context(edge.source_context, kept, events);
		edges[numbers[i]] = edge; /* numbers rise with first occurrence: never ahead of i */
	}
	for (size_t i = 0; i < graphs->passed.n; i++)
		graphs->passed.items[i] = renumber(graphs->passed.items[i], numbers, graph->nedges);
	for (size_t i = 0; i < graphs->failed.n; i++)
		graphs->failed.items[i] = renumber(graphs->failed.items[i], numbers, graph->nedges);
	for (size_t i = 0; i < graphs->orders.n; i++)
		renumber_order(&graphs->orders.items[i], numbers, graph->nedges, n);
	graphs->interned.nedges = n;
	graph_free(graph);
	graph_make(edges, n, graph);
	graph_points(graph, points, npoints); /* the same sites, in the same order */
	graph->events = events;
}

static uint64_t edge_key(const struct edge *edge)
{
	uint32_t words[] = { edge->source, edge->sink,
			     (uint32_t)edge->source_context << 16 | edge->sink_context, edge->write };

	return hash_bytes(HASH_START, words, sizeof words);
}

/* Room for the edges of each graph. */
static void make_orders(struct graphs *graphs, const uint32_t *graph_of, size_t n, size_t ngraphs)
{
	_cleanup_free_ size_t *room = memory_alloc(ngraphs * sizeof *room + 1);

	for (size_t i = 0; i < n; i++)
		room[graph_of[i]]++;
	for (size_t i = 0; i < ngraphs; i++)
		*VEC_PUSH(&graphs->orders) =
			(struct edge_order){ .edges = memory_alloc(room[i] * sizeof(uint32_t) + 1) };
}

struct error *graphs_replace_failed(struct store *store, struct graphs *graphs, const struct edge *edges,
				    const uint32_t *graph_of, size_t n, size_t ngraphs)
{
	struct interned *interned = &graphs->interned;
	struct map known = { 0 };

	for (size_t i = 0; i < interned->nedges; i++)
		*map_put(&known, edge_key(&interned->edges[i]), NULL) = i;
	for (size_t i = 0; i < graphs->failed.n; i++)
		roaring_bitmap_free(graphs->failed.items[i]);
	graphs->failed.n = graphs->failed_runs.n = 0;
	free_orders(graphs);
	make_orders(graphs, graph_of, n, ngraphs);
	for (size_t i = 0; i < ngraphs; i++)
		*VEC_PUSH(&graphs->failed) = roaring_bitmap_create();
	interned->edges = memory_resize(interned->edges, (interned->nedges + n) * sizeof *edges + 1);
	for (size_t i = 0; i < n; i++) {
		bool fresh;
		uint64_t *number = map_put(&known, edge_key(&edges[i]), &fresh);

		if (fresh) {
			*number = interned->nedges;
			interned->edges[interned->nedges++] = edges[i];
		}
		struct edge_order *order = &graphs->orders.items[graph_of[i]];

		if (roaring_bitmap_add_checked(graphs->failed.items[graph_of[i]], (uint32_t)*number))
			order->edges[order->n++] = (uint32_t)*number;
	}
	map_free(&known);
	return graphs_number(store, graphs);
}

struct rank_input graphs_input(const struct graphs *graphs, enum rank_order order)
{
	return (struct rank_input){
		.graph = &graphs->graph,
		.passed = (const roaring_bitmap_t *const *)graphs->passed.items,
		.npassed = graphs->passed.n,
		.failed = (const roaring_bitmap_t *const *)graphs->failed.items,
		.nfailed = graphs->failed.n,
		.orders = graphs->orders.n == graphs->failed.n ? graphs->orders.items : NULL,
		.overwrites = graphs->overwrites.n == graphs->failed.n ? graphs->overwrites.items : NULL,
		.ran_passed = graphs->ran_passed,
		.ran_failed = graphs->ran_failed,
		.order = order
	};
}

void graphs_free(struct graphs *graphs)
{
	for (size_t i = 0; i < graphs->passed.n; i++)
		roaring_bitmap_free(graphs->passed.items[i]);
	for (size_t i = 0; i < graphs->failed.n; i++)
		roaring_bitmap_free(graphs->failed.items[i]);
	for (size_t i = 0; i < graphs->executed.n; i++)
		roaring_bitmap_free(graphs->executed.items[i].predecessors);
	free_orders(graphs);
	for (size_t i = 0; i < graphs->overwrites.n; i++)
		free(graphs->overwrites.items[i].points);
	VEC_FREE(&graphs->overwrites);
	VEC_FREE(&graphs->executed);
	VEC_FREE(&graphs->passed);
	VEC_FREE(&graphs->failed);
	VEC_FREE(&graphs->passed_runs);
	VEC_FREE(&graphs->failed_runs);
	VEC_FREE(&graphs->points);
	free(graphs->ran_passed);
	free(graphs->ran_failed);
	graph_free(&graphs->graph);
	interned_free(&graphs->interned);
	*graphs = (struct graphs){ 0 };
}
