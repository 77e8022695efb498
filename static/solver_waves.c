/* Solves the constraints in waves: circles of copies are united, what is new goes down
 * the copies in topological order, then loads, stores, steps and calls act on what
 * arrived and make new copies.
 * (Pereira and Berlin, Wave propagation and deep propagation for pointer analysis.) */
#include "static/solver_rooms.h"

#include <stdlib.h>

/* What is new goes down all copies, and waits for the constraints. */
static void send(struct solver *solver, uint32_t variable)
{
	struct solver_variable *from = &solver->variables.items[variable];
	roaring_bitmap_t *news = from->delta;

	if (!news)
		return;
	from->delta = NULL;
	for (size_t i = 0; i < from->copies.n; i++)
		solver_join(solver, solver_find(solver, from->copies.items[i]), news);
	if (from->constraints.n && from->fresh) {
		roaring_bitmap_or_inplace(from->fresh, news);
	} else if (from->constraints.n) {
		from->fresh = news;
		news = NULL;
	}
	solver->changed = true;
	solver_drop(&news);
}

static bool moves_content(const struct solver_constraint *constraint)
{
	return constraint->act == SOLVER_LOAD || constraint->act == SOLVER_STORE;
}

/* What a pointer cannot tell apart, if it is very much, is not told apart: the locations share what is stored. */
static void share_contents(struct solver *solver, uint32_t first, const uint32_t *all, uint64_t n)
{
	uint32_t content = solver_content(solver, first);

	for (uint64_t i = 0; i < n; i++)
		solver_unite(solver, content, solver_content(solver, all[i]));
}

/* Constraints act on locations. When these share what is stored, one of them is enough for loads and stores. */
static void act_on(struct solver *solver, const struct solver_constraint *constraints, size_t nconstraints,
		   const uint32_t *all, uint64_t n, bool share)
{
	for (size_t c = 0; c < nconstraints; c++) {
		uint64_t enough = share && moves_content(&constraints[c]) ? 1 : n;

		for (uint64_t i = 0; i < enough; i++)
			solver_act(solver, &constraints[c], all[i]);
	}
}

static bool any_moves(const struct solver_constraint *constraints, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (moves_content(&constraints[i]))
			return true;
	return false;
}

static void act_on_fresh(struct solver *solver, uint32_t variable)
{
	const struct solver_variable *at = &solver->variables.items[variable];
	roaring_bitmap_t *set = at->fresh;
	size_t nconstraints = at->constraints.n;
	uint64_t n;

	if (!set)
		return;
	_cleanup_free_ uint32_t *fresh = solver_members(set, &n);
	/* A copy: acting may add constraints, or unite the variable with another. */
	_cleanup_free_ struct solver_constraint *constraints =
		memory_alloc((nconstraints + 1) * sizeof *constraints);
	bool share = roaring_bitmap_get_cardinality(at->points) > solver->large &&
		     any_moves(at->constraints.items, nconstraints);
	uint32_t first = roaring_bitmap_minimum(at->points);

	for (size_t i = 0; i < nconstraints; i++)
		constraints[i] = at->constraints.items[i];
	solver_drop(&solver->variables.items[variable].fresh);
	if (share)
		share_contents(solver, first, fresh, n);
	act_on(solver, constraints, nconstraints, fresh, n, share);
}

static void pay_debts(struct solver *solver)
{
	/* Paying may make new debts, behind these. */
	for (size_t i = 0; i < solver->debts.n; i++) {
		struct solver_debt debt = solver->debts.items[i];
		uint64_t n;
		_cleanup_free_ uint32_t *all = solver_members(debt.locations, &n);
		bool share = n > solver->large && any_moves(debt.constraints.items, debt.constraints.n);

		solver->debts.items[i] = (struct solver_debt){ 0 };
		if (share)
			share_contents(solver, all[0], all, n);
		act_on(solver, debt.constraints.items, debt.constraints.n, all, n, share);
		solver_drop(&debt.locations);
		VEC_FREE(&debt.constraints);
	}
	solver->debts.n = 0;
}

static void step_down_again(struct solver *solver)
{
	solver->folded = false;
	for (size_t i = 0; i < solver->steps_down.n; i++) {
		struct solver_step_down step = solver->steps_down.items[i];
		uint64_t n;
		_cleanup_free_ uint32_t *all =
			solver_members(solver->variables.items[solver_find(solver, step.pointer)].points, &n);

		act_on(solver, &step.constraint, 1, all, n, false);
	}
}

void solver_solve(struct solver *solver)
{
	uint32_t waves = 0;

	if (!solver->large)
		solver->large = SOLVER_LARGE;
	do {
		uint32_t n;
		_cleanup_free_ uint32_t *order = solver_order(solver, &n);

		solver->changed = false;
		for (uint32_t i = 0; i < n; i++)
			send(solver, order[i]);
		for (uint32_t i = 0; i < n; i++)
			act_on_fresh(solver, order[i]);
		pay_debts(solver);
		solver_block_tell(solver);
		if (solver->folded)
			step_down_again(solver);
		if (solver->progress)
			solver->progress(solver->context, ++waves, solver->variables.n);
	} while (solver->changed);
}

const roaring_bitmap_t *solver_answer(struct solver *solver, uint32_t variable)
{
	struct solver_variable *at = &solver->variables.items[solver_find(solver, variable)];
	uint64_t n;
	_cleanup_free_ uint32_t *all = solver_members(at->points, &n);

	if (!at->points)
		at->points = roaring_bitmap_create();
	/* Members that were found before their object's offsets were united. */
	for (uint64_t i = 0; i < n; i++) {
		uint32_t now = solver_canonical(solver, all[i]);

		if (now != all[i]) {
			roaring_bitmap_remove(at->points, all[i]);
			roaring_bitmap_add(at->points, now);
		}
	}
	return at->points;
}
