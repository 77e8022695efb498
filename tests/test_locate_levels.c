/* Procedure III at the levels of loops and moments, stale values, and Falcon, each
 * against a naive twin on random campaigns: the twins compare every run with every
 * other by sites, know no keys, maps or bitmaps, and follow the definitions in
 * architecture.md. Then what the rules around them name, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/falcon.h"
#include "analysis/locon/locate_answer.h"
#include "analysis/locon/procedure_three.h"

#define SITES 5
#define THREADS 3
#define KNOWN 40 /* interned pairs */
#define RUNS 30
#define COUPLES 24

struct run_of_pairs {
	struct pair pairs[KNOWN];
	uint32_t indexes[KNOWN];
	size_t n;
	struct couple couples[COUPLES];
	size_t ncouples;
};

struct world {
	struct pair pairs[KNOWN];
	struct pair_identity identities[KNOWN];
	uint32_t places[SITES];
	struct run_of_pairs failed, passed[RUNS];
	roaring_bitmap_t *bitmaps[RUNS];
	struct locon_run details[RUNS];
	struct locon_input input;
};

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- random campaigns ---- */

static struct loop_point draw_loop(void)
{
	if (draw(5) == 0)
		return (struct loop_point){ .site = LOOP_NONE };
	return (struct loop_point){ 1, 1, draw(9) == 0 ? ITERATION_UNKNOWN : 1 + draw(2) };
}

static void draw_pairs(struct world *world)
{
	while (world->input.npairs < KNOWN) {
		struct pair pair = { .kind = (enum pair_kind)(1 + draw(3)),
				     .head_site = draw(SITES),
				     .tail_site = draw(SITES),
				     .head_thread = draw(THREADS) };
		bool known = false;

		pair.tail_thread = (pair.head_thread + 1 + draw(THREADS - 1)) % THREADS;
		for (size_t i = 0; i < world->input.npairs && !known; i++)
			known = !memcmp(&world->pairs[i], &pair, sizeof pair);
		if (known)
			continue;
		world->identities[world->input.npairs] = pair_identity_of(&pair);
		world->pairs[world->input.npairs++] = pair;
	}
}

static void draw_run(const struct world *world, uint32_t share, uint32_t couples, struct run_of_pairs *run)
{
	for (uint32_t i = 0; i < KNOWN; i++) {
		if (draw(100) >= share)
			continue;
		struct pair *pair = &run->pairs[run->n];

		*pair = world->pairs[i];
		pair->head_order = 1 + draw(12);
		pair->tail_order = 1 + draw(12);
		pair->address = 8 * (1 + draw(3));
		pair->head_loop = draw_loop();
		pair->tail_loop = draw_loop();
		run->indexes[run->n++] = i;
	}
	for (uint32_t i = 0; run->n > 1 && i < couples && i < COUPLES; i++) {
		struct couple couple = { draw((uint32_t)run->n), draw((uint32_t)run->n), draw(100),
					 draw(4) == 0 };

		/* Of a couple the first's head and the second's tail are in one thread. */
		if (run->pairs[couple.first].head_thread == run->pairs[couple.second].tail_thread)
			run->couples[run->ncouples++] = couple;
	}
}

static struct locon_run view(const struct run_of_pairs *run)
{
	return (struct locon_run){ run->pairs, run->indexes, run->n, run->couples, run->ncouples };
}

static struct world *new_world(uint64_t number)
{
	struct world *world = calloc(1, sizeof *world);
	uint32_t share = 20 + draw(70), couples = draw(COUPLES);

	seed = number * 977 + 5;
	draw_pairs(world);
	for (uint32_t s = 0; s < SITES; s++)
		world->places[s] = s && draw(6) == 0 ? s - 1 : s;
	draw_run(world, 90, COUPLES, &world->failed);
	for (size_t r = 0; r < RUNS; r++) {
		draw_run(world, share, couples, &world->passed[r]);
		world->bitmaps[r] = roaring_bitmap_create();
		for (size_t i = 0; i < world->passed[r].n; i++)
			roaring_bitmap_add(world->bitmaps[r], world->passed[r].indexes[i]);
		world->details[r] = view(&world->passed[r]);
	}
	world->input = (struct locon_input){
		.pairs = world->identities,
		.npairs = KNOWN,
		.places = world->places,
		.nsites = SITES,
		.nplaces = SITES,
		.passed = (const roaring_bitmap_t *const *)world->bitmaps,
		.npassed = RUNS,
		.failed = view(&world->failed),
		.cut_short = true,
		.details = world->details,
	};
	return world;
}

