/* The points-to solver: waves over the graph of copies. Each wave unites variables
 * that copy to each other in a circle, sends what is new along the rest in
 * topological order, and then lets loads, stores, steps and calls make new copies.
 * (Pereira and Berlin, Wave propagation and deep propagation for pointer analysis.) */
#include "static/solver.h"

#include <stdlib.h>

static uint32_t find(const struct solver *solver, uint32_t variable)
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

uint32_t solver_object(struct solver *solver, uint32_t size)
{
	VEC_PUSH(&solver->objects)->size = size;
	return (uint32_t)solver->objects.n - 1;
}

/* ---- sets, made when they get their first member ---- */

static bool set_put(roaring_bitmap_t **set, uint32_t value)
{
	if (!*set)
		*set = roaring_bitmap_create();
	return roaring_bitmap_add_checked(*set, value);
}

static bool set_unite(roaring_bitmap_t **set, const roaring_bitmap_t *with)
{
	if (!with || roaring_bitmap_is_empty(with))
		return false;
	if (!*set) {
		*set = roaring_bitmap_copy(with);
		return true;
	}
	if (roaring_bitmap_is_subset(with, *set))
		return false;
	roaring_bitmap_or_inplace(*set, with);
	return true;
}

static void set_drop(roaring_bitmap_t **set)
{
	if (*set)
		roaring_bitmap_free(*set);
	*set = NULL;
}

/* ---- locations ---- */

static uint32_t fold(const struct solver_object *object, uint32_t offset)
{
	for (uint32_t i = 0; i < object->nregions; i++) {
		const struct solver_region *region = &object->regions[i];

		if (offset >= region->start && offset < region->end)
			offset = region->start + (offset - region->start) % region->stride;
	}
	return offset;
}

uint32_t solver_location(struct solver *solver, uint32_t object, int64_t offset)
{
	struct solver_object *of = &solver->objects.items[object];
	bool fresh;

	if (offset < 0 || offset > INT32_MAX || (of->size && offset >= of->size))
		return SOLVER_NONE;
	uint32_t at = fold(of, (uint32_t)offset);
	uint64_t *number = map_put(&solver->numbers, (uint64_t)object << 32 | at, &fresh);

	if (!fresh)
		return (uint32_t)*number;
	uint32_t made = (uint32_t)solver->locations.n;

	*number = made;
	*VEC_PUSH(&solver->locations) = (struct solver_location){ object, at, SOLVER_NONE };
	*VEC_PUSH(&of->locations) = made;
	if (of->locations.n > SOLVER_OFFSETS && !(of->nregions && of->regions[0].stride == 1))
		solver_repeat(solver, object, 0, UINT32_MAX, 1);
	return solver_canonical(solver, made);
}

uint32_t solver_canonical(struct solver *solver, uint32_t location)
{
	const struct solver_location *at = &solver->locations.items[location];
	const struct solver_object *object = &solver->objects.items[at->object];
	uint32_t offset = fold(object, at->offset);

	return offset == at->offset ? location : solver_location(solver, at->object, offset);
}

uint32_t solver_content(struct solver *solver, uint32_t location)
{
	location = solver_canonical(solver, location);
	if (solver->locations.items[location].content == SOLVER_NONE) {
		uint32_t variable = solver_variable(solver);

		solver->locations.items[location].content = variable;
		solver->contents++;
	}
	return solver->locations.items[location].content;
}

static void unite(struct solver *solver, uint32_t a, uint32_t b);

