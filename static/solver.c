/* The points-to solver's variables and constraints: who copies to whom, who is one with
 * whom, what a constraint does with a location. Only what is new travels: every variable
 * knows what it has not sent on yet, so a variable that learns nothing costs nothing. */
#include "static/solver_rooms.h"

#include <stdlib.h>

uint32_t solver_find(const struct solver *solver, uint32_t variable)
{
	struct solver_variable *items = solver->variables.items;

	while (items[variable].parent != variable) {
		items[variable].parent = items[items[variable].parent].parent;
		variable = items[variable].parent;
	}
	return variable;
}

uint32_t solver_variable(struct solver *solver)
{
	uint32_t number = (uint32_t)solver->variables.n;

	VEC_PUSH(&solver->variables)->parent = number;
	return number;
}

/* ---- sets, made when they get their first member ---- */

void solver_drop(roaring_bitmap_t **set)
{
	if (*set)
		roaring_bitmap_free(*set);
	*set = NULL;
}

static void set_unite(roaring_bitmap_t **set, const roaring_bitmap_t *with)
{
	if (!with)
		return;
	if (*set)
		roaring_bitmap_or_inplace(*set, with);
	else
		*set = roaring_bitmap_copy(with);
}

/* As set_unite, of a set that nobody else needs any more. */
static void set_absorb(roaring_bitmap_t **set, roaring_bitmap_t *with)
{
	if (!*set) {
		*set = with;
		return;
	}
	roaring_bitmap_or_inplace(*set, with);
	roaring_bitmap_free(with);
}

static roaring_bitmap_t *set_difference(const roaring_bitmap_t *set, const roaring_bitmap_t *without)
{
	if (!set)
		return roaring_bitmap_create();
	return without ? roaring_bitmap_andnot(set, without) : roaring_bitmap_copy(set);
}

uint32_t *solver_members(const roaring_bitmap_t *set, uint64_t *n)
{
	*n = set ? roaring_bitmap_get_cardinality(set) : 0;
	uint32_t *all = memory_alloc((*n + 1) * sizeof *all);

	if (*n)
		roaring_bitmap_to_uint32_array(set, all);
	return all;
}

/* ---- what variables know ---- */

void solver_join(struct solver *solver, uint32_t variable, const roaring_bitmap_t *set)
{
	struct solver_variable *at = &solver->variables.items[variable];

	if (!set || (at->points && roaring_bitmap_is_subset(set, at->points)))
		return;
	roaring_bitmap_t *news = set_difference(set, at->points);

	set_unite(&at->points, news);
	set_absorb(&at->delta, news);
	solver->changed = true;
}

void solver_points(struct solver *solver, uint32_t variable, uint32_t location)
{
	if (location == SOLVER_NONE)
		return;
	struct solver_variable *at = &solver->variables.items[solver_find(solver, variable)];

	if (!at->points)
		at->points = roaring_bitmap_create();
	if (!roaring_bitmap_add_checked(at->points, location))
		return;
	if (!at->delta)
		at->delta = roaring_bitmap_create();
	roaring_bitmap_add(at->delta, location);
	solver->changed = true;
}

void solver_copy(struct solver *solver, uint32_t from, uint32_t to)
{
	from = solver_find(solver, from);
	to = solver_find(solver, to);
	uint64_t key = (uint64_t)from << 32 | to;

	if (from == to || !set_add(&solver->edges, &key, 1))
		return;
	*VEC_PUSH(&solver->variables.items[from].copies) = to;
	/* The wave that just began knows nothing of this copy: a circle may have been closed. */
	solver->changed = true;
	solver_join(solver, to, solver->variables.items[from].points);
}

/* ---- constraints ---- */

/* A location in a part that repeats stands for all its elements: a step down from the first one leaves the part, from
 * the others it leads to the element before. */
static void step(struct solver *solver, const struct solver_constraint *constraint, struct solver_location at)
{
	int64_t to = (int64_t)at.offset + constraint->offset;
	uint32_t nregions = solver->objects.items[at.object].nregions;

	solver_points(solver, constraint->other, solver_location(solver, at.object, to));
	for (uint32_t i = 0; i < nregions && constraint->offset < 0; i++) {
		struct solver_region region = solver->objects.items[at.object].regions[i];

		if (at.offset >= region.start && at.offset < region.end && to < region.start)
			solver_points(solver, constraint->other,
				      solver_location(solver, at.object, to + region.stride));
	}
}

