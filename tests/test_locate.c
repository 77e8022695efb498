/* LOCON's procedures against naive twins on random campaigns; the finer levels are in
 * test_locate_levels.c, what the answers say in test_locate_rules.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/locon/locate_answer.h"
#include "analysis/locon/vote.h"

#define SITES 14
#define PLACES SITES
#define MOST_PAIRS 64
#define MOST_RUNS 24

/* A campaign in memory. */
struct world {
	struct pair pairs[MOST_PAIRS];
	struct pair_identity identities[MOST_PAIRS];
	uint32_t places[SITES];
	roaring_bitmap_t *passed[MOST_RUNS];
	struct pair failed[MOST_PAIRS], reference[MOST_PAIRS];
	uint32_t failed_indexes[MOST_PAIRS], reference_indexes[MOST_PAIRS];
	roaring_bitmap_t *ran, *ran_passing;
	struct locon_input input;
};

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static void world_free(struct world *world)
{
	for (size_t i = 0; i < world->input.npassed; i++)
		roaring_bitmap_free(world->passed[i]);
	if (world->ran) {
		roaring_bitmap_free(world->ran);
		roaring_bitmap_free(world->ran_passing);
	}
	free(world);
}

static bool same_identity(const struct pair *a, const struct pair *b)
{
	return a->kind == b->kind && a->head_site == b->head_site && a->tail_site == b->tail_site &&
	       a->head_thread == b->head_thread && a->tail_thread == b->tail_thread;
}

static void draw_pairs(struct world *world, size_t wanted)
{
	while (world->input.npairs < wanted) {
		struct pair pair = { .kind = (enum pair_kind)(1 + draw(3)),
				     .head_site = draw(SITES),
				     .tail_site = draw(SITES),
				     .head_thread = draw(3) };
		bool known = false;

		pair.tail_thread = (pair.head_thread + 1 + draw(2)) % 3;
		for (size_t i = 0; i < world->input.npairs && !known; i++)
			known = same_identity(&world->pairs[i], &pair);
		if (known)
			continue;
		world->identities[world->input.npairs] = pair_identity_of(&pair);
		world->pairs[world->input.npairs++] = pair;
	}
}

static size_t draw_run(const struct world *world, uint32_t share, struct pair *pairs, uint32_t *indexes)
{
	size_t n = 0;

	for (size_t i = 0; i < world->input.npairs; i++) {
		if (draw(100) >= share)
			continue;
		pairs[n] = world->pairs[i];
		pairs[n].head_order = 1 + draw(40);
		pairs[n].tail_order = 1 + draw(40);
		pairs[n].address = 8 * draw(5);
		pairs[n].head_loop.site = pairs[n].tail_loop.site = LOOP_NONE;
		indexes[n++] = (uint32_t)i;
	}
	for (size_t i = n; i > 1; i--) { /* any order of occurrence */
		size_t j = draw((uint32_t)i);
		struct pair pair = pairs[i - 1];
		uint32_t index = indexes[i - 1];

		pairs[i - 1] = pairs[j];
		indexes[i - 1] = indexes[j];
		pairs[j] = pair;
		indexes[j] = index;
	}
	return n;
}

/* Some pairs are in all passing runs, some in none, some only in every other one. */
static bool is_usual(uint32_t pair, size_t run, uint64_t number, uint32_t share)
{
	if (pair % 5 == 0)
		return true;
	if (pair % 11 == 1)
		return false;
	if (number % 2 && pair % 3)
		return run % 2 == pair % 2;
	return draw(100) < share;
}

static struct world *draw_world(uint64_t number)
{
	struct world *world = memory_alloc(sizeof *world);
	uint32_t share;

