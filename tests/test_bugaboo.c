/* The graphs of analysis/bugaboo against naive twins on random runs, rankings of small
 * graphs by hand, and the bar on time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bugaboo/rank.h"
#include "base/memory.h"
#include "tests/bugaboo_world.h"
#include "tests/pace.h"

static void contexts_shorten(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint16_t context = random_context(7);
		unsigned last = below(8);
		struct events expected = naive_events(context, last);
		struct events got = naive_events(graph_context(context, 7, last), 8);

		assert_int_equal(got.n, expected.n);
		assert_memory_equal(got.event, expected.event, sizeof got.event);
	}
	/* Eight events have no 1 above them. */
	assert_int_equal(graph_context(0x1234, 8, 8), 0x1234);
	assert_int_equal(graph_context(0x1234, 8, 2), 0x14);
	assert_int_equal(graph_context(0, 8, 3), 0x40);
}

static void numbering_is_right(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		struct world world;

		world_make(&world, 10 + below(80), 1 + below(8), below(4));
		const struct graph *graph = &world.graph;

		for (size_t i = 0; i < world.n; i++) {
			const struct graph_node *sink = &graph->nodes[graph->sink[i]];

			assert_int_equal(sink->site, world.edges[i].sink);
			assert_int_equal(sink->context, world.edges[i].sink_context);
			assert_int_equal(sink->point, naive_point(&world, sink->site));
			if (world.edges[i].source == SITE_NIL)
				assert_int_equal(graph->source[i], GRAPH_NULL);
			else
				assert_int_equal(graph->nodes[graph->source[i]].site, world.edges[i].source);
		}
		for (size_t i = 0; i < graph->nnodes; i++)
			for (size_t j = 0; j < i; j++)
				assert_false(graph->nodes[i].site == graph->nodes[j].site &&
					     graph->nodes[i].context == graph->nodes[j].context);
		world_free(&world);
	}
}

static void sets_are_sets(void **state)
{
	(void)state;
	struct world world;

	world_make(&world, 90, 6, 3);
	roaring_bitmap_t *all = graph_union((const roaring_bitmap_t *const *)world.sets, 4);
	roaring_bitmap_t *rest = graph_difference(world.sets[5], all);

	for (uint32_t i = 0; i < world.n; i++) {
		bool any = world.has[0][i] || world.has[1][i] || world.has[2][i] || world.has[3][i];

		assert_int_equal(roaring_bitmap_contains(all, i), any);
		assert_int_equal(roaring_bitmap_contains(rest, i), world.has[5][i] && !any);
	}
	roaring_bitmap_free(all);
	roaring_bitmap_free(rest);
	roaring_bitmap_t *none = graph_union(NULL, 0);

	assert_true(roaring_bitmap_is_empty(none));
	roaring_bitmap_free(none);
	world_free(&world);
}

/* The multi-variable bug of the paper's figures 4 and 5: every bare edge is usual, the contexts
 * tell. Sites: 1 write str, 2 write len, 3 read str, 4 read len. */
static void context_reveals_what_bare_edges_hide(void **state)
{
	(void)state;
	enum { LcRd, LcWr, RmRd, RmWr };
#define C0 1u
#define C1(a) (1u << 2 | (a))
	static const struct edge edges[] = {
		{ 1, 3, C0, C0, false },             /* str, before anything else */
		{ 2, 4, C0, C1(LcRd), false },       /* len right after str */
		{ 2, 4, C1(RmRd), C1(LcRd), false }, /* len, written after its str had been read */
	};
	struct graph graph;
	struct rank_result result;
	roaring_bitmap_t *good = roaring_bitmap_of(2, 0, 1), *bad = roaring_bitmap_of(2, 0, 2);
	struct rank_input input = { .graph = &graph,
				    .passed = (const roaring_bitmap_t *const *)&good,
				    .npassed = 1,
				    .failed = (const roaring_bitmap_t *const *)&bad,
				    .nfailed = 1 };

	graph_make(edges, 3, &graph);
	rank_labelled(&input, &result);
	assert_int_equal(result.points.n, 2);
	assert_int_equal(graph.sites[result.points.items[0].point], 4);
	assert_int_equal(result.points.items[0].depth, 1); /* not 0: without context nothing is new */
	assert_int_equal(result.points.items[0].odd, 2);
	assert_int_equal(result.points.items[0].usual, 1);
	rank_free(&result);
	graph_free(&graph);
	roaring_bitmap_free(good);
	roaring_bitmap_free(bad);
}

