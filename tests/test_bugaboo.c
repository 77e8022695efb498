/* The graphs and rankings of analysis/bugaboo against naive twins on random graphs,
 * by hand on small ones, and the bar on time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/bugaboo/graph.h"
#include "analysis/bugaboo/rank.h"
#include "base/memory.h"

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- a world of random runs ---- */

#define RUNS 30

struct world {
	struct edge *edges;
	size_t n;
	roaring_bitmap_t *sets[RUNS];
	uint8_t *has[RUNS]; /* the same as bytes */
	struct graph graph;
	uint32_t *points;
};

static uint16_t random_context(unsigned events)
{
	unsigned held = below(events + 1), context = 1;

	for (unsigned i = 0; i < held; i++)
		context = context << 2 | below(4);
	return (uint16_t)context;
}

static bool same_edge(const struct edge *a, const struct edge *b)
{
	return a->source == b->source && a->sink == b->sink && a->source_context == b->source_context &&
	       a->sink_context == b->sink_context && a->write == b->write;
}

static void world_make(struct world *world, size_t n, uint32_t sites, unsigned events)
{
	*world = (struct world){ .edges = memory_alloc(n * sizeof *world->edges) };
	for (size_t tries = 0; world->n < n && tries < 20 * n; tries++) {
		struct edge edge = { .source = below(8) ? 10 + 3 * below(sites) : SITE_NIL,
				     .sink = 10 + 3 * below(sites),
				     .sink_context = random_context(events),
				     .write = below(2) };

		edge.source_context = edge.source == SITE_NIL ? 0 : random_context(events);
		bool known = false;

		for (size_t i = 0; i < world->n && !known; i++)
			known = same_edge(&edge, &world->edges[i]);
		if (!known)
			world->edges[world->n++] = edge;
	}
	n = world->n;
	for (int r = 0; r < RUNS; r++) {
		world->sets[r] = roaring_bitmap_create();
		world->has[r] = memory_alloc(n);
		for (uint32_t i = 0; i < n; i++)
			/* Every seventh mostly in the last runs, as what failed runs have. */
			if (i % 7 == 0 ? below(100) < (r < 22 ? 4 : 95) : below(100) < i * 100 / n) {
				roaring_bitmap_add(world->sets[r], i);
				world->has[r][i] = 1;
			}
	}
	graph_make(world->edges, n, &world->graph);
	world->points = memory_alloc(world->graph.nsites * sizeof *world->points + 1);
	for (size_t i = 0; i < world->graph.nsites; i++)
		world->points[i] = (uint32_t)(i / 2); /* two sites to a code point */
	graph_points(&world->graph, world->points, (world->graph.nsites + 1) / 2);
}

static void world_free(struct world *world)
{
	for (int r = 0; r < RUNS; r++) {
		roaring_bitmap_free(world->sets[r]);
		free(world->has[r]);
	}
	graph_free(&world->graph);
	free(world->points);
	free(world->edges);
}

/* ---- naive twins: events as lists, sets as bytes, everything by search ---- */

struct events {
	int n, event[8];
};

static struct events naive_events(uint16_t context, unsigned last)
{
	struct events events = { 0 };
	int all[8], n = 0;

	while (context > 1) {
		all[n++] = context & 3;
		context >>= 2;
	}
	for (int i = 0; i < n && i < (int)last; i++)
		events.event[events.n++] = all[i];
	return events;
}

static bool naive_same_end(uint32_t a, uint16_t a_context, uint32_t b, uint16_t b_context, unsigned last)
{
	struct events x = naive_events(a_context, last), y = naive_events(b_context, last);

	return a == b && x.n == y.n && !memcmp(x.event, y.event, (size_t)x.n * sizeof *x.event);
}

static bool naive_same(const struct edge *a, const struct edge *b, unsigned last)
{
	return a->write == b->write &&
	       naive_same_end(a->source, a->source_context, b->source, b->source_context, last) &&
	       naive_same_end(a->sink, a->sink_context, b->sink, b->sink_context, last);
}

static unsigned naive_depth(const struct world *world, size_t edge, int passed)
{
	for (unsigned last = 0; last <= world->graph.events; last++) {
		unsigned good = 0, bad = 0;

		for (int r = 0; r < RUNS; r++) {
			unsigned here = 0;

			for (size_t i = 0; i < world->n; i++)
				here += world->has[r][i] &&
					naive_same(&world->edges[i], &world->edges[edge], last);
			good += r < passed ? here : 0;
			bad += r >= passed && here;
		}
		if (!good || (good <= (unsigned)passed / 20 && bad >= 0.8 * (RUNS - passed)))
			return last;
	}
	return GRAPH_USUAL;
}

static uint32_t naive_point(const struct world *world, uint32_t site)
{
	for (size_t i = 0; i < world->graph.nsites; i++)
		if (world->graph.sites[i] == site)
			return world->points[i];
	return GRAPH_NULL;
}

