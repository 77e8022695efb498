/* The points-to solver against a naive twin on random constraints: the twin keeps plain
 * sets and repeats every rule until nothing changes, without circles, waves or numbers
 * of what is done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "static/solver.h"

#define VARIABLES 24
#define OBJECTS 6
#define SIZE 32 /* bytes of each object */
#define CONSTRAINTS 40
#define PLACES (OBJECTS * SIZE)

struct rule {
	enum { POINTS, COPY, LOAD, STORE, STEP, BLOCK, WALK } kind;
	unsigned a, b;
	int offset; /* of a walk: its stride */
};

struct twin {
	bool points[VARIABLES][PLACES]; /* by object and offset */
	bool holds[PLACES][PLACES];
};

static bool merge(bool *into, const bool *from)
{
	bool changed = false;

	for (unsigned i = 0; i < PLACES; i++)
		if (from[i] && !into[i])
			changed = into[i] = true;
	return changed;
}

static bool apply(struct twin *twin, const struct rule *rule)
{
	bool changed = false;

	if (rule->kind == POINTS) {
		changed = !twin->points[rule->a][rule->b * SIZE];
		twin->points[rule->a][rule->b * SIZE] = true;
		return changed;
	}
	if (rule->kind == COPY)
		return merge(twin->points[rule->b], twin->points[rule->a]);
	for (unsigned p = 0; p < PLACES; p++) {
		if (!twin->points[rule->a][p])
			continue;
		int offset = (int)(p % SIZE) + rule->offset;

		if (rule->kind == LOAD)
			changed |= merge(twin->points[rule->b], twin->holds[p]);
		else if (rule->kind == STORE)
			changed |= merge(twin->holds[p], twin->points[rule->b]);
		else if (rule->kind == STEP && offset >= 0 && offset < SIZE) {
			unsigned to = p / SIZE * SIZE + (unsigned)offset;

			changed |= !twin->points[rule->b][to];
			twin->points[rule->b][to] = true;
		} else if (rule->kind == WALK) {
			for (unsigned to = p; to < p / SIZE * SIZE + SIZE; to += (unsigned)rule->offset) {
				changed |= !twin->points[rule->b][to];
				twin->points[rule->b][to] = true;
			}
		} else if (rule->kind == BLOCK) {
			for (unsigned q = 0; q < PLACES; q++)
				for (unsigned i = 0;
				     twin->points[rule->b][q] && p % SIZE + i < SIZE && q % SIZE + i < SIZE;
				     i++)
					changed |= merge(twin->holds[q + i], twin->holds[p + i]);
		}
	}
	return changed;
}

static void add(struct solver *solver, const uint32_t *variables, const uint32_t *objects,
		const struct rule *rule)
{
	static const enum solver_act acts[] = {
		[LOAD] = SOLVER_LOAD, [STORE] = SOLVER_STORE, [STEP] = SOLVER_STEP, [WALK] = SOLVER_WALK
	};

	if (rule->kind == POINTS)
		solver_points(solver, variables[rule->a], solver_location(solver, objects[rule->b], 0));
	else if (rule->kind == COPY)
		solver_copy(solver, variables[rule->a], variables[rule->b]);
	else if (rule->kind == BLOCK)
		solver_block_copy(solver, variables[rule->a], variables[rule->b], 0);
	else
		solver_constrain(solver, variables[rule->a],
				 (struct solver_constraint){
					 .act = acts[rule->kind],
					 .other = variables[rule->b],
					 .offset = rule->kind == STEP ? rule->offset : 0,
					 .stride = rule->kind == WALK ? (unsigned)rule->offset : 0 });
}

static struct rule random_rule(unsigned number, bool walks)
{
	struct rule rule = { .kind = (unsigned)rand() % (walks ? 7 : 6), .a = (unsigned)rand() % VARIABLES };

	/* Something must point somewhere; copies of whole blocks are rare in programs. */
	if (number < 8)
		rule.kind = POINTS;
	if (rule.kind == BLOCK && rand() % 3)
		rule.kind = COPY;
	rule.b = (unsigned)rand() % (rule.kind == POINTS ? OBJECTS : VARIABLES);
	rule.offset = rule.kind == STEP ? (rand() % 5 - 1) * 8 : rule.kind == WALK ? (1 + rand() % 2) * 8 : 0;
	return rule;
}

static void compare(struct solver *solver, const uint32_t *variables, const struct twin *twin)
{
	for (unsigned v = 0; v < VARIABLES; v++) {
		const roaring_bitmap_t *answer = solver_answer(solver, variables[v]);
		unsigned expected = 0, found = 0;

		for (unsigned p = 0; p < PLACES; p++)
			expected += twin->points[v][p];
		roaring_uint32_iterator_t *at = roaring_create_iterator(answer);
		for (; at->has_value; roaring_advance_uint32_iterator(at), found++) {
			struct solver_location place = solver->locations.items[at->current_value];

			assert_true(twin->points[v][place.object * SIZE + place.offset]);
		}
		roaring_free_uint32_iterator(at);
		assert_int_equal(expected, found);
	}
}

/* Everything that the twin found is in the answer; with offsets folded or contents shared there may be more. */
static void compare_at_least(struct solver *solver, const uint32_t *variables, const uint32_t *objects,
			     const struct twin *twin)
{
	for (unsigned v = 0; v < VARIABLES; v++)
		for (unsigned p = 0; p < PLACES; p++) {
			if (!twin->points[v][p])
				continue;
			uint32_t place = solver_location(solver, objects[p / SIZE], p % SIZE);

			assert_true(roaring_bitmap_contains(solver_answer(solver, variables[v]), place));
		}
}