static void world_free(struct world *world)
{
	for (size_t r = 0; r < RUNS; r++)
		roaring_bitmap_free(world->bitmaps[r]);
	free(world);
}

/* ---- what twins share: pairs are equal by places and kind ---- */

static bool equal(const struct world *world, const struct pair *a, const struct pair *b)
{
	return a->kind == b->kind && world->places[a->head_site] == world->places[b->head_site] &&
	       world->places[a->tail_site] == world->places[b->tail_site];
}

static bool opposed(const struct pair *a, const struct pair *b)
{
	return a->head_thread == b->tail_thread && a->tail_thread == b->head_thread;
}

static size_t runs_with(const struct world *world, const struct pair *pair)
{
	size_t n = 0;

	for (size_t r = 0; r < RUNS; r++)
		for (size_t i = 0; i < world->passed[r].n; i++)
			if (equal(world, &world->passed[r].pairs[i], pair)) {
				n++;
				break;
			}
	return n;
}

static double expected(const struct world *world, const struct pair *p, const struct pair *q)
{
	return (double)runs_with(world, p) * (double)runs_with(world, q) / RUNS;
}

/* ---- loops ---- */

/* 0 none, 1 same iteration, 2 another one, 3 another loop, 4 not known */
static int relation(const struct loop_point *a, const struct loop_point *b)
{
	if (a->site == LOOP_NONE || b->site == LOOP_NONE)
		return a->site == b->site ? 0 : 3;
	if (a->iteration == ITERATION_UNKNOWN || b->iteration == ITERATION_UNKNOWN)
		return 4;
	if (a->site != b->site)
		return 3;
	return a->entry == b->entry && a->iteration == b->iteration ? 1 : 2;
}

/* In how many passing runs the two came, and never in the relations that they have in the failed one. */
static size_t naive_loops(const struct world *world, const struct pair *p, const struct pair *q)
{
	int first = relation(&p->head_loop, &q->tail_loop), second = relation(&p->tail_loop, &q->head_loop);
	size_t others = 0;

	if (first != 1 && second != 1)
		return 0;
	for (size_t r = 0; r < RUNS; r++) {
		bool other = false;

		for (size_t i = 0; i < world->passed[r].n; i++)
			for (size_t j = 0; j < world->passed[r].n; j++) {
				const struct pair *a = &world->passed[r].pairs[i],
						  *b = &world->passed[r].pairs[j];

				if (!equal(world, a, p) || !equal(world, b, q) || !opposed(a, b))
					continue;
				int one = relation(&a->head_loop, &b->tail_loop),
				    two = relation(&a->tail_loop, &b->head_loop);

				if (one == first && two == second)
					return 0;
				other |= one != 4 && two != 4;
			}
		others += other;
	}
	return others;
}

static bool implies(const struct pair *b, const struct pair *a)
{
	return a->head_thread == b->head_thread && a->tail_thread == b->tail_thread &&
	       a->head_order <= b->head_order && b->tail_order <= a->tail_order &&
	       (a->head_order != b->head_order || a->tail_order != b->tail_order);
}

struct two {
	uint32_t a, b;
};

/* Couples i < j, without those of which a pair implies one of another couple and is not implied. */
static size_t naive_third_loops(const struct world *world, struct two *out)
{
	const struct run_of_pairs *failed = &world->failed;
	static struct two all[KNOWN * KNOWN];
	size_t n = 0, kept = 0;

	for (uint32_t i = 0; i < failed->n; i++)
		for (uint32_t j = i + 1; j < failed->n; j++) {
			const struct pair *p = &failed->pairs[i], *q = &failed->pairs[j];

			if (p->address != q->address && opposed(p, q) && naive_loops(world, p, q) >= 5)
				all[n++] = (struct two){ i, j };
		}
	for (size_t i = 0; i < n; i++) {
		bool drop = false;

		for (size_t j = 0; j < n; j++) {
			const struct pair *mine[] = { &failed->pairs[all[i].a], &failed->pairs[all[i].b] };
			const struct pair *other[] = { &failed->pairs[all[j].a], &failed->pairs[all[j].b] };
			bool forth = false, back = false;

			for (int x = 0; x < 4; x++) {
				forth |= implies(mine[x / 2], other[x % 2]);
				back |= implies(other[x % 2], mine[x / 2]);
			}
			drop |= forth && !back;
		}
		if (!drop)
			out[kept++] = all[i];
	}
	return kept;
}