	seed = number * 977 + 1;
	share = 20 + draw(75);
	for (size_t i = 0; i < SITES; i++)
		world->places[i] = number % 3 ? (uint32_t)i : draw(PLACES);
	draw_pairs(world, 10 + draw(MOST_PAIRS - 10));
	world->input.npassed = 1 + draw(MOST_RUNS);
	for (size_t r = 0; r < world->input.npassed; r++) {
		world->passed[r] = roaring_bitmap_create();
		for (uint32_t i = 0; i < world->input.npairs; i++)
			if (is_usual(i, r, number, share))
				roaring_bitmap_add(world->passed[r], i);
	}
	world->input.failed.npairs = draw_run(world, share, world->failed, world->failed_indexes);
	world->input.nreference = draw_run(world, 80, world->reference, world->reference_indexes);
	if (draw(2)) {
		world->ran = roaring_bitmap_create();
		world->ran_passing = roaring_bitmap_create();
		for (uint32_t p = 0; p < PLACES; p++) {
			if (draw(4))
				roaring_bitmap_add(world->ran, p);
			if (draw(6))
				roaring_bitmap_add(world->ran_passing, p);
		}
	}
	world->input.pairs = world->identities;
	world->input.places = world->places;
	world->input.nsites = SITES;
	world->input.nplaces = PLACES;
	world->input.passed = (const roaring_bitmap_t *const *)world->passed;
	world->input.failed.pairs = world->failed;
	world->input.failed.indexes = world->failed_indexes;
	world->input.reference = world->reference_indexes;
	world->input.ran = world->ran;
	world->input.ran_passing = world->ran_passing;
	return world;
}

/* ---- naive twins: sets by scanning ---- */

static bool same_key(const struct world *world, const struct pair *a, const struct pair *b)
{
	return a->kind == b->kind && world->places[a->head_site] == world->places[b->head_site] &&
	       world->places[a->tail_site] == world->places[b->tail_site];
}

static bool run_shows(const struct world *world, size_t run, const struct pair *pair)
{
	for (uint32_t i = 0; i < world->input.npairs; i++)
		if (roaring_bitmap_contains(world->passed[run], i) && same_key(world, &world->pairs[i], pair))
			return true;
	return false;
}

static size_t shown(const struct world *world, const struct pair *pair)
{
	size_t n = 0;

	for (size_t r = 0; r < world->input.npassed; r++)
		n += run_shows(world, r, pair);
	return n;
}

static bool failed_shows(const struct world *world, const struct pair *pair, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (same_key(world, &world->failed[i], pair))
			return true;
	return false;
}

static bool is_strange(const struct world *world, const struct pair *pair)
{
	return world->ran_passing &&
	       (!roaring_bitmap_contains(world->ran_passing, world->places[pair->head_site]) ||
		!roaring_bitmap_contains(world->ran_passing, world->places[pair->tail_site]));
}

static size_t naive_first(const struct world *world, uint32_t tolerance, uint32_t *out)
{
	size_t n = world->input.failed.npairs, kept = 0;
	bool suspect[MOST_PAIRS] = { false };

	for (size_t i = 0; i < n; i++)
		suspect[i] = shown(world, &world->failed[i]) <= tolerance &&
			     !failed_shows(world, &world->failed[i], i);
	for (int strange = 0; strange < 2; strange++)
		for (size_t j = 0; j < n; j++) {
			bool keep = suspect[j] && is_strange(world, &world->failed[j]) == strange;

			for (size_t i = 0; i < n && keep && !strange; i++)
				keep = !(suspect[i] && !is_strange(world, &world->failed[i]) &&
					 locon_predictable(&world->failed[i], &world->failed[j]));
			if (keep)
				out[kept++] = (uint32_t)j;
		}
	return kept;
}

static void check_first(const struct world *world, const struct locon *locon)
{
	for (uint32_t tolerance = 0; tolerance < 3; tolerance++) {
		uint32_t expected[MOST_PAIRS];
		size_t n = naive_first(world, tolerance, expected);
		struct locon_suspects found;

		locon_first(locon, tolerance, false, &found);
		assert_int_equal(found.n, n);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(found.items[i].at, expected[i]);
		VEC_FREE(&found);
	}
}

