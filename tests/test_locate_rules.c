/* Small campaigns by hand with the answer known: which pairs, which class, which
 * order of accesses, and when nothing is to be said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/falcon.h"
#include "analysis/locon/locate_answer.h"

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
	struct pair failed[MOST_PAIRS];
	uint32_t failed_indexes[MOST_PAIRS];
	roaring_bitmap_t *ran, *ran_passing;
	struct locon_input input;
};

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

static struct site sites[SITES];
static const struct site *site_list[SITES];

static void name_sites(void)
{
	for (uint32_t i = 0; i < SITES; i++) {
		sites[i] = (struct site){ .kind = SITE_READ,
					  .line = i + 1,
					  .function = "f",
					  .file = "a.c",
					  .variable = i < 4 ? "x" : "y" };
		site_list[i] = &sites[i];
	}
}

static uint32_t intern(struct world *world, struct pair pair)
{
	for (uint32_t i = 0; i < world->input.npairs; i++)
		if (same_identity(&world->pairs[i], &pair))
			return i;
	world->pairs[world->input.npairs] = pair;
	world->identities[world->input.npairs] = pair_identity_of(&pair);
	return (uint32_t)world->input.npairs++;
}

static struct world *new_world(size_t passed)
{
	struct world *world = memory_alloc(sizeof *world);

	for (uint32_t i = 0; i < SITES; i++)
		world->places[i] = i;
	world->input = (struct locon_input){ .pairs = world->identities,
					     .places = world->places,
					     .nsites = SITES,
					     .nplaces = SITES,
					     .passed = (const roaring_bitmap_t *const *)world->passed,
					     .npassed = passed };
	for (size_t r = 0; r < passed; r++)
		world->passed[r] = roaring_bitmap_create();
	world->input.failed.pairs = world->failed;
	world->input.failed.indexes = world->failed_indexes;
	name_sites();
	return world;
}

#define PAIR(k, hs, ht, ho, ts, tt, to, at)          \
	((struct pair){ .kind = (k),                 \
			.head_site = (hs),           \
			.tail_site = (ts),           \
			.head_thread = (ht),         \
			.tail_thread = (tt),         \
			.head_order = (ho),          \
			.tail_order = (to),          \
			.address = (at),             \
			.head_loop.site = LOOP_NONE, \
			.tail_loop.site = LOOP_NONE })

static void passes(struct world *world, size_t run, struct pair pair)
{
	roaring_bitmap_add(world->passed[run], intern(world, pair));
}

static void fails(struct world *world, struct pair pair)
{
	size_t at = world->input.failed.npairs++;

	world->failed[at] = pair;
	world->failed_indexes[at] = intern(world, pair);
}

static struct locon_answer ask(struct world *world)
{
	const struct locon_request request = { .level = -1, .run = 7, .sites = site_list };
	struct locon_answer answer;
	struct locon locon;

	locon_open(&locon, &world->input);
	locon_answer(&locon, &request, &answer);
	locon_close(&locon);
	return answer;
}

/* T1 reads x (site 0) and writes it (1); T2 does the same. Lost update. */
static void test_lost_update(void **state)
{
	struct world *world = new_world(10);

	(void)state;
	for (size_t r = 0; r < 10; r++) {
		passes(world, r, PAIR(PAIR_WRITE_READ, 1, 1, 2, 0, 2, 1, 8));
		passes(world, r, PAIR(PAIR_WRITE_WRITE, 1, 1, 2, 1, 2, 2, 8));
	}
	fails(world, PAIR(PAIR_READ_WRITE, 0, 1, 1, 1, 2, 2, 8));
	fails(world, PAIR(PAIR_WRITE_WRITE, 1, 2, 2, 1, 1, 2, 8));
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.procedure, LOCON_I);
	assert_int_equal(answer.findings.n, 1);
	const struct finding *finding = &answer.findings.items[0];

	assert_int_equal(finding->class, FINDING_ATOMICITY);
	assert_int_equal(finding->scenario, 5);
	assert_int_equal(finding->accesses.n, 3);
	assert_int_equal(finding->accesses.items[0].line, 1);
	assert_int_equal(finding->accesses.items[0].thread, 1);
	assert_int_equal(finding->accesses.items[1].thread, 2);
	assert_int_equal(finding->accesses.items[1].kind, SITE_WRITE);
	assert_int_equal(finding->accesses.items[2].thread, 1);
	assert_int_equal(finding->run, 7);
	assert_int_equal(finding->runs.passed, 10);
	locon_answer_free(&answer);
	world_free(world);
}