/* Those of the object's offsets that now are one share what is stored there. */
static void refold(struct solver *solver, uint32_t object)
{
	for (size_t i = 0; i < solver->objects.items[object].locations.n; i++) {
		uint32_t old = solver->objects.items[object].locations.items[i];
		uint32_t now = solver_canonical(solver, old);

		if (now == old || solver->locations.items[old].content == SOLVER_NONE)
			continue;
		uint32_t content = solver_content(solver, now);

		unite(solver, content, solver->locations.items[old].content);
	}
	solver->changed = true;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Larger strides first, so that an array inside the elements of another folds last. */
static void insert_region(struct solver_object *object, struct solver_region region)
{
	uint32_t at = object->nregions++;

	for (; at > 0 && object->regions[at - 1].stride < region.stride; at--)
		object->regions[at] = object->regions[at - 1];
	object->regions[at] = region;
}

void solver_repeat(struct solver *solver, uint32_t object, uint32_t start, uint32_t end, uint32_t stride)
{
	struct solver_object *of = &solver->objects.items[object];

	if (!stride || (of->nregions && of->regions[0].stride == 1 && of->regions[0].start == 0))
		return;
	start = fold(of, start);
	for (uint32_t i = 0; i < of->nregions; i++) {
		struct solver_region *region = &of->regions[i];

		if (region->start != start)
			continue;
		if (region->end >= end && region->stride % stride == 0 && region->stride == stride)
			return;
		if (region->stride % stride && stride % region->stride) {
			region->stride = common_divisor(region->stride, stride);
			region->end = region->end > end ? region->end : end;
			refold(solver, object);
			return;
		}
		if (region->stride == stride) {
			region->end = end;
			refold(solver, object);
			return;
		}
	}
	if (of->nregions == SOLVER_REGIONS) {
		of->nregions = 1;
		of->regions[0] = (struct solver_region){ 0, UINT32_MAX, 1 };
	} else {
		insert_region(of, (struct solver_region){ start, end, stride });
	}
	refold(solver, object);
}

/* ---- constraints ---- */

void solver_points(struct solver *solver, uint32_t variable, uint32_t location)
{
	if (location == SOLVER_NONE)
		return;
	if (set_put(&solver->variables.items[find(solver, variable)].points, location))
		solver->changed = true;
}

void solver_copy(struct solver *solver, uint32_t from, uint32_t to)
{
	from = find(solver, from);
	to = find(solver, to);
	uint64_t key = (uint64_t)from << 32 | to;

	if (from == to || !set_add(&solver->edges, &key, 1))
		return;
	*VEC_PUSH(&solver->variables.items[from].copies) = to;
	if (set_unite(&solver->variables.items[to].points, solver->variables.items[from].points))
		solver->changed = true;
}

static void act(struct solver *solver, const struct solver_constraint *constraint, uint32_t location)
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
		solver_points(solver, constraint->other,
			      solver_location(solver, at.object, (int64_t)at.offset + constraint->offset));
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
	}
}

/* A copy of the members: what acts may add variables, constraints and members. */
static uint32_t *members(const roaring_bitmap_t *set, uint64_t *n)
{
	*n = set ? roaring_bitmap_get_cardinality(set) : 0;
	uint32_t *all = memory_alloc((*n + 1) * sizeof *all);

	if (*n)
		roaring_bitmap_to_uint32_array(set, all);
	return all;
}

void solver_constrain(struct solver *solver, uint32_t pointer, struct solver_constraint constraint)
{
	uint64_t n;

	pointer = find(solver, pointer);
	*VEC_PUSH(&solver->variables.items[pointer].constraints) = constraint;
	_cleanup_free_ uint32_t *known = members(solver->variables.items[pointer].done, &n);

	for (uint64_t i = 0; i < n; i++)
		act(solver, &constraint, known[i]);
	solver->changed = true;
}

void solver_block_copy(struct solver *solver, uint32_t from, uint32_t to, uint32_t size)
{
	*VEC_PUSH(&solver->block_copies) =
		(struct solver_block_copy){ .from = from, .to = to, .size = size, .hub = SOLVER_NONE };
	solver->changed = true;
}

/* ---- waves ---- */

static void undo(struct solver_variable *variable, const roaring_bitmap_t *what)
{
	if (variable->done && what)
		roaring_bitmap_andnot_inplace(variable->done, what);
}

static void unite(struct solver *solver, uint32_t a, uint32_t b)
{
	a = find(solver, a);
	b = find(solver, b);
	if (a == b)
		return;
	struct solver_variable *into = &solver->variables.items[a], *from = &solver->variables.items[b];

	from->parent = a;
	set_unite(&into->points, from->points);
	/* Done is only what both have sent on and acted upon. */
	undo(into, into->fresh);
	undo(from, from->fresh);
	if (into->done && from->done)
		roaring_bitmap_and_inplace(into->done, from->done);
	else
		set_drop(&into->done);
	set_drop(&into->fresh);
	set_drop(&from->points);
	set_drop(&from->done);
	set_drop(&from->fresh);
	for (size_t i = 0; i < from->copies.n; i++)
		*VEC_PUSH(&into->copies) = from->copies.items[i];
	for (size_t i = 0; i < from->constraints.n; i++)
		*VEC_PUSH(&into->constraints) = from->constraints.items[i];
	VEC_FREE(&from->copies);
	VEC_FREE(&from->constraints);
	solver->changed = true;
}

struct tarjan {
	uint32_t *index, *low, *stack, *order;
	bool *on_stack;
	uint32_t next, depth, norder;
	struct frame {
		uint32_t variable;
		size_t edge;
	} *frames;
	uint32_t nframes;
};

static void tarjan_enter(struct tarjan *tarjan, uint32_t variable)
{
	tarjan->index[variable] = tarjan->low[variable] = ++tarjan->next;
	tarjan->stack[tarjan->depth++] = variable;
	tarjan->on_stack[variable] = true;
	tarjan->frames[tarjan->nframes++] = (struct frame){ variable, 0 };
}

