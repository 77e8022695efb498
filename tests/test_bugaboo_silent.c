/* Writes that have an event but no edge: found in contexts as the twin finds them, where
 * they may have been made, and what they count for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/bugaboo/campaign.h"
#include "analysis/bugaboo/rank.h"
#include "analysis/bugaboo/silent.h"
#include "tests/bugaboo_world.h"

#define C0 1u
#define C1(a) (1u << 2 | (a))
#define C2(a, b) (1u << 4 | (a) << 2 | (b))
#define C3(a, b, c) (1u << 6 | (a) << 4 | (b) << 2 | (c))
enum { LR = EVENT_LOCAL_READ, LW = EVENT_LOCAL_WRITE, RR = EVENT_REMOTE_READ, RW = EVENT_REMOTE_WRITE };

static void contexts_are_as_the_twin(void **state)
{
	(void)state;
	unsigned found = 0, asked = 0;

	for (int round = 0; round < 60; round++) {
		struct world world;
		struct silent silent;

		world_make(&world, 10 + below(60), 4, 1 + below(5));
		_cleanup_free_ uint32_t *order = memory_alloc(world.n * sizeof *order);

		for (uint32_t i = 0; i < world.n; i++) {
			uint32_t at = below(i + 1);

			order[i] = order[at];
			order[at] = i;
		}
		silent_make(&silent, world.graph.events);
		for (size_t n = world.n;; n /= 2) { /* what an earlier graph noted is forgotten */
			silent_begin(&silent);
			for (size_t i = 0; i < n; i++) {
				const struct edge *edge = &world.edges[order[i]];
				unsigned last = below(7);
				bool is = silent_among(&silent, edge->sink_context, last);

				assert_int_equal(is, naive_silent(&world, order, i, last));
				found += is;
				asked++;
				silent_note(&silent, edge);
			}
			if (!n)
				break;
		}
		silent_free(&silent);
		world_free(&world);
	}
	assert_true(found > asked / 20 && found < asked / 2);
}

/* Contexts of 8 events have no room for the bit that tells how many there are. */
static void eight_events_are_always_full(void **state)
{
	(void)state;
	struct silent silent;
	struct edge edge = { .source = 1, .sink = 2, .sink_context = 0x1234, .write = true };

	silent_make(&silent, 8);
	silent_begin(&silent);
	assert_false(silent_among(&silent, 0, 8));
	assert_false(silent_among(&silent, 0x4000, 7)); /* the oldest is a write, and is not asked for */
	assert_true(silent_among(&silent, 0x4000, 8));
	assert_true(silent_among(&silent, 0x1234 << 2 & 0xffff, 3));
	assert_true(silent_among(&silent, (0x1234 << 2 | LW) & 0xffff, 1));
	silent_note(&silent, &edge);
	assert_false(silent_among(&silent, (0x1234 << 2 | LW) & 0xffff, 1));
	assert_true(silent_among(&silent, (0x1235 << 2 | LW) & 0xffff, 1));
	silent_free(&silent);
}

/* Four sites, each a point: at 10 and 12 edges to writes arrive, at 11 and 13 one to a read. */
static void a_write_with_an_edge_is_another(void **state)
{
	(void)state;
	static const struct edge edges[] = { { 11, 10, C0, C0, true },
					     { 10, 11, C0, C0, false },
					     { 11, 12, C0, C0, true },
					     { 12, 13, C0, C0, false } };
	roaring_bitmap_t *all = roaring_bitmap_of(4, 0, 1, 2, 3), *some = roaring_bitmap_of(3, 0, 1, 3);
	struct graph graph;
	struct point_list list;

	graph_make(edges, 4, &graph);
	overwrites_list(&graph, some, (const uint8_t[]){ 1, 0, 1, 0 }, &list);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.points[0], 2);
	free(list.points);
	/* One to a read does not matter. */
	overwrites_list(&graph, some, (const uint8_t[]){ 1, 1, 0, 0 }, &list);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.points[0], 1);
	free(list.points);
	/* With an edge at both, either may have done it once more without. */
	overwrites_list(&graph, all, (const uint8_t[]){ 1, 0, 1, 0 }, &list);
	assert_int_equal(list.n, 2);
	free(list.points);
	overwrites_list(&graph, all, (const uint8_t[]){ 0, 0, 0, 0 }, &list);
	assert_int_equal(list.n, 0);
	free(list.points);
	graph_free(&graph);
	roaring_bitmap_free(all);
	roaring_bitmap_free(some);
}