/* Thread 1 reads what main writes; in the failed run it dies of reading too early. */
static void test_read_too_early(void **state)
{
	struct world *world = new_world(10);

	(void)state;
	for (size_t r = 0; r < 10; r++) {
		passes(world, r, PAIR(PAIR_WRITE_READ, 0, 0, 3, 1, 1, 1, 8));
		passes(world, r, PAIR(PAIR_WRITE_READ, 4, 1, 5, 5, 0, 9, 16)); /* later, and missing too */
		passes(world, r, PAIR(PAIR_WRITE_READ, 6, 0, 1, 7, 1, 1, 24));
	}
	fails(world, PAIR(PAIR_WRITE_READ, 6, 0, 1, 7, 1, 1, 24));
	world->ran = roaring_bitmap_create();
	world->ran_passing = roaring_bitmap_create();
	roaring_bitmap_add_range(world->ran_passing, 0, SITES);
	roaring_bitmap_add(world->ran, 1);
	roaring_bitmap_add(world->ran, 6);
	roaring_bitmap_add(world->ran, 7);
	world->input.ran = world->ran;
	world->input.ran_passing = world->ran_passing;
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.procedure, LOCON_II);
	assert_int_equal(answer.findings.n, 1);
	const struct finding *finding = &answer.findings.items[0];

	assert_int_equal(finding->class, FINDING_ORDER);
	assert_int_equal(finding->scenario, 2);
	assert_int_equal(finding->accesses.n, 2);
	assert_int_equal(finding->accesses.items[0].line, 2);
	assert_false(finding->accesses.items[0].missing);
	assert_int_equal(finding->accesses.items[1].line, 1);
	assert_true(finding->accesses.items[1].missing);
	locon_answer_free(&answer);
	world_free(world);
}

/* x and y are written by T1 (0, 4) and read by T2 (1, 5), in between in the failed run. */
static void test_two_variables(void **state)
{
	struct world *world = new_world(20);

	(void)state;
	for (size_t r = 0; r < 20; r++) {
		bool writer_first = r % 2;

		if (writer_first) {
			passes(world, r, PAIR(PAIR_WRITE_READ, 0, 1, 1, 1, 2, 1, 8));
			passes(world, r, PAIR(PAIR_WRITE_READ, 4, 1, 2, 5, 2, 2, 16));
		} else {
			passes(world, r, PAIR(PAIR_READ_WRITE, 1, 2, 1, 0, 1, 1, 8));
			passes(world, r, PAIR(PAIR_READ_WRITE, 5, 2, 2, 4, 1, 2, 16));
		}
	}
	fails(world, PAIR(PAIR_WRITE_READ, 0, 1, 1, 1, 2, 1, 8));
	fails(world, PAIR(PAIR_READ_WRITE, 5, 2, 2, 4, 1, 2, 16));
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.procedure, LOCON_III);
	assert_int_equal(answer.level, LOCON_SITE);
	assert_int_equal(answer.findings.n, 1);
	const struct finding *finding = &answer.findings.items[0];

	assert_int_equal(finding->class, FINDING_MULTI_ATOMICITY);
	assert_int_equal(finding->scenario, 10);
	assert_int_equal(finding->variables.n, 2);
	assert_int_equal(finding->accesses.n, 4);
	const uint32_t lines[] = { 1, 2, 6, 5 };

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(finding->accesses.items[i].line, lines[i]);
	locon_answer_free(&answer);
	world_free(world);
}

/* A failed run that does what passing runs do. */
static void test_no_difference(void **state)
{
	struct world *world = new_world(10);

	(void)state;
	for (size_t r = 0; r < 10; r++) {
		passes(world, r, PAIR(PAIR_WRITE_READ, 0, 1, 1, 1, 2, 1, 8));
		passes(world, r, PAIR(PAIR_READ_WRITE, 1, 2, 1, 0, 1, 2, 8));
	}
	fails(world, PAIR(PAIR_WRITE_READ, 0, 1, 1, 1, 2, 1, 8));
	fails(world, PAIR(PAIR_READ_WRITE, 1, 2, 1, 0, 1, 2, 8));
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.findings.n, 0);
	assert_int_equal(answer.procedure, LOCON_DEFAULT);
	locon_answer_free(&answer);
	world_free(world);
}

