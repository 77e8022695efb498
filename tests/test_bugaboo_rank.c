/* The rankings of analysis/bugaboo against naive twins on random runs: sets as bytes,
 * everything by search.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/bugaboo/rank.h"
#include "base/memory.h"
#include "tests/bugaboo_world.h"

/* ---- naive twins ---- */

static unsigned naive_depth(const struct world *world, size_t edge, int passed, double mostly)
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
		if (!good || (good <= (unsigned)passed / 10 && bad >= mostly * (RUNS - passed)))
			return last;
	}
	return GRAPH_USUAL;
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

/* Share of the failed runs that have an edge which looks the same with as much context as makes it odd. */
static double naive_agreement(const struct world *world, const unsigned *depths, size_t edge, int passed)
{
	unsigned runs = 0;

	for (int r = passed; r < RUNS; r++) {
		bool found = false;

		for (size_t i = 0; i < world->n; i++)
			found |= world->has[r][i] &&
				 naive_same(&world->edges[i], &world->edges[edge], depths[edge]);
		runs += found;
	}
	return runs / (double)(RUNS - passed);
}

/* New by its context alone, from before all communication: counts a fifth. */
static double naive_part(const struct world *world, const unsigned *depths, size_t edge)
{
	bool empty = !naive_events(world->edges[edge].source_context, 8).n;

	return depths[edge] && (world->edges[edge].source == SITE_NIL || empty) ? 0.2 : 1;
}

/* How much it weighs against other points, that things no odder than this arrived at `other` among the
 * first `at` edges of the order. */
static double naive_before(const struct world *world, const unsigned *depths, const struct edge_order *order,
			   size_t at, uint32_t other, unsigned depth, int passed)
{
	double most = 0;

	for (size_t i = 0; i < at; i++) {
		uint32_t e = order->edges[i];

		if (naive_point(world, world->edges[e].sink) != other || depths[e] > depth)
			continue;
		most = fmax(most, naive_agreement(world, depths, e, passed) * naive_part(world, depths, e));
	}
	return most;
}

/* How much the edge at place `at` of the order counts less for what was odd before it. */
static double naive_discount(const struct world *world, const unsigned *depths,
			     const struct edge_order *order, size_t at, uint32_t point, int passed)
{
	unsigned depth = depths[order->edges[at]] + 2;
	double others = 0;
	bool late = false;

	for (uint32_t other = 0; other < world->graph.npoints; other++)
		if (other != point && !naive_aftermath(world, other, passed))
			others += naive_before(world, depths, order, at, other, depth, passed);
	for (size_t i = 0; i < at; i++) {
		const struct edge *edge = &world->edges[order->edges[i]];

		late |= depths[order->edges[i]] != GRAPH_USUAL &&
			(naive_aftermath(world, naive_point(world, edge->sink), passed) ||
			 (edge->source != SITE_NIL &&
			  naive_aftermath(world, naive_point(world, edge->source), passed)));
	}
	return (late ? 0.1 : 1) / (1 + 8 * others);
}

/* Does the edge tell about its sink? */
static bool naive_tells(const struct world *world, uint32_t source, uint32_t sink, int passed)
{
	return naive_aftermath(world, sink, passed) || source == GRAPH_NULL ||
	       !naive_aftermath(world, source, passed);
}

/* How many points other than this one may have made it; *is tells whether `point` is among them. */
static size_t naive_writers(const struct point_list *list, uint32_t sink, uint32_t point, bool *is)
{
	size_t n = 0;

	*is = false;
	for (size_t i = 0; list && i < list->n; i++) {
		n += list->points[i] != sink;
		*is |= list->points[i] == point && point != sink;
	}
	return n;
}