/* One world of random rules, solved by both. */
static void solve_both(unsigned seed, bool walks, uint32_t large)
{
	struct rule rules[CONSTRAINTS];
	struct solver solver = { .large = large };
	uint32_t variables[VARIABLES], objects[OBJECTS];
	static struct twin twin;

	srand(seed);
	memset(&twin, 0, sizeof twin);
	for (unsigned i = 0; i < VARIABLES; i++)
		variables[i] = solver_variable(&solver);
	for (unsigned i = 0; i < OBJECTS; i++)
		objects[i] = solver_object(&solver, SIZE);
	for (unsigned i = 0; i < CONSTRAINTS; i++) {
		rules[i] = random_rule(i, walks);
		add(&solver, variables, objects, &rules[i]);
	}
	solver_solve(&solver);
	for (bool changed = true; changed;) {
		changed = false;
		for (unsigned i = 0; i < CONSTRAINTS; i++)
			changed |= apply(&twin, &rules[i]);
	}
	if (walks || large)
		compare_at_least(&solver, variables, objects, &twin);
	else
		compare(&solver, variables, &twin);
	solver_free(&solver);
}

static void same_as_twin(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 400; seed++)
		solve_both(seed, false, 0);
}

/* Walks fold offsets, and pointers to very much share what is stored: coarser, but nothing is missed. */
static void nothing_missed(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 400; seed++) {
		solve_both(seed, true, 0);
		solve_both(seed, false, 2);
		solve_both(seed, true, 3);
	}
}

/* A walk makes offsets that differ by its stride one, whichever came first. */
static void walks_fold(void **state)
{
	struct solver solver = { 0 };
	uint32_t pointer = solver_variable(&solver), walked = solver_variable(&solver);
	uint32_t field = solver_variable(&solver), value = solver_variable(&solver);
	uint32_t loaded = solver_variable(&solver), object = solver_object(&solver, 64);
	uint32_t target = solver_object(&solver, 8), early = solver_location(&solver, object, 24);

	(void)state;
	solver_points(&solver, pointer, solver_location(&solver, object, 0));
	solver_points(&solver, value, solver_location(&solver, target, 0));
	solver_copy(&solver, value, solver_content(&solver, early));
	solver_constrain(&solver, pointer,
			 (struct solver_constraint){ .act = SOLVER_WALK, .other = walked, .stride = 16 });
	solver_constrain(&solver, walked,
			 (struct solver_constraint){ .act = SOLVER_STEP, .other = field, .offset = 8 });
	solver_constrain(&solver, field, (struct solver_constraint){ .act = SOLVER_LOAD, .other = loaded });
	solver_solve(&solver);
	assert_int_equal(solver_canonical(&solver, early), solver_location(&solver, object, 8));
	assert_true(
		roaring_bitmap_contains(solver_answer(&solver, loaded), solver_location(&solver, target, 0)));
	solver_free(&solver);
}

/* A pointer that goes up for ever ends in an object of one cell. */
static void many_offsets_become_one(void **state)
{
	struct solver solver = { 0 };
	uint32_t pointer = solver_variable(&solver), object = solver_object(&solver, 0);

	(void)state;
	solver_points(&solver, pointer, solver_location(&solver, object, 0));
	solver_constrain(&solver, pointer,
			 (struct solver_constraint){ .act = SOLVER_STEP, .other = pointer, .offset = 4 });
	solver_solve(&solver);
	assert_int_equal(roaring_bitmap_get_cardinality(solver_answer(&solver, pointer)), 1);
	solver_free(&solver);
}

/* Blocks that are copied from one offset to another, in a circle through several objects, end in objects of one cell;
 * what is stored in one is found in the others. */
static void copies_in_a_circle_end(void **state)
{
	struct solver solver = { 0 };
	enum { BLOCKS = 200 };
	uint32_t begins[BLOCKS], moved[BLOCKS], objects[BLOCKS], loaded = solver_variable(&solver);
	uint32_t value = solver_variable(&solver), target = solver_object(&solver, 8);

	(void)state;
	for (unsigned i = 0; i < BLOCKS; i++) {
		begins[i] = solver_variable(&solver);
		moved[i] = solver_variable(&solver);
		objects[i] = solver_object(&solver, 0);
		solver_points(&solver, begins[i], solver_location(&solver, objects[i], 0));
		solver_points(&solver, moved[i], solver_location(&solver, objects[i], 24));
		/* A part that repeats only at its end keeps no object from becoming one cell. */
		solver_repeat(&solver, objects[i], 1 << 20, 1 << 21, 1);
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		solver_block_copy(&solver, begins[i], moved[(i + 1) % BLOCKS], 0);
	solver_points(&solver, value, solver_location(&solver, target, 0));
	solver_constrain(&solver, begins[0],
			 (struct solver_constraint){ .act = SOLVER_STORE, .other = value });
	solver_solve(&solver);
	assert_true(solver.locations.n < BLOCKS * 12);
	/* In exact arithmetic it lies at 24, 48, 72 … of the next ones. */
	solver_copy(&solver,
		    solver_content(&solver, solver_location(&solver, objects[BLOCKS / 2], 12 * BLOCKS)),
		    loaded);
	solver_solve(&solver);
	assert_true(
		roaring_bitmap_contains(solver_answer(&solver, loaded), solver_location(&solver, target, 0)));
	solver_free(&solver);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_twin),
		cmocka_unit_test(nothing_missed),
		cmocka_unit_test(walks_fold),
		cmocka_unit_test(many_offsets_become_one),
		cmocka_unit_test(copies_in_a_circle_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