/* The component's members share their set from now on; the order is by components, last first. */
static void tarjan_leave(struct solver *solver, struct tarjan *tarjan, uint32_t root)
{
	uint32_t member;

	do {
		member = tarjan->stack[--tarjan->depth];
		tarjan->on_stack[member] = false;
		if (member != root)
			unite(solver, root, member);
	} while (member != root);
	tarjan->order[tarjan->norder++] = root;
}

static void tarjan_visit(struct solver *solver, struct tarjan *tarjan, uint32_t start)
{
	tarjan_enter(tarjan, start);
	while (tarjan->nframes) {
		struct frame *top = &tarjan->frames[tarjan->nframes - 1];
		const struct solver_variable *variable = &solver->variables.items[top->variable];

		if (top->edge < variable->copies.n) {
			uint32_t to = find(solver, variable->copies.items[top->edge++]);

			if (!tarjan->index[to])
				tarjan_enter(tarjan, to);
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
			tarjan_leave(solver, tarjan, done);
	}
}

/* Unites circles; the representatives in topological order, owned by the caller. */
static uint32_t *topological(struct solver *solver, uint32_t *n)
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

	for (uint32_t i = 0; i + 1 < total; i++)
		if (find(solver, i) == i && !tarjan.index[i])
			tarjan_visit(solver, &tarjan, i);
	for (uint32_t i = 0; i < tarjan.norder / 2; i++) {
		uint32_t swap = tarjan.order[i];

		tarjan.order[i] = tarjan.order[tarjan.norder - 1 - i];
		tarjan.order[tarjan.norder - 1 - i] = swap;
	}
	*n = tarjan.norder;
	free(tarjan.index);
	free(tarjan.low);
	free(tarjan.stack);
	free(tarjan.on_stack);
	free(tarjan.frames);
	return tarjan.order;
}

static void send(struct solver *solver, uint32_t variable)
{
	struct solver_variable *from = &solver->variables.items[variable];

	if (!from->points)
		return;
	roaring_bitmap_t *news = from->done ? roaring_bitmap_andnot(from->points, from->done)
					    : roaring_bitmap_copy(from->points);

	if (!roaring_bitmap_is_empty(news)) {
		set_unite(&from->done, news);
		if (from->constraints.n)
			set_unite(&from->fresh, news);
		for (size_t i = 0; i < from->copies.n; i++) {
			uint32_t to = find(solver, from->copies.items[i]);

			if (to != variable)
				set_unite(&solver->variables.items[to].points, news);
		}
		solver->changed = true;
	}
	roaring_bitmap_free(news);
}

static bool moves_content(const struct solver_variable *variable)
{
	for (size_t i = 0; i < variable->constraints.n; i++)
		if (variable->constraints.items[i].act <= SOLVER_STORE)
			return true;
	return false;
}

/* What a pointer cannot tell apart, if it is very much, is not told apart: the locations share what is stored. */
static void unite_contents(struct solver *solver, uint32_t variable, const uint32_t *fresh, uint64_t n)
{
	const struct solver_variable *at = &solver->variables.items[variable];

	if (!n || !moves_content(at) || roaring_bitmap_get_cardinality(at->points) <= SOLVER_LARGE)
		return;
	uint32_t first = solver_content(solver, roaring_bitmap_minimum(at->points));

	for (uint64_t i = 0; i < n; i++)
		unite(solver, first, solver_content(solver, fresh[i]));
}

static void act_on_fresh(struct solver *solver, uint32_t variable)
{
	roaring_bitmap_t *set = solver->variables.items[variable].fresh;
	uint64_t n;
	_cleanup_free_ uint32_t *fresh = members(set, &n);
	size_t constraints = solver->variables.items[variable].constraints.n;

	solver->variables.items[variable].fresh = NULL;
	unite_contents(solver, variable, fresh, n);
	if (find(solver, variable) != variable) {
		undo(&solver->variables.items[find(solver, variable)], set);
		n = 0;
	}
	constraints = solver->variables.items[variable].constraints.n;
	for (uint64_t i = 0; i < n; i++)
		for (size_t c = 0; c < constraints; c++) {
			struct solver_constraint constraint =
				solver->variables.items[variable].constraints.items[c];

			act(solver, &constraint, fresh[i]);
			/* Acting may have united this variable with another: all of it once more, there. */
			if (find(solver, variable) != variable ||
			    solver->variables.items[variable].constraints.n != constraints) {
				undo(&solver->variables.items[find(solver, variable)], set);
				n = 0;
				break;
			}
		}
	set_drop(&set);
}