static struct pair turned(const struct pair *pair)
{
	return (struct pair){ .kind = pair->kind == PAIR_WRITE_READ   ? PAIR_READ_WRITE
				      : pair->kind == PAIR_READ_WRITE ? PAIR_WRITE_READ
								      : PAIR_WRITE_WRITE,
			      .head_site = pair->tail_site,
			      .tail_site = pair->head_site };
}

static bool naive_missing(const struct world *world, const struct pair *pair)
{
	struct pair back = turned(pair);

	if (failed_shows(world, pair, world->input.failed.npairs))
		return false;
	if (world->ran && !roaring_bitmap_contains(world->ran, world->places[pair->tail_site]))
		return false;
	return same_key(world, &back, pair) ||
	       (!shown(world, &back) && !failed_shows(world, &back, world->input.failed.npairs));
}

/* Do the same passing runs show both? */
static bool always_together(const struct world *world, const struct pair *a, const struct pair *b)
{
	for (size_t r = 0; r < world->input.npassed; r++)
		if (run_shows(world, r, a) != run_shows(world, r, b))
			return false;
	return true;
}

static bool touches(const struct world *world, const struct pair *a, const struct pair *b)
{
	uint32_t one[] = { world->places[a->head_site], world->places[a->tail_site] };
	uint32_t two[] = { world->places[b->head_site], world->places[b->tail_site] };

	return one[0] == two[0] || one[0] == two[1] || one[1] == two[0] || one[1] == two[1];
}

static bool naive_coupled(const struct world *world, const struct pair *pair)
{
	for (size_t i = 0; i < world->input.failed.npairs; i++)
		if (!touches(world, pair, &world->failed[i]) &&
		    always_together(world, pair, &world->failed[i]))
			return true;
	return false;
}

static void check_second(const struct world *world, const struct locon *locon)
{
	size_t n = world->input.npassed, expected = 0;
	struct locon_missings found;

	locon_second(locon, &found);
	for (size_t i = 0; i < world->input.npairs; i++) {
		const struct pair *pair = &world->pairs[i];
		size_t seen = shown(world, pair);
		bool first = true, wanted = naive_missing(world, pair);

		for (size_t j = 0; j < i; j++)
			first &= !same_key(world, &world->pairs[j], pair);
		if (!first || !wanted || (seen < n && (seen < 3 || !naive_coupled(world, pair))))
			continue;
		expected++;
		size_t at = 0;

		while (at < found.n && found.items[at].key != locon->key_of[i])
			at++;
		assert_true(at < found.n);
		assert_int_equal(found.items[at].partner == LOCON_NONE, seen == n);
	}
	assert_int_equal(found.n, expected);
	VEC_FREE(&found);
}

static bool naive_together(const struct world *world, enum locon_level level, const struct pair *p,
			   const struct pair *q)
{
	for (size_t r = 0; r < world->input.npassed; r++)
		for (uint32_t i = 0; i < world->input.npairs; i++)
			for (uint32_t j = 0; j < world->input.npairs; j++)
				if (roaring_bitmap_contains(world->passed[r], i) &&
				    roaring_bitmap_contains(world->passed[r], j) &&
				    same_key(world, &world->pairs[i], p) &&
				    same_key(world, &world->pairs[j], q) &&
				    (level == LOCON_SITE ||
				     locon_opposed(&world->pairs[i], &world->pairs[j])))
					return true;
	return false;
}

static bool naive_couple(const struct world *world, enum locon_level level, size_t a, size_t b)
{
	const struct pair *p = &world->failed[a], *q = &world->failed[b];
	size_t n = world->input.npassed, of_p = shown(world, p), of_q = shown(world, q), both = 0;

	if (!of_p || !of_q || p->address == q->address || !locon_opposed(p, q))
		return false;
	if (level == LOCON_SITE)
		return of_p < n && of_q < n && !failed_shows(world, p, a) && !failed_shows(world, q, b) &&
		       (double)of_p * (double)of_q / (double)n >= 3 && !naive_together(world, level, p, q);
	for (size_t r = 0; r < n; r++)
		both += run_shows(world, r, p) && run_shows(world, r, q);
	return both >= 5 && !naive_together(world, level, p, q);
}