void solver_act(struct solver *solver, const struct solver_constraint *constraint, uint32_t location)
{
	struct solver_location at = solver->locations.items[location];

	switch (constraint->act) {
	case SOLVER_LOAD:
		solver_copy(solver, solver_content(solver, location), constraint->other);
		break;
	case SOLVER_STORE:
		solver_copy(solver, constraint->other, solver_content(solver, location));
		break;
	case SOLVER_STEP:
		step(solver, constraint, at);
		break;
	case SOLVER_WALK:
		solver_repeat(solver, at.object, constraint->offset < 0 ? 0 : at.offset,
			      constraint->extent ? at.offset + constraint->extent : UINT32_MAX,
			      constraint->stride);
		solver_points(solver, constraint->other, solver_location(solver, at.object, at.offset));
		break;
	case SOLVER_CALL:
		solver->called(solver->context, constraint->other, location);
		break;
	case SOLVER_BLOCK_FROM:
	case SOLVER_BLOCK_TO:
		solver_block_reaches(solver, constraint->other, location,
				     constraint->act == SOLVER_BLOCK_FROM);
		break;
	}
}

void solver_constrain(struct solver *solver, uint32_t pointer, struct solver_constraint constraint)
{
	struct solver_variable *at = &solver->variables.items[solver_find(solver, pointer)];

	*VEC_PUSH(&at->constraints) = constraint;
	solver->changed = true;
	if (constraint.act == SOLVER_STEP && constraint.offset < 0)
		*VEC_PUSH(&solver->steps_down) = (struct solver_step_down){ pointer, constraint };
	if (!at->points)
		return;
	struct solver_debt *debt = VEC_PUSH(&solver->debts);

	debt->locations = roaring_bitmap_copy(at->points);
	*VEC_PUSH(&debt->constraints) = constraint;
}

/* ---- two become one ---- */

static size_t weight(const struct solver_variable *variable)
{
	return variable->constraints.n + variable->copies.n;
}

/* What the variable that gives itself up has not done with the other's locations: its copies are served at once,
 * its constraints later. */
static void settle(struct solver *solver, struct solver_variable *from, const roaring_bitmap_t *missing)
{
	for (size_t i = 0; i < from->copies.n; i++)
		solver_join(solver, solver_find(solver, from->copies.items[i]), missing);
	if (!from->constraints.n || roaring_bitmap_is_empty(missing))
		return;
	struct solver_debt *debt = VEC_PUSH(&solver->debts);

	debt->locations = roaring_bitmap_copy(missing);
	for (size_t i = 0; i < from->constraints.n; i++)
		*VEC_PUSH(&debt->constraints) = from->constraints.items[i];
}

void solver_unite(struct solver *solver, uint32_t a, uint32_t b)
{
	a = solver_find(solver, a);
	b = solver_find(solver, b);
	if (a == b)
		return;
	if (weight(&solver->variables.items[a]) < weight(&solver->variables.items[b])) {
		uint32_t swap = a;

		a = b;
		b = swap;
	}
	struct solver_variable *into = &solver->variables.items[a], *from = &solver->variables.items[b];

	from->parent = a;
	solver_join(solver, a, from->points);
	/* What `from` sent on and acted upon needs no second time. */
	roaring_bitmap_t *done = set_difference(from->points, from->delta);
	roaring_bitmap_t *finished = set_difference(done, from->fresh);
	roaring_bitmap_t *missing = set_difference(into->points, finished);

	settle(solver, from, missing);
	roaring_bitmap_free(done);
	roaring_bitmap_free(finished);
	roaring_bitmap_free(missing);
	solver_drop(&from->points);
	solver_drop(&from->delta);
	solver_drop(&from->fresh);
	for (size_t i = 0; i < from->copies.n; i++)
		*VEC_PUSH(&into->copies) = from->copies.items[i];
	for (size_t i = 0; i < from->constraints.n; i++)
		*VEC_PUSH(&into->constraints) = from->constraints.items[i];
	VEC_FREE(&from->copies);
	VEC_FREE(&from->constraints);
	solver->changed = true;
}

/* ---- release ---- */

void solver_free(struct solver *solver)
{
	for (size_t i = 0; i < solver->variables.n; i++) {
		struct solver_variable *variable = &solver->variables.items[i];

		solver_drop(&variable->points);
		solver_drop(&variable->delta);
		solver_drop(&variable->fresh);
		VEC_FREE(&variable->copies);
		VEC_FREE(&variable->constraints);
	}
	for (size_t i = 0; i < solver->objects.n; i++) {
		VEC_FREE(&solver->objects.items[i].locations);
		VEC_FREE(&solver->objects.items[i].listeners);
	}
	for (size_t i = 0; i < solver->block_copies.n; i++) {
		VEC_FREE(&solver->block_copies.items[i].from);
		VEC_FREE(&solver->block_copies.items[i].to);
	}
	for (size_t i = 0; i < solver->debts.n; i++) {
		solver_drop(&solver->debts.items[i].locations);
		VEC_FREE(&solver->debts.items[i].constraints);
	}
	VEC_FREE(&solver->variables);
	VEC_FREE(&solver->objects);
	VEC_FREE(&solver->locations);
	VEC_FREE(&solver->block_copies);
	VEC_FREE(&solver->debts);
	VEC_FREE(&solver->steps_down);
	VEC_FREE(&solver->untold);
	VEC_FREE(&solver->unrenewed);
	map_free(&solver->numbers);
	map_free(&solver->starts);
	set_free(&solver->edges);
}