/* Member by member: what is stored at an offset of the one goes to the same offset of the other. */
static void copy_block(struct solver *solver, const struct solver_block_copy *copy, uint32_t from,
		       uint32_t to)
{
	struct solver_location source = solver->locations.items[from], target = solver->locations.items[to];

	for (size_t i = 0; i < solver->objects.items[source.object].locations.n; i++) {
		uint32_t part = solver->objects.items[source.object].locations.items[i];
		struct solver_location at = solver->locations.items[part];

		if (at.content == SOLVER_NONE || at.offset < source.offset ||
		    (copy->size && at.offset - source.offset >= copy->size))
			continue;
		uint32_t there = solver_location(solver, target.object,
						 (int64_t)target.offset + at.offset - source.offset);

		if (there != SOLVER_NONE)
			solver_copy(solver, at.content, solver_content(solver, there));
	}
}

/* Joins all that is stored from a location on with the hub of a copy, in one direction. */
static void copy_hub(struct solver *solver, const struct solver_block_copy *copy, uint32_t location, bool in)
{
	struct solver_location at = solver->locations.items[location];

	for (size_t i = 0; i < solver->objects.items[at.object].locations.n; i++) {
		struct solver_location part =
			solver->locations.items[solver->objects.items[at.object].locations.items[i]];

		if (part.content == SOLVER_NONE || part.offset < at.offset ||
		    (copy->size && part.offset - at.offset >= copy->size))
			continue;
		if (in)
			solver_copy(solver, part.content, copy->hub);
		else
			solver_copy(solver, copy->hub, part.content);
	}
}

static void copy_between(struct solver *solver, size_t number, const uint32_t *from, uint64_t nfrom,
			 const uint32_t *to, uint64_t nto)
{
	struct solver_block_copy *copy = &solver->block_copies.items[number];

	if (copy->hub == SOLVER_NONE && nfrom * nto <= SOLVER_EXACT_COPIES) {
		for (uint64_t f = 0; f < nfrom; f++)
			for (uint64_t t = 0; t < nto; t++)
				copy_block(solver, copy, from[f], to[t]);
		return;
	}
	if (copy->hub == SOLVER_NONE)
		copy->hub = solver_variable(solver);
	for (uint64_t f = 0; f < nfrom; f++)
		copy_hub(solver, copy, from[f], true);
	for (uint64_t t = 0; t < nto; t++)
		copy_hub(solver, copy, to[t], false);
}

static void copy_blocks(struct solver *solver)
{
	for (size_t i = 0; i < solver->block_copies.n; i++) {
		struct solver_block_copy *copy = &solver->block_copies.items[i];
		uint64_t nfrom, nto, made = solver->contents;
		_cleanup_free_ uint32_t *from =
			members(solver->variables.items[find(solver, copy->from)].points, &nfrom);
		_cleanup_free_ uint32_t *to =
			members(solver->variables.items[find(solver, copy->to)].points, &nto);

		if (copy->seen == nfrom + nto && copy->made == made)
			continue;
		copy->seen = nfrom + nto;
		copy->made = made;
		copy_between(solver, i, from, nfrom, to, nto);
	}
}

void solver_solve(struct solver *solver)
{
	do {
		uint32_t n;
		solver->changed = false;
		_cleanup_free_ uint32_t *order = topological(solver, &n);

		solver->changed = false;
		for (uint32_t i = 0; i < n; i++)
			send(solver, order[i]);
		for (uint32_t i = 0; i < n; i++)
			if (find(solver, order[i]) == order[i])
				act_on_fresh(solver, order[i]);
		copy_blocks(solver);
	} while (solver->changed);
}

const roaring_bitmap_t *solver_answer(struct solver *solver, uint32_t variable)
{
	struct solver_variable *at = &solver->variables.items[find(solver, variable)];
	uint64_t n;
	_cleanup_free_ uint32_t *all = members(at->points, &n);

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

void solver_free(struct solver *solver)
{
	for (size_t i = 0; i < solver->variables.n; i++) {
		struct solver_variable *variable = &solver->variables.items[i];

		set_drop(&variable->points);
		set_drop(&variable->done);
		set_drop(&variable->fresh);
		VEC_FREE(&variable->copies);
		VEC_FREE(&variable->constraints);
	}
	for (size_t i = 0; i < solver->objects.n; i++)
		VEC_FREE(&solver->objects.items[i].locations);
	VEC_FREE(&solver->variables);
	VEC_FREE(&solver->objects);
	VEC_FREE(&solver->locations);
	VEC_FREE(&solver->block_copies);
	map_free(&solver->numbers);
	set_free(&solver->edges);
}