/* Of all couples, those that no other couple makes a mere consequence. */
static void check_third(const struct world *world, const struct locon *locon, enum locon_level level)
{
	static struct locon_couple all[MOST_PAIRS * MOST_PAIRS];
	size_t n = 0, expected = 0;
	struct locon_couples found;

	locon_third(locon, level, &found);
	for (size_t a = 0; a < world->input.failed.npairs; a++)
		for (size_t b = a + 1; b < world->input.failed.npairs; b++)
			if (naive_couple(world, level, a, b))
				all[n++] =
					(struct locon_couple){ .first = (uint32_t)a, .second = (uint32_t)b };
	for (size_t i = 0; i < n; i++) {
		bool dropped = false;

		for (size_t j = 0; j < n && !dropped; j++) {
			const struct pair *mine[] = { &world->failed[all[i].first],
						      &world->failed[all[i].second] };
			const struct pair *other[] = { &world->failed[all[j].first],
						       &world->failed[all[j].second] };
			bool implies = false, implied = false;

			for (int a = 0; a < 2; a++)
				for (int b = 0; b < 2; b++) {
					implies |= locon_predictable(other[b], mine[a]);
					implied |= locon_predictable(mine[a], other[b]);
				}
			dropped = implies && !implied;
		}
		if (dropped)
			continue;
		expected++;
		size_t at = 0;

		while (at < found.n &&
		       !((found.items[at].first == all[i].first && found.items[at].second == all[i].second) ||
			 (found.items[at].first == all[i].second && found.items[at].second == all[i].first)))
			at++;
		assert_true(at < found.n);
	}
	assert_int_equal(found.n, expected);
	assert_false(found.cut);
	VEC_FREE(&found);
}

static void test_random(void **state)
{
	size_t suspects = 0, missing = 0, couples = 0;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		struct world *world = draw_world(i);
		struct locon locon;
		struct locon_suspects first;
		struct locon_missings second;
		struct locon_couples third;

		locon_open(&locon, &world->input);
		check_first(world, &locon);
		check_second(world, &locon);
		check_third(world, &locon, LOCON_SITE);
		if (i % 4 == 0)
			check_third(world, &locon, LOCON_THREAD);
		locon_first(&locon, 0, false, &first);
		locon_second(&locon, &second);
		locon_third(&locon, LOCON_SITE, &third);
		suspects += first.n;
		missing += second.n;
		couples += third.n;
		VEC_FREE(&first);
		VEC_FREE(&second);
		VEC_FREE(&third);
		locon_close(&locon);
		world_free(world);
	}
	/* The twins agreed on something, not on nothing. */
	printf("%zu suspects, %zu missing, %zu couples\n", suspects, missing, couples);
	assert_true(suspects > 100 && missing > 50 && couples > 20);
}

static void expect_vote(size_t asked, const uint64_t *said, size_t alike, size_t chosen)
{
	size_t got;

	assert_int_equal(locon_count(said, asked, &got), chosen);
	assert_int_equal(got, alike);
}

static void test_vote(void **state)
{
	(void)state;
	expect_vote(1, (uint64_t[]){ 7 }, 1, 0);
	expect_vote(1, (uint64_t[]){ 0 }, 0, 0);
	expect_vote(2, (uint64_t[]){ 7, 8 }, 0, 0);
	expect_vote(2, (uint64_t[]){ 0, 8 }, 0, 0);
	expect_vote(2, (uint64_t[]){ 8, 8 }, 2, 0);
	expect_vote(3, (uint64_t[]){ 7, 8, 8 }, 2, 1);
	expect_vote(6, (uint64_t[]){ 7, 0, 8, 8, 0, 1 }, 0, 0);
	expect_vote(6, (uint64_t[]){ 7, 0, 8, 8, 0, 8 }, 3, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_vote) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