static void nothing_in_nothing_out(void **state)
{
	(void)state;
	struct graph graph;
	struct rank_result result;
	struct rank_input input = { .graph = &graph };

	graph_make(NULL, 0, &graph);
	rank_labelled(&input, &result);
	assert_int_equal(result.points.n, 0);
	rank_free(&result);
	rank_unlabelled(&input, &result);
	assert_int_equal(result.points.n, 0);
	rank_free(&result);
	graph_free(&graph);
}

/* The bar: 100,000 nodes, 200,000 edges, 100 runs, both unions, differences and the ranking. */
enum { LARGE_EDGES = 200000, LARGE_RUNS = 100, LARGE_HALF = LARGE_RUNS / 2, LARGE_WRITERS = 16 };

struct large {
	struct edge *edges;
	roaring_bitmap_t *sets[LARGE_RUNS]; /* the second half failed */
	struct edge_order orders[LARGE_HALF];
	struct point_list lists[LARGE_HALF];
	uint32_t writers[LARGE_WRITERS];
};

/* 100,000 nodes: 2,000 sites in 50 contexts each. Half of the edges are in failed runs only. */
static void large_make(struct large *large)
{
	large->edges = memory_alloc(LARGE_EDGES * sizeof *large->edges);
	for (uint32_t i = 0; i < LARGE_EDGES; i++) {
		uint32_t a = i % 100000, b = below(100000);

		large->edges[i] = (struct edge){ .source = a / 50,
						 .sink = b / 50,
						 .source_context = (uint16_t)(1024 + a % 50 * 20),
						 .sink_context = (uint16_t)(1024 + b % 50 * 20),
						 .write = i >= 100000 };
	}
	for (uint32_t i = 0; i < LARGE_WRITERS; i++)
		large->writers[i] = 100 * i;
	for (int r = 0; r < LARGE_RUNS; r++) {
		large->sets[r] = roaring_bitmap_create();
		for (uint32_t i = 0; i < LARGE_EDGES; i++)
			if (below(100) < 60 && (r >= LARGE_HALF || i % 2))
				roaring_bitmap_add(large->sets[r], i);
		if (r < LARGE_HALF)
			continue;
		struct edge_order *order = &large->orders[r - LARGE_HALF];

		order->n = (size_t)roaring_bitmap_get_cardinality(large->sets[r]);
		order->edges = memory_alloc(order->n * sizeof *order->edges);
		roaring_bitmap_to_uint32_array(large->sets[r], order->edges);
		large->lists[r - LARGE_HALF] =
			(struct point_list){ .points = large->writers, .n = LARGE_WRITERS };
	}
}

static void large_free(struct large *large)
{
	for (int r = 0; r < LARGE_RUNS; r++)
		roaring_bitmap_free(large->sets[r]);
	for (int r = 0; r < LARGE_HALF; r++)
		free(large->orders[r].edges);
	free(large->edges);
}

static double large_rank(void *data)
{
	struct large *large = data;
	struct graph graph;
	struct rank_result result;
	struct rank_input input = { .graph = &graph,
				    .passed = (const roaring_bitmap_t *const *)large->sets,
				    .npassed = LARGE_HALF,
				    .failed = (const roaring_bitmap_t *const *)large->sets + LARGE_HALF,
				    .nfailed = LARGE_HALF,
				    .orders = large->orders,
				    .overwrites = large->lists };
	double begun = pace_cpu();

	graph_make(large->edges, LARGE_EDGES, &graph);
	roaring_bitmap_t *usual = graph_union(input.passed, input.npassed);

	for (size_t i = 0; i < input.nfailed; i++)
		roaring_bitmap_free(graph_difference(input.failed[i], usual));
	rank_labelled(&input, &result);
	double took = pace_cpu() - begun;

	print_message("%zu nodes, %d edges, %d runs: %.3f s\n", graph.nnodes, LARGE_EDGES, LARGE_RUNS, took);
	assert_int_equal(graph.nnodes, 100000);
	roaring_bitmap_free(usual);
	rank_free(&result);
	graph_free(&graph);
	return took;
}

static void large_graphs_are_ranked_in_a_second(void **state)
{
	struct large large = { 0 };

	(void)state;
	large_make(&large);
	assert_true(pace_is_below(1, large_rank, &large));
	large_free(&large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contexts_shorten),
		cmocka_unit_test(numbering_is_right),
		cmocka_unit_test(sets_are_sets),
		cmocka_unit_test(context_reveals_what_bare_edges_hide),
		cmocka_unit_test(nothing_in_nothing_out),
		cmocka_unit_test(large_graphs_are_ranked_in_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