/* Other threads and other copies of the same line are the same at the level of sites. */
static void test_copies(void **state)
{
	struct world *world = new_world(5);

	(void)state;
	world->places[9] = world->places[0];
	for (size_t r = 0; r < 5; r++)
		passes(world, r, PAIR(PAIR_WRITE_READ, 0, 1, 1, 1, 2, 1, 8));
	fails(world, PAIR(PAIR_WRITE_READ, 9, 3, 1, 1, 4, 1, 8));
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.findings.n, 0);
	locon_answer_free(&answer);
	world_free(world);
}

/* A couple that only the failed run had at one moment; apart, and crossed, all have it. */
static void test_moment(void **state)
{
	struct world *world = new_world(20);
	const struct couple bad = { 0, 1, 1, false }, fine = { 0, 1, 1, true };
	struct pair pairs[2] = { PAIR(PAIR_WRITE_READ, 0, 1, 1, 1, 2, 1, 8),
				 PAIR(PAIR_READ_WRITE, 5, 2, 2, 4, 1, 2, 16) };
	uint32_t indexes[2] = { 0, 1 };
	struct locon_run details[20];

	(void)state;
	for (size_t r = 0; r < 20; r++) {
		passes(world, r, pairs[0]);
		passes(world, r, pairs[1]);
		details[r] = (struct locon_run){ pairs, indexes, 2, &fine, 1 };
	}
	fails(world, pairs[0]);
	fails(world, pairs[1]);
	world->input.failed.couples = &bad;
	world->input.failed.ncouples = 1;
	world->input.details = details;
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.procedure, LOCON_III);
	assert_int_equal(answer.level, LOCON_MOMENT);
	assert_int_equal(answer.findings.n, 1);
	locon_answer_free(&answer);
	details[13].couples = details[14].couples = &bad;
	answer = ask(world);
	assert_int_equal(answer.findings.n, 0);
	locon_answer_free(&answer);
	world_free(world);
}

/* Falcon: the triple that only the failed run has comes first, its score by hand. */
static void test_falcon(void **state)
{
	struct world *world = new_world(3);
	struct pair usual[1] = { PAIR(PAIR_WRITE_READ, 1, 1, 2, 0, 2, 1, 8) };
	uint32_t indexes[1] = { 0 };
	struct locon_run details[3];
	struct falcon_patterns patterns;
	struct locon locon;

	(void)state;
	for (size_t r = 0; r < 3; r++) {
		passes(world, r, usual[0]);
		details[r] = (struct locon_run){ usual, indexes, 1, NULL, 0 };
	}
	fails(world, usual[0]);
	fails(world, PAIR(PAIR_READ_WRITE, 0, 1, 3, 1, 2, 4, 8));
	fails(world, PAIR(PAIR_WRITE_WRITE, 1, 2, 4, 1, 1, 4, 8));
	world->input.details = details;
	locon_open(&locon, &world->input);
	falcon_rank(&locon, &patterns);
	assert_int_equal(patterns.n, 4); /* three pairs and one triple */
	assert_true(patterns.items[0].score == 1);
	assert_int_equal(patterns.items[0].first, 1);
	assert_int_equal(patterns.items[0].last, 2);
	assert_true(patterns.items[3].score == 0.25);
	VEC_FREE(&patterns);
	locon_close(&locon);
	world_free(world);
}

static roaring_bitmap_t *set_of(const uint32_t *members, size_t n)
{
	roaring_bitmap_t *set = roaring_bitmap_create();

	for (size_t i = 0; i < n; i++)
		roaring_bitmap_add(set, members[i]);
	return set;
}

/* Thread, kind and line of each access; ! for one that never came. */
static void assert_accesses(const struct finding *finding, const char *wanted)
{
	char said[256] = "";

	for (size_t i = 0; i < finding->accesses.n; i++) {
		const struct finding_access *access = &finding->accesses.items[i];
		size_t n = strlen(said);

		snprintf(said + n, sizeof said - n, "%sT%u %s%u%s", i ? " " : "", access->thread,
			 access->kind == SITE_WRITE ? "w" : "r", access->line, access->missing ? "!" : "");
	}
	assert_string_equal(said, wanted);
}

/* Both threads read x (0) and write it back (1) or reset it (2). T1 read, T2 wrote and reset, T1 wrote:
 * the write and the reset are the middle of one triple, and neither thread is meant to be first. */
