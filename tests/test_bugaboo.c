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
#include <time.h>

#include "analysis/bugaboo/rank.h"
#include "base/memory.h"
#include "tests/bugaboo_world.h"

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
static void large_graphs_are_ranked_in_a_second(void **state)
{
	(void)state;
	enum { EDGES = 200000, MANY = 100 };
	struct edge *edges = memory_alloc(EDGES * sizeof *edges);
	roaring_bitmap_t *sets[MANY];
	struct timespec from, to;
	struct graph graph;
	struct rank_result result;

	/* 100,000 nodes: 2,000 sites in 50 contexts each. */
	for (uint32_t i = 0; i < EDGES; i++) {
		uint32_t a = i % 100000, b = below(100000);

		edges[i] = (struct edge){ .source = a / 50,
					  .sink = b / 50,
					  .source_context = (uint16_t)(1024 + a % 50 * 20),
					  .sink_context = (uint16_t)(1024 + b % 50 * 20),
					  .write = i >= 100000 };
	}
	/* Half of the edges are in failed runs only. */
	struct edge_order orders[MANY / 2] = { 0 };
	struct point_list lists[MANY / 2];
	uint32_t writers[16];

	for (uint32_t i = 0; i < 16; i++)
		writers[i] = 100 * i;
	for (int r = 0; r < MANY / 2; r++)
		lists[r] = (struct point_list){ .points = writers, .n = 16 };

	for (int r = 0; r < MANY; r++) {
		sets[r] = roaring_bitmap_create();
		for (uint32_t i = 0; i < EDGES; i++)
			if (below(100) < 60 && (r >= MANY / 2 || i % 2))
				roaring_bitmap_add(sets[r], i);
		if (r < MANY / 2)
			continue;
		struct edge_order *order = &orders[r - MANY / 2];

		order->n = (size_t)roaring_bitmap_get_cardinality(sets[r]);
		order->edges = memory_alloc(order->n * sizeof *order->edges);
		roaring_bitmap_to_uint32_array(sets[r], order->edges);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	graph_make(edges, EDGES, &graph);
	struct rank_input input = { .graph = &graph,
				    .passed = (const roaring_bitmap_t *const *)sets,
				    .npassed = MANY / 2,
				    .failed = (const roaring_bitmap_t *const *)sets + MANY / 2,
				    .nfailed = MANY / 2,
				    .orders = orders,
				    .overwrites = lists };

	roaring_bitmap_t *usual = graph_union(input.passed, input.npassed);

	for (size_t i = 0; i < input.nfailed; i++)
		roaring_bitmap_free(graph_difference(input.failed[i], usual));
	rank_labelled(&input, &result);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;

	print_message("%zu nodes, %d edges, %d runs: %.3f s\n", graph.nnodes, EDGES, MANY, seconds);
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
	assert_true(seconds < 1);
#endif
	roaring_bitmap_free(usual);
	rank_free(&result);
	graph_free(&graph);
	for (int r = 0; r < MANY; r++)
		roaring_bitmap_free(sets[r]);
	for (int r = 0; r < MANY / 2; r++)
		free(orders[r].edges);
	free(edges);
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