static void test_loops(void **state)
{
	size_t total = 0;

	(void)state;
	for (uint64_t w = 0; w < 150; w++) {
		struct world *world = new_world(w);
		static struct two naive[KNOWN * KNOWN];
		size_t n = naive_third_loops(world, naive), found = 0;
		struct locon_couples couples;
		struct locon locon;

		locon_open(&locon, &world->input);
		locon_third(&locon, LOCON_LOOP, &couples);
		assert_int_equal(couples.n, n);
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < couples.n; j++) {
				uint32_t a = couples.items[j].first, b = couples.items[j].second;

				found += (a == naive[i].a && b == naive[i].b) ||
					 (a == naive[i].b && b == naive[i].a);
			}
		assert_int_equal(found, n);
		total += n;
		VEC_FREE(&couples);
		locon_close(&locon);
		world_free(world);
	}
	assert_true(total > 50);
	printf("loops: %zu couples\n", total);
}

/* ---- moments ---- */

static bool same_moment(const struct world *world, const struct run_of_pairs *a, const struct couple *x,
			const struct run_of_pairs *b, const struct couple *y)
{
	const struct pair *p = &a->pairs[x->first], *q = &a->pairs[x->second];
	const struct pair *s = &b->pairs[y->first], *t = &b->pairs[y->second];

	return equal(world, p, s) && equal(world, q, t) && x->crossed == y->crossed &&
	       (p->tail_thread == q->head_thread) == (s->tail_thread == t->head_thread);
}

static size_t runs_with_moment(const struct world *world, const struct run_of_pairs *of,
			       const struct couple *couple)
{
	size_t n = 0;

	for (size_t r = 0; r < RUNS; r++)
		for (size_t i = 0; i < world->passed[r].ncouples; i++)
			if (same_moment(world, of, couple, &world->passed[r], &world->passed[r].couples[i])) {
				n++;
				break;
			}
	return n;
}

/* One location, a thread's two accesses not far apart, others between them, not serialisable. */
static bool naive_triple(const struct world *world, const struct run_of_pairs *run,
			 const struct couple *couple)
{
	static const char *const bad[] = { "WWR", "RWW", "RWR", "WRW" };
	const struct pair *p = &run->pairs[couple->first], *q = &run->pairs[couple->second];
	char kinds[4] = { p->kind == PAIR_READ_WRITE ? 'R' : 'W', p->kind == PAIR_WRITE_READ ? 'R' : 'W',
			  q->kind == PAIR_WRITE_READ ? 'R' : 'W', 0 };
	char last = q->kind == PAIR_READ_WRITE ? 'R' : 'W'; /* of those in between */
	bool same = p->tail_thread == q->head_thread &&
		    world->places[p->tail_site] == world->places[q->head_site];
	bool unserialisable = false;

	for (int i = 0; i < 4; i++)
		unserialisable |= !strcmp(kinds, bad[i]);
	return unserialisable && p->address == q->address && couple->span <= 64 && (same || last == kinds[1]);
}

static bool naive_counts(const struct world *world, const struct run_of_pairs *run,
			 const struct couple *couple, bool triple)
{
	return triple ? naive_triple(world, run, couple)
		      : expected(world, &run->pairs[couple->first], &run->pairs[couple->second]) >= 3;
}

/* The share of passing runs with a couple that counts and that at most `others` other ones have. */
static double naive_alarms(const struct world *world, bool triple, size_t others)
{
	size_t n = 0;

	for (size_t r = 0; r < RUNS; r++) {
		const struct run_of_pairs *run = &world->passed[r];

		for (size_t i = 0; i < run->ncouples; i++)
			if (naive_counts(world, run, &run->couples[i], triple) &&
			    runs_with_moment(world, run, &run->couples[i]) - 1 <= others) {
				n++;
				break;
			}
	}
	return (double)n / RUNS;
}

static bool naive_news(const struct world *world, const struct couple *couple)
{
	const struct run_of_pairs *failed = &world->failed;
	size_t passed = runs_with_moment(world, failed, couple);
	double likely = expected(world, &failed->pairs[couple->first], &failed->pairs[couple->second]);

	if (passed > RUNS / 15)
		return false;
	return (likely >= 3 && (double)passed * 15 <= likely && naive_alarms(world, false, passed) <= 0.25) ||
	       (naive_triple(world, failed, couple) && naive_alarms(world, true, passed) <= 0.1);
}