static void test_several_between(void **state)
{
	struct world *world = new_world(20);
	const struct couple seen = { 0, 1, 2, false };

	(void)state;
	for (size_t r = 0; r < 20; r++)
		for (uint32_t t = 1; t <= 2; t++) {
			passes(world, r, PAIR(PAIR_WRITE_READ, 1, t, 2, 0, 3 - t, 1, 8));
			passes(world, r, PAIR(PAIR_WRITE_WRITE, 1, t, 2, 1, 3 - t, 2, 8));
			passes(world, r, PAIR(PAIR_WRITE_WRITE, 2, t, 3, 1, 3 - t, 4, 8));
		}
	fails(world, PAIR(PAIR_READ_WRITE, 0, 1, 1, 1, 2, 2, 8));
	fails(world, PAIR(PAIR_WRITE_WRITE, 2, 2, 3, 1, 1, 2, 8));
	world->input.failed.couples = &seen;
	world->input.failed.ncouples = 1;
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.procedure, LOCON_I);
	assert_int_equal(answer.findings.items[0].class, FINDING_ATOMICITY);
	assert_int_equal(answer.findings.items[0].scenario, 5);
	assert_accesses(&answer.findings.items[0], "T1 r1 T2 w2 T2 w3 T1 w2");
	locon_answer_free(&answer);
	world_free(world);
}

/* T1 frees (3) what T2 still reads (1). Before that T2 had lowered a count (0), T1 had too (0), and
 * T2 looked at it (1): that is why. */
static void test_freed(void **state)
{
	struct world *world = new_world(20);
	const struct couple seen = { 0, 1, 1, false };
	roaring_bitmap_t *frees = set_of((uint32_t[]){ 3 }, 1);

	(void)state;
	for (size_t r = 0; r < 20; r++) {
		passes(world, r, PAIR(PAIR_WRITE_WRITE, 0, 2, 5, 0, 1, 5, 8));
		passes(world, r, PAIR(PAIR_WRITE_READ, 0, 1, 5, 1, 2, 6, 8));
	}
	fails(world, PAIR(PAIR_WRITE_WRITE, 0, 2, 5, 0, 1, 5, 8));
	fails(world, PAIR(PAIR_WRITE_READ, 0, 1, 5, 1, 2, 6, 8));
	fails(world, PAIR(PAIR_READ_WRITE, 1, 2, 6, 3, 1, 7, 8));
	world->input.failed.couples = &seen;
	world->input.failed.ncouples = 1;
	world->input.frees = frees;
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.procedure, LOCON_I);
	assert_int_equal(answer.findings.items[0].class, FINDING_ATOMICITY);
	assert_accesses(&answer.findings.items[0], "T2 w1 T1 w1 T2 r2 T1 w4");
	locon_answer_free(&answer);
	roaring_bitmap_free(frees);
	world_free(world);
}

/* T1 writes x (0) then y (4) in rounds; T2 reads x (1), then y (5). Crashed with y of the round before. */
static void test_stale(void **state)
{
	struct world *world = new_world(20);
	struct pair usual[2] = { PAIR(PAIR_WRITE_READ, 0, 1, 10, 1, 2, 1, 8),
				 PAIR(PAIR_WRITE_READ, 4, 1, 12, 5, 2, 2, 16) };
	uint32_t indexes[2] = { 0, 1 };
	struct locon_run details[20];

	(void)state;
	for (size_t r = 0; r < 20; r++) {
		passes(world, r, usual[0]);
		passes(world, r, usual[1]);
		details[r] = (struct locon_run){ usual, indexes, 2, NULL, 0 };
	}
	fails(world, PAIR(PAIR_WRITE_READ, 0, 1, 20, 1, 2, 1, 8));
	fails(world, PAIR(PAIR_WRITE_READ, 4, 1, 12, 5, 2, 2, 16));
	world->input.details = details;
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.findings.n, 0); /* a run to its end: T1 wrote y later */
	locon_answer_free(&answer);
	world->input.cut_short = true;
	answer = ask(world);
	assert_int_equal(answer.findings.n, 1);
	assert_int_equal(answer.findings.items[0].class, FINDING_MULTI_ATOMICITY);
	assert_accesses(&answer.findings.items[0], "T1 w1 T2 r2 T2 r6 T1 w5!");
	locon_answer_free(&answer);
	world_free(world);
}