/* Novelty of a point in a failed run, 0 when it shows nothing odd. */
static double naive_novelty(const struct world *world, const unsigned *depths, uint32_t point, int run,
			    int passed, const struct edge_order *order, const struct point_list *writers)
{
	bool aftermath = naive_aftermath(world, point, passed);
	double best = 0;

	for (size_t at = 0; at < (order ? order->n : world->n); at++) {
		size_t i = order ? order->edges[at] : at;
		uint32_t source = naive_point(world, world->edges[i].source);
		uint32_t sink = naive_point(world, world->edges[i].sink);

		bool writer;
		size_t nwriters = naive_writers(order ? writers : NULL, sink, point, &writer);

		if (!world->has[run][i] || depths[i] == GRAPH_USUAL ||
		    (source != point && sink != point && !writer))
			continue;
		bool told = nwriters && naive_silent(world, order->edges, at, depths[i]) &&
			    naive_tells(world, source, sink, passed);

		if (told && writer) {
			double part = pow(world->graph.events + 1 - depths[i], 1.5) / (double)nwriters *
				      naive_part(world, depths, i) *
				      naive_discount(world, depths, order, at, sink, passed);

			best = part > best ? part : best;
		}
		if (source != point && sink != point)
			continue;
		uint32_t other = source == point ? sink : source;

		if (!aftermath && other != GRAPH_NULL && naive_aftermath(world, other, passed))
			continue;
		double steps = world->graph.events + 1 - depths[i];
		double novelty = pow(steps, 1.5) * (sink == point ? 1 : 0.01) * naive_part(world, depths, i);

		if (order)
			novelty *= naive_discount(world, depths, order, at, point, passed);
		if (told && sink == point)
			novelty *= 0.5;
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

/* A few points for each failed run. */
static struct point_list *random_lists(const struct world *world, int passed)
{
	struct point_list *lists = memory_alloc(RUNS * sizeof *lists);

	for (int r = passed; r < RUNS; r++) {
		struct point_list *list = &lists[r - passed];

		list->points = memory_alloc(world->graph.npoints * sizeof *list->points + 1);
		for (uint32_t point = 0; point < world->graph.npoints; point++)
			if (!below(4))
				list->points[list->n++] = point;
	}
	return lists;
}

static void labelled_is_as_the_twin(void **state)
{
	(void)state;
	for (int round = 0; round < 48; round++) {
		struct world world;
		struct rank_result result;
		int passed = round % 8 == 2 ? 1 + (int)below(3) : round % 3 ? (int)below(RUNS - 1) + 1 : 22;

		if (round % 4 == 2) /* often the same sites, told apart by contexts */
			world_make(&world, 60 + below(60), 4 + below(8), 3 + below(3));
		else
			world_make(&world, 10 + below(60), 2 + below(10), below(4));
		_cleanup_free_ unsigned *depths = memory_alloc(world.n * sizeof *depths);
		struct edge_order *orders = random_orders(&world, passed);
		struct point_list *lists = random_lists(&world, passed);
		bool listed =
			round % 2 == 0 && round % 8 != 6; /* the paper's formula does not look at them */
		struct rank_input input = {
			.graph = &world.graph,
			.orders = round % 4 ? orders : NULL,
			.overwrites = round % 8 != 6 ? lists : NULL,
			.passed = (const roaring_bitmap_t *const *)world.sets,
			.npassed = (size_t)passed,
			.failed = (const roaring_bitmap_t *const *)world.sets + passed,
			.nfailed = (size_t)(RUNS - passed),
			.order = round % 2 ? RANK_PAPER : RANK_NOVELTY,
		};

		for (size_t i = 0; i < world.n; i++)
			depths[i] = naive_depth(&world, i, passed, round % 2 ? 0.8 : 0.5);
		rank_labelled(&input, &result);
		for (uint32_t point = 0; point < world.graph.npoints; point++) {
			double novelty = 0;
			uint32_t runs = 0;
			const struct rank_point *found = NULL;

			for (int r = passed; r < RUNS; r++) {
				const struct edge_order *order = round % 4 ? &orders[r - passed] : NULL;
				double here = naive_novelty(&world, depths, point, r, passed,
							    order && order->edges ? order : NULL,
							    listed ? &lists[r - passed] : NULL);

				novelty += here;
				runs += here > 0;
			}
			for (size_t i = 0; i < result.points.n; i++)
				if (result.points.items[i].point == point)
					found = &result.points.items[i];
			assert_int_equal(found != NULL, runs > 0);
			if (!found)
				continue;
			double whole = (RUNS - passed) * pow(world.graph.events + 1.0, 1.5);
			double rarity = naive_rarity(&world, depths, point, passed);

			assert_int_equal(found->runs, runs);
			assert_true(fabs(found->rarity - rarity) < 1e-9);
			assert_true(fabs(found->score -
					 (round % 2 ? 1 - rarity : cbrt(novelty / whole * novelty / whole))) <
				    1e-9);
			if (round % 2 == 0)
				assert_int_equal(found->aftermath, naive_aftermath(&world, point, passed));
		}
		for (size_t i = 1; i < result.points.n; i++)
			assert_true(rank_compare(&result.points.items[i - 1], &result.points.items[i]) < 0);
		rank_free(&result);
		for (int i = 0; i < RUNS; i++) {
			free(orders[i].edges);
			free(lists[i].points);
		}
		free(orders);
		free(lists);
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

/* Site 1 is written before any communication, site 2 after some. Sites 3 and 4 read them in a new context
 * each; the one of 3 says that its thread has met something else, that is all. */
static void initial_data_say_little(void **state)
{
	(void)state;
#define C0 1u
#define C1(a) (1u << 2 | (a))
	static const struct edge edges[] = {
		{ 1, 3, C0, C0, false },       { 2, 4, C1(0), C1(0), false }, { 1, 3, C0, C1(2), false },
		{ 2, 4, C1(0), C1(2), false }, { 1, 3, C1(0), C1(2), false },
	};
	roaring_bitmap_t *good = roaring_bitmap_of(2, 0, 1), *bad = roaring_bitmap_of(4, 0, 1, 2, 3);
	struct graph graph;
	struct rank_input input = { .graph = &graph,
				    .passed = (const roaring_bitmap_t *const *)&good,
				    .npassed = 1,
				    .failed = (const roaring_bitmap_t *const *)&bad,
				    .nfailed = 1 };

	graph_make(edges, 5, &graph);
	for (int initial = 1; initial >= 0; initial--) {
		struct rank_result result;

		rank_labelled(&input, &result);
		assert_int_equal(graph.sites[result.points.items[0].point], initial ? 4 : 3);
		assert_true(fabs(result.points.items[0].score - 0.5) < 1e-9);
		rank_free(&result);
		/* Written later, the edge to 3 counts as the one to 4, and was seen first. */
		roaring_bitmap_remove(bad, 2);
		roaring_bitmap_add(bad, 4);
		roaring_bitmap_remove(bad, 3);
	}
	graph_free(&graph);
	roaring_bitmap_free(good);
	roaring_bitmap_free(bad);
}

/* Ten failed runs. At site 3 something new arrives first, at site 4 something as new after it: in all runs the
 * same at 4, at 3 in one way or in ten. What they agree on makes the rest its consequence. */
static void agreement_makes_consequences(void **state)
{
	(void)state;
	enum { MANY = 10 };
	struct edge edges[2 * MANY + 2] = { { 1, 3, C0, C0, false }, { 2, 4, C0, C0, false } };
	roaring_bitmap_t *good = roaring_bitmap_of(2, 0, 1), *bad[MANY];
	struct edge_order orders[MANY];
	uint32_t ordered[MANY][2];
	double score[2];

	for (int ways = 0; ways < 2; ways++) {
		struct graph graph;
		struct rank_result result;

		for (unsigned i = 0; i < MANY; i++) {
			unsigned way = ways ? i : 0;

			edges[2 + i] =
				(struct edge){ 1, 3, (uint16_t)C1(way % 4), (uint16_t)C1(way / 4), false };
			edges[2 + MANY + i] = (struct edge){ 2, 4, C1(3), C1(3), false };
			ordered[i][0] = 2 + (ways ? i : 0);
			ordered[i][1] = 2 + MANY;
			orders[i] = (struct edge_order){ .edges = ordered[i], .n = 2 };
			bad[i] = roaring_bitmap_of(2, ordered[i][0], ordered[i][1]);
		}
		graph_make(edges, 2 + MANY + 1, &graph);
		struct rank_input input = { .graph = &graph,
					    .passed = (const roaring_bitmap_t *const *)&good,
					    .npassed = 1,
					    .failed = (const roaring_bitmap_t *const *)bad,
					    .nfailed = MANY,
					    .orders = orders };

		rank_labelled(&input, &result);
		for (size_t i = 0; i < result.points.n; i++)
			if (graph.sites[result.points.items[i].point] == 4)
				score[ways] = result.points.items[i].score;
		rank_free(&result);
		graph_free(&graph);
		for (unsigned i = 0; i < MANY; i++)
			roaring_bitmap_free(bad[i]);
	}
	roaring_bitmap_free(good);
	assert_true(fabs(score[0] - 0.5 / cbrt(9 * 9)) < 1e-9);
	assert_true(fabs(score[1] - 0.5 / cbrt(1.8 * 1.8)) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labelled_is_as_the_twin),
		cmocka_unit_test(unlabelled_is_as_the_twin),
		cmocka_unit_test(initial_data_say_little),
		cmocka_unit_test(agreement_makes_consequences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