static void among_many_it_is_nobody(void **state)
{
	(void)state;
	struct edge edges[OVERWRITES_MOST + 1];
	uint8_t wrote[OVERWRITES_MOST + 2] = { 0 };
	roaring_bitmap_t *none = roaring_bitmap_create();
	struct graph graph;
	struct point_list list;

	for (uint32_t i = 0; i <= OVERWRITES_MOST; i++)
		edges[i] = (struct edge){ i, OVERWRITES_MOST + 1, C0, C0, false };
	graph_make(edges, OVERWRITES_MOST + 1, &graph);
	for (uint32_t i = 0; i <= OVERWRITES_MOST; i++) {
		wrote[i] = 1;
		overwrites_list(&graph, none, wrote, &list);
		assert_int_equal(list.n, i < OVERWRITES_MOST ? i + 1 : 0);
		free(list.points);
	}
	graph_free(&graph);
	roaring_bitmap_free(none);
}

/* Site 3 reads what 1 wrote, in the failed run after a write of its thread that has no edge. Sites 4 and 5 may
 * have made it: one of them alone counts more than 3, two of them no more. That 3
 * itself writes somewhere changes nothing. */
static void a_write_without_an_edge_counts(void **state)
{
	(void)state;
	static const struct edge edges[] = { { 1, 3, C1(LW), C1(LR), false },
					     { 4, 2, C0, C1(RR), false },
					     { 5, 2, C0, C1(RR), false },
					     { 1, 3, C1(LW), C3(LR, RW, LW), false },
					     { 1, 2, C1(LW), C2(LR, RW), true } };
	roaring_bitmap_t *good = roaring_bitmap_of(4, 0, 1, 2, 4), *bad = roaring_bitmap_of(1, 3);
	uint32_t ordered[] = { 4, 3 }, points[] = { 2, 3, 4 }; /* sites 3, 4 and 5 */
	struct graph graph;

	graph_make(edges, 5, &graph);
	for (int known = 0; known < 4; known++) { /* of the two; 3: there is an edge after all */
		const struct edge_order order = { .edges = known == 3 ? ordered : ordered + 1,
						  .n = known == 3 ? 2 : 1 };
		const struct point_list list = { .points = points, .n = known == 3 ? 2 : (size_t)known + 1 };
		struct rank_input input = { .graph = &graph,
					    .passed = (const roaring_bitmap_t *const *)&good,
					    .npassed = 1,
					    .failed = (const roaring_bitmap_t *const *)&bad,
					    .nfailed = 1,
					    .orders = &order,
					    .overwrites = known ? &list : NULL };
		struct rank_result result;

		if (known == 3)
			roaring_bitmap_add(bad, 4);
		rank_labelled(&input, &result);
		const struct rank_point *first = &result.points.items[0];
		size_t told = 0;

		for (size_t i = 0; i < result.points.n; i++)
			told += result.points.items[i].silent;
		assert_int_equal(graph.sites[first->point], known == 1 ? 4 : 3);
		assert_int_equal(told, known == 3 ? 0 : known);
		assert_true(fabs(result.points.items[known == 1].score / first->score -
				 (known == 1 ? cbrt(0.25) : 1)) < 1e-9);
		assert_int_equal(first->odd, 3);
		assert_int_equal(first->usual, 0);
		assert_int_equal(first->depth, 1);
		rank_free(&result);
	}
	graph_free(&graph);
	roaring_bitmap_free(good);
	roaring_bitmap_free(bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contexts_are_as_the_twin),
		cmocka_unit_test(eight_events_are_always_full),
		cmocka_unit_test(a_write_with_an_edge_is_another),
		cmocka_unit_test(among_many_it_is_nobody),
		cmocka_unit_test(a_write_without_an_edge_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