/* T1 says by an atomic flag (0, read at 1) that y is ready, and writes y (4) after T2 has read it (5). */
static void test_flag_first(void **state)
{
	struct world *world = new_world(20);
	const struct couple bad = { 0, 1, 1, false }, fine = { 0, 1, 1, true };
	struct pair pairs[2] = { PAIR(PAIR_WRITE_READ, 0, 1, 1, 1, 2, 1, 8),
				 PAIR(PAIR_READ_WRITE, 5, 2, 2, 4, 1, 2, 16) };
	uint32_t indexes[2] = { 0, 1 };
	struct locon_run details[20];
	roaring_bitmap_t *atomic = set_of((uint32_t[]){ 0, 1 }, 2);

	(void)state;
	for (size_t r = 0; r < 20; r++) {
		passes(world, r, pairs[0]);
		passes(world, r, pairs[1]);
		details[r] = (struct locon_run){ pairs, indexes, 2, &fine, 1 };
	}
	fails(world, pairs[0]);
	fails(world, pairs[1]);
	world->input.failed.couples = &bad;
	world->input.failed.ncouples = 1;
	world->input.details = details;
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.findings.items[0].class, FINDING_MULTI_ATOMICITY);
	locon_answer_free(&answer);
	world->input.atomic = atomic;
	answer = ask(world);
	assert_int_equal(answer.findings.items[0].class, FINDING_ORDER);
	assert_accesses(&answer.findings.items[0], "T2 r6 T1 w5");
	locon_answer_free(&answer);
	roaring_bitmap_free(atomic);
	world_free(world);
}

/* T2 dies of reading y (5) before T1 wrote it (4). What let it in was x (0, read at 1), which passing
 * runs have either way round; where they have it one way only, it is a matter of order alone. */
static void test_let_in(void **state)
{
	for (int both = 0; both < 2; both++) {
		struct world *world = new_world(20);

		(void)state;
		world->ran = set_of((uint32_t[]){ 0, 1, 5 }, 3);
		world->ran_passing = set_of((uint32_t[]){ 0, 1, 4, 5 }, 4);
		world->input.ran = world->ran;
		world->input.ran_passing = world->ran_passing;
		for (size_t r = 0; r < 20; r++) {
			passes(world, r, PAIR(PAIR_WRITE_READ, 0, 1, 1, 1, 2, 1, 8));
			passes(world, r, PAIR(PAIR_WRITE_READ, 4, 1, 2, 5, 2, 2, 16));
			if (both)
				passes(world, r, PAIR(PAIR_READ_WRITE, 1, 2, 1, 0, 1, 1, 8));
		}
		fails(world, PAIR(PAIR_WRITE_READ, 0, 1, 1, 1, 2, 1, 8));
		struct locon_answer answer = ask(world);

		assert_int_equal(answer.procedure, LOCON_II);
		assert_int_equal(answer.findings.items[0].class,
				 both ? FINDING_MULTI_ATOMICITY : FINDING_ORDER);
		assert_accesses(&answer.findings.items[0],
				both ? "T1 w1 T2 r2 T2 r6 T1 w5!" : "T2 r6 T1 w5!");
		locon_answer_free(&answer);
		world_free(world);
	}
}

/* Both threads at one and the same line: no order can be meant. */
static void test_same_line(void **state)
{
	struct world *world = new_world(20);

	(void)state;
	for (size_t r = 0; r < 20; r++)
		passes(world, r, PAIR(PAIR_READ_WRITE, 1, 2, 1, 0, 1, 1, 8));
	fails(world, PAIR(PAIR_WRITE_READ, 0, 1, 1, 1, 2, 1, 8));
	struct locon_answer answer = ask(world);

	assert_int_equal(answer.findings.items[0].class, FINDING_ORDER);
	locon_answer_free(&answer);
	sites[1].line = sites[0].line;
	answer = ask(world);
	assert_int_equal(answer.findings.items[0].class, FINDING_ATOMICITY);
	locon_answer_free(&answer);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_update),   cmocka_unit_test(test_read_too_early),
		cmocka_unit_test(test_two_variables), cmocka_unit_test(test_no_difference),
		cmocka_unit_test(test_copies),        cmocka_unit_test(test_moment),
		cmocka_unit_test(test_falcon),        cmocka_unit_test(test_several_between),
		cmocka_unit_test(test_freed),         cmocka_unit_test(test_stale),
		cmocka_unit_test(test_flag_first),    cmocka_unit_test(test_let_in),
		cmocka_unit_test(test_same_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