static void test_moments(void **state)
{
	size_t total = 0;

	(void)state;
	for (uint64_t w = 0; w < 400; w++) {
		struct world *world = new_world(w);
		const struct run_of_pairs *failed = &world->failed;
		struct locon_couples couples = { 0 };
		struct locon locon;
		size_t n = 0;

		locon_open(&locon, &world->input);
		third_moments(&locon, &couples);
		for (size_t i = 0; i < failed->ncouples; i++) {
			bool again = false, found = false;

			for (size_t j = 0; j < i; j++)
				again |= same_moment(world, failed, &failed->couples[i], failed,
						     &failed->couples[j]) &&
					 naive_news(world, &failed->couples[j]);
			if (again || !naive_news(world, &failed->couples[i]))
				continue;
			n++;
			for (size_t j = 0; j < couples.n; j++)
				found |= couples.items[j].first == failed->couples[i].first &&
					 couples.items[j].second == failed->couples[i].second &&
					 couples.items[j].passed ==
						 runs_with_moment(world, failed, &failed->couples[i]);
			assert_true(found);
		}
		assert_int_equal(couples.n, n);
		total += n;
		VEC_FREE(&couples);
		locon_close(&locon);
		world_free(world);
	}
	assert_true(total > 50);
	printf("moments: %zu couples\n", total);
}

/* ---- Falcon ---- */

static bool has_pattern(const struct world *world, const struct run_of_pairs *run, const struct pair *ab,
			const struct pair *bc)
{
	for (size_t i = 0; i < run->n; i++) {
		if (!equal(world, &run->pairs[i], ab))
			continue;
		for (size_t j = 0; bc && j < run->n; j++)
			if (equal(world, &run->pairs[j], bc) && falcon_triple(&run->pairs[i], &run->pairs[j]))
				return true;
		if (!bc)
			return true;
	}
	return false;
}

static size_t falcon_passed(const struct world *world, const struct pair *ab, const struct pair *bc)
{
	size_t n = 0;

	for (size_t r = 0; r < RUNS; r++)
		n += has_pattern(world, &world->passed[r], ab, bc);
	return n;
}

static void test_falcon(void **state)
{
	size_t triples = 0;

	(void)state;
	for (uint64_t w = 0; w < 200; w++) {
		struct world *world = new_world(w);
		const struct run_of_pairs *failed = &world->failed;
		struct falcon_patterns patterns;
		struct locon locon;
		size_t n = 0;

		locon_open(&locon, &world->input);
		falcon_rank(&locon, &patterns);
		/* Every pattern of the failed run once, by its places. */
		for (size_t i = 0; i < failed->n; i++)
			for (size_t j = 0; j <= failed->n; j++) {
				const struct pair *ab = &failed->pairs[i],
						  *bc = j < failed->n ? &failed->pairs[j] : NULL;
				bool known = false;

				if (bc && !falcon_triple(ab, bc))
					continue;
				for (size_t x = 0; x <= i && !known; x++)
					for (size_t y = 0; y <= failed->n && !known; y++) {
						if (x == i && y >= j)
							break;
						const struct pair *c =
							y < failed->n ? &failed->pairs[y] : NULL;

						known = equal(world, &failed->pairs[x], ab) && !c == !bc &&
							(!c || (equal(world, c, bc) &&
								falcon_triple(&failed->pairs[x], c)));
					}
				n += !known;
			}
		assert_int_equal(patterns.n, n);
		for (size_t i = 0; i < patterns.n; i++) {
			const struct falcon_pattern *pattern = &patterns.items[i];
			const struct pair *bc =
				pattern->last == LOCON_NONE ? NULL : &failed->pairs[pattern->last];
			size_t passed = falcon_passed(world, &failed->pairs[pattern->first], bc);

			triples += bc != NULL;
			assert_int_equal(pattern->passed, passed);
			assert_true(pattern->score == 1 / (1 + (double)passed));
			assert_true(!i || pattern->score <= patterns.items[i - 1].score);
		}
		VEC_FREE(&patterns);
		locon_close(&locon);
		world_free(world);
	}
	assert_true(triples > 20);
	printf("Falcon: %zu triples\n", triples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_falcon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
