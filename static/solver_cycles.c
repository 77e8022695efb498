/* Circles of copies: variables that copy to each other hold the same and become one
 * (Tarjan's strongly connected components, without recursion). What is left has a
 * topological order, so that one wave carries everything all the way down. */
#include "static/solver_rooms.h"

#include <stdlib.h>

struct frame {
	uint32_t variable;
	size_t edge;
};

struct tarjan {
	uint32_t *index, *low, *stack, *order;
	bool *on_stack;
	uint32_t next, depth, norder;
	struct frame *frames;
	uint32_t nframes;
	VEC(uint32_t) circles; /* pairs of variables that are one */
};

static void enter(struct tarjan *tarjan, uint32_t variable)
{
	tarjan->index[variable] = tarjan->low[variable] = ++tarjan->next;
	tarjan->stack[tarjan->depth++] = variable;
	tarjan->on_stack[variable] = true;
	tarjan->frames[tarjan->nframes++] = (struct frame){ variable, 0 };
}

static void leave(struct tarjan *tarjan, uint32_t root)
{
	uint32_t member;

	do {
		member = tarjan->stack[--tarjan->depth];
		tarjan->on_stack[member] = false;
		if (member != root) {
			*VEC_PUSH(&tarjan->circles) = root;
			*VEC_PUSH(&tarjan->circles) = member;
		}
	} while (member != root);
	tarjan->order[tarjan->norder++] = root;
}

static void visit(struct solver *solver, struct tarjan *tarjan, uint32_t start)
{
	enter(tarjan, start);
	while (tarjan->nframes) {
		struct frame *top = &tarjan->frames[tarjan->nframes - 1];
		const struct solver_variable *variable = &solver->variables.items[top->variable];

		if (top->edge < variable->copies.n) {
			uint32_t to = variable->copies.items[top->edge++];

			if (!tarjan->index[to])
				enter(tarjan, to);
			else if (tarjan->on_stack[to] && tarjan->index[to] < tarjan->low[top->variable])
				tarjan->low[top->variable] = tarjan->index[to];
			continue;
		}
		uint32_t done = top->variable;

		tarjan->nframes--;
		if (tarjan->nframes) {
			uint32_t above = tarjan->frames[tarjan->nframes - 1].variable;

			if (tarjan->low[done] < tarjan->low[above])
				tarjan->low[above] = tarjan->low[done];
		}
		if (tarjan->low[done] == tarjan->index[done])
			leave(tarjan, done);
	}
}

/* Copies by the names that variables have now, each once. `seen` holds for each variable who copied to it last. */
static void tidy_copies(struct solver *solver, uint32_t variable, uint32_t *seen)
{
	struct solver_variable *from = &solver->variables.items[variable];
	size_t kept = 0;

	for (size_t i = 0; i < from->copies.n; i++) {
		uint32_t to = solver_find(solver, from->copies.items[i]);

		if (to == variable || seen[to] == variable + 1)
			continue;
		seen[to] = variable + 1;
		from->copies.items[kept++] = to;
	}
	from->copies.n = kept;
}

static void tidy(struct solver *solver)
{
	_cleanup_free_ uint32_t *seen = memory_alloc((solver->variables.n + 1) * sizeof *seen);

	for (uint32_t i = 0; i < solver->variables.n; i++)
		if (solver_find(solver, i) == i)
			tidy_copies(solver, i, seen);
}

uint32_t *solver_order(struct solver *solver, uint32_t *n)
{
	size_t total = solver->variables.n + 1;
	struct tarjan tarjan = {
		.index = memory_alloc(total * sizeof(uint32_t)),
		.low = memory_alloc(total * sizeof(uint32_t)),
		.stack = memory_alloc(total * sizeof(uint32_t)),
		.order = memory_alloc(total * sizeof(uint32_t)),
		.on_stack = memory_alloc(total),
		.frames = memory_alloc(total * sizeof(struct frame)),
	};

	tidy(solver);
	for (uint32_t i = 0; i + 1 < total; i++)
		if (solver_find(solver, i) == i && !tarjan.index[i])
			visit(solver, &tarjan, i);
	for (size_t i = 0; i < tarjan.circles.n; i += 2)
		solver_unite(solver, tarjan.circles.items[i], tarjan.circles.items[i + 1]);
	for (uint32_t i = 0; i < tarjan.norder / 2; i++) {
		uint32_t swap = tarjan.order[i];

		tarjan.order[i] = tarjan.order[tarjan.norder - 1 - i];
		tarjan.order[tarjan.norder - 1 - i] = swap;
	}
	for (uint32_t i = 0; i < tarjan.norder; i++)
		tarjan.order[i] = solver_find(solver, tarjan.order[i]);
	*n = tarjan.norder;
	VEC_FREE(&tarjan.circles);
	free(tarjan.index);
	free(tarjan.low);
	free(tarjan.stack);
	free(tarjan.on_stack);
	free(tarjan.frames);
	return tarjan.order;
}