static bool naive_aftermath(const struct world *world, uint32_t point, int passed)
{
	for (int r = 0; r < passed; r++)
		for (size_t i = 0; i < world->n; i++)
			if (world->has[r][i] && (naive_point(world, world->edges[i].sink) == point ||
						 naive_point(world, world->edges[i].source) == point))
				return false;
	return true;
}

/* How much the edge at place `at` of the order counts less for what was odd before it. */
static double naive_discount(const struct world *world, const unsigned *depths,
			     const struct edge_order *order, size_t at, uint32_t point, int passed)
{
	unsigned depth = depths[order->edges[at]], others = 0;
	bool late = false;

	for (uint32_t other = 0; other < world->graph.npoints; other++) {
		bool odd = false;

		for (size_t i = 0; i < at; i++) {
			const struct edge *edge = &world->edges[order->edges[i]];

			odd |= naive_point(world, edge->sink) == other &&
			       depths[order->edges[i]] <= depth + 2;
		}
		others += odd && other != point && !naive_aftermath(world, other, passed);
	}
	for (size_t i = 0; i < at; i++) {
		const struct edge *edge = &world->edges[order->edges[i]];

		late |= depths[order->edges[i]] != GRAPH_USUAL &&
			(naive_aftermath(world, naive_point(world, edge->sink), passed) ||
			 (edge->source != SITE_NIL &&
			  naive_aftermath(world, naive_point(world, edge->source), passed)));
	}
	return (late ? 0.1 : 1) / (1 + 0.3 * others);
}

/* Novelty of a point in a failed run, 0 when it shows nothing odd. */
static double naive_novelty(const struct world *world, const unsigned *depths, uint32_t point, int run,
			    int passed, const struct edge_order *order)
{
	bool aftermath = naive_aftermath(world, point, passed);
	double best = 0;

	for (size_t at = 0; at < (order ? order->n : world->n); at++) {
		size_t i = order ? order->edges[at] : at;
		uint32_t source = naive_point(world, world->edges[i].source);
		uint32_t sink = naive_point(world, world->edges[i].sink);

		if (!world->has[run][i] || depths[i] == GRAPH_USUAL || (source != point && sink != point))
			continue;
		uint32_t other = source == point ? sink : source;

		if (!aftermath && other != GRAPH_NULL && naive_aftermath(world, other, passed))
			continue;
		double novelty = (world->graph.events + 1 - depths[i]) * (sink == point ? 1 : 0.01);

		if (order)
			novelty *= naive_discount(world, depths, order, at, point, passed);
		best = novelty > best ? novelty : best;
	}
	return best;
}

static double naive_rarity(const struct world *world, const unsigned *depths, uint32_t point, int passed)
{
	double squares = 0, total = 0;

	for (uint32_t context = 1; context < 0x8000; context++) {
		uint32_t runs = 0;

		for (int r = passed; r < RUNS; r++) {
			bool found = false;

			for (size_t i = 0; i < world->n; i++) {
				const struct edge *e = &world->edges[i];

				if (world->has[r][i] && depths[i] != GRAPH_USUAL &&
				    ((e->sink_context == context && naive_point(world, e->sink) == point) ||
				     (e->source_context == context &&
				      naive_point(world, e->source) == point)))
					found = true;
			}
			runs += found;
		}
		squares += (double)runs * runs;
		total += runs;
	}
	return total > 0 ? squares / (total * total) : 1;
}

/* ---- tests ---- */

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

/* The edges of each failed run in a random order; some runs do not know theirs. */
static struct edge_order *random_orders(const struct world *world, int passed)
{
	struct edge_order *orders = memory_alloc(RUNS * sizeof *orders);

	for (int r = passed; r < RUNS; r++) {
		struct edge_order *order = &orders[r - passed];

		if (!below(5))
			continue;
		order->edges = memory_alloc(world->n * sizeof *order->edges);
		for (uint32_t i = 0; i < world->n; i++) {
			if (!world->has[r][i])
				continue;
			uint32_t at = below((uint32_t)order->n + 1);

			order->edges[order->n++] = order->edges[at];
			order->edges[at] = i;
		}
	}
	return orders;
}

static void labelled_is_as_the_twin(void **state)
{
	(void)state;
	for (int round = 0; round < 40; round++) {
		struct world world;
		struct rank_result result;
		int passed = round % 3 ? (int)below(RUNS - 1) + 1 : 22;

		world_make(&world, 10 + below(60), 2 + below(10), below(4));
		_cleanup_free_ unsigned *depths = memory_alloc(world.n * sizeof *depths);
		struct edge_order *orders = random_orders(&world, passed);
		struct rank_input input = {
			.graph = &world.graph,
			.orders = round % 4 ? orders : NULL,
			.passed = (const roaring_bitmap_t *const *)world.sets,
			.npassed = (size_t)passed,
			.failed = (const roaring_bitmap_t *const *)world.sets + passed,
			.nfailed = (size_t)(RUNS - passed),
			.order = round % 2 ? RANK_PAPER : RANK_NOVELTY,
		};

		for (size_t i = 0; i < world.n; i++)
			depths[i] = naive_depth(&world, i, passed);
		rank_labelled(&input, &result);
		for (uint32_t point = 0; point < world.graph.npoints; point++) {
			double novelty = 0;
			uint32_t runs = 0;
			const struct rank_point *found = NULL;

			for (int r = passed; r < RUNS; r++) {
				const struct edge_order *order = round % 4 ? &orders[r - passed] : NULL;
				double here = naive_novelty(&world, depths, point, r, passed,
							    order && order->edges ? order : NULL);

				novelty += here;
				runs += here > 0;
			}
			for (size_t i = 0; i < result.points.n; i++)
				if (result.points.items[i].point == point)
					found = &result.points.items[i];
			assert_int_equal(found != NULL, runs > 0);
			if (!found)
				continue;
			double whole = (RUNS - passed) * (world.graph.events + 1.0);
			double rarity = naive_rarity(&world, depths, point, passed);

			assert_int_equal(found->runs, runs);
			assert_true(fabs(found->rarity - rarity) < 1e-9);
			assert_true(fabs(found->score - (round % 2 ? 1 - rarity : novelty / whole)) < 1e-9);
			if (round % 2 == 0)
				assert_int_equal(found->aftermath, naive_aftermath(&world, point, passed));
		}
		for (size_t i = 1; i < result.points.n; i++)
			assert_true(rank_compare(&result.points.items[i - 1], &result.points.items[i]) < 0);
		rank_free(&result);
		for (int i = 0; i < RUNS; i++)
			free(orders[i].edges);
		free(orders);
		world_free(&world);
	}
}

/* Runs that show the edge when only `last` events of context are looked at. */
static uint32_t naive_runs(const struct world *world, size_t edge, unsigned last)
{
	uint32_t runs = 0;

	for (int r = 0; r < RUNS; r++) {
		bool found = false;

		for (size_t i = 0; i < world->n; i++)
			found |= world->has[r][i] && naive_same(&world->edges[i], &world->edges[edge], last);
		runs += found;
	}
	return runs;
}

static void unlabelled_is_as_the_twin(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		struct world world;
		struct rank_result result;

		world_make(&world, 10 + below(50), 2 + below(10), below(4));
		_cleanup_free_ uint32_t *ran = memory_alloc(world.graph.npoints * sizeof *ran + 1);
		struct rank_input input = { .graph = &world.graph,
					    .failed = (const roaring_bitmap_t *const *)world.sets,
					    .nfailed = RUNS,
					    .ran_failed = ran };

		for (uint32_t point = 0; point < world.graph.npoints; point++)
			ran[point] = RUNS - below(2);
		rank_unlabelled(&input, &result);
		for (size_t i = 0; i < result.points.n; i++) {
			const struct rank_point *point = &result.points.items[i];
			double best = -1;

			for (size_t e = 0; e < world.n; e++) {
				uint32_t source = naive_point(&world, world.edges[e].source);
				uint32_t sink = naive_point(&world, world.edges[e].sink), could = RUNS,
					 shown = 0;

				if ((source != point->point && sink != point->point) ||
				    !naive_runs(&world, e, world.graph.events))
					continue;
				for (unsigned last = 0; last <= world.graph.events; last++)
					shown += naive_runs(&world, e, last);
				/* A point ran at least where it communicated. */
				for (int end = 0; end < 2; end++) {
					uint32_t at = end ? sink : source, communicated = 0;

					if (at == GRAPH_NULL)
						continue;
					for (int r = 0; r < RUNS; r++) {
						bool here = false;

						for (size_t k = 0; k < world.n; k++)
							here |= world.has[r][k] &&
								(naive_point(&world, world.edges[k].source) ==
									 at ||
								 naive_point(&world, world.edges[k].sink) ==
									 at);
						communicated += here;
					}
					uint32_t most = communicated > ran[at] ? communicated : ran[at];

					could = most < could ? most : could;
				}
				double rare = 1 - shown / ((double)could * (world.graph.events + 1));

				best = rare > best ? rare : best;
			}
			assert_true(fabs(point->score - best) < 1e-9);
		}
		rank_free(&result);
		world_free(&world);
	}
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
				    .orders = orders };

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
		cmocka_unit_test(labelled_is_as_the_twin),
		cmocka_unit_test(unlabelled_is_as_the_twin),
		cmocka_unit_test(context_reveals_what_bare_edges_hide),
		cmocka_unit_test(nothing_in_nothing_out),
		cmocka_unit_test(large_graphs_are_ranked_in_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
