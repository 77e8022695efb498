/* Locations: objects and offsets in them. Where a program steps through an object with a
 * variable index, offsets that differ by a multiple of the step fold into one, and what
 * was stored at them becomes one. */
#include "static/solver_rooms.h"

#include <string.h>

uint32_t solver_object(struct solver *solver, uint32_t size)
{
	VEC_PUSH(&solver->objects)->size = size;
	return (uint32_t)solver->objects.n - 1;
}

uint32_t solver_fold(const struct solver_object *object, uint32_t offset)
{
	for (uint32_t i = 0; i < object->nregions; i++) {
		const struct solver_region *region = &object->regions[i];

		if (offset >= region->start && offset < region->end)
			offset = region->start + (offset - region->start) % region->stride;
	}
	return offset;
}

static bool is_one_cell(const struct solver_object *object)
{
	return object->nregions && object->regions[0].stride == 1 && object->regions[0].start == 0 &&
	       object->regions[0].end == UINT32_MAX;
}

uint32_t solver_location(struct solver *solver, uint32_t object, int64_t offset)
{
	struct solver_object *of = &solver->objects.items[object];
	bool fresh;

	if (offset < 0 || offset > INT32_MAX || (of->size && offset >= of->size))
		return SOLVER_NONE;
	uint32_t at = solver_fold(of, (uint32_t)offset);
	uint64_t *number = map_put(&solver->numbers, (uint64_t)object << 32 | at, &fresh);

	if (!fresh)
		return (uint32_t)*number;
	uint32_t made = (uint32_t)solver->locations.n;

	*number = made;
	*VEC_PUSH(&solver->locations) = (struct solver_location){ object, at, SOLVER_NONE, 0 };
	*VEC_PUSH(&of->locations) = made;
	if (of->locations.n > SOLVER_OFFSETS && !is_one_cell(of))
		solver_repeat(solver, object, 0, UINT32_MAX, 1);
	return solver_canonical(solver, made);
}

uint32_t solver_canonical(struct solver *solver, uint32_t location)
{
	const struct solver_location *at = &solver->locations.items[location];
	const struct solver_object *object = &solver->objects.items[at->object];
	uint32_t offset = solver_fold(object, at->offset);

	return offset == at->offset ? location : solver_location(solver, at->object, offset);
}

uint32_t solver_content(struct solver *solver, uint32_t location)
{
	location = solver_canonical(solver, location);
	if (solver->locations.items[location].content == SOLVER_NONE) {
		uint32_t variable = solver_variable(solver);

		solver->locations.items[location].content = variable;
		/* Later: a copy that is told makes contents of its own, in chains as long as a program is large. */
		*VEC_PUSH(&solver->untold) = location;
		solver->changed = true;
	}
	return solver->locations.items[location].content;
}

/* Those of the object's offsets that now are one share what is stored there. */
static void refold(struct solver *solver, uint32_t object)
{
	for (size_t i = 0; i < solver->objects.items[object].locations.n; i++) {
		uint32_t old = solver->objects.items[object].locations.items[i];
		uint32_t now = solver_canonical(solver, old);

		if (now == old || solver->locations.items[old].content == SOLVER_NONE)
			continue;
		uint32_t content = solver_content(solver, now);

		solver_unite(solver, content, solver->locations.items[old].content);
	}
	if (!solver->objects.items[object].unrenewed)
		*VEC_PUSH(&solver->unrenewed) = object;
	solver->objects.items[object].unrenewed = true;
	solver->changed = solver->folded = true;
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

static void remove_region(struct solver_object *object, uint32_t number)
{
	object->nregions--;
	for (uint32_t i = number; i < object->nregions; i++)
		object->regions[i] = object->regions[i + 1];
}

/* Does the one lie in a single element of the other? Then it is moved into the first element. */
static bool nests(struct solver_region *inner, const struct solver_region *outer)
{
	if (inner->stride >= outer->stride || inner->start < outer->start || inner->start >= outer->end ||
	    inner->end == UINT32_MAX)
		return false;
	uint32_t in_element = (inner->start - outer->start) % outer->stride,
		 length = inner->end - inner->start;

	if (length > outer->stride - in_element)
		return false;
	inner->start = outer->start + in_element;
	inner->end = inner->start + length;
	return true;
}

/* One region that keeps apart only what both of them do. */
static struct solver_region merged(const struct solver_region *a, const struct solver_region *b)
{
	uint32_t apart = a->start < b->start ? b->start - a->start : a->start - b->start;

	return (struct solver_region){ .start = a->start < b->start ? a->start : b->start,
				       .end = a->end > b->end ? a->end : b->end,
				       .stride =
					       common_divisor(common_divisor(a->stride, b->stride), apart) };
}

/* Regions that overlap without one lying in the elements of the other become one; false when there are none. */
static bool merge_two(struct solver_object *object)
{
	for (uint32_t i = 0; i < object->nregions; i++)
		for (uint32_t j = i + 1; j < object->nregions; j++) {
			struct solver_region a = object->regions[i], *b = &object->regions[j];

			if (a.start >= b->end || b->start >= a.end || nests(b, &a))
				continue;
			a = merged(&a, b);
			remove_region(object, j);
			remove_region(object, i);
			insert_region(object, a);
			return true;
		}
	return false;
}

void solver_repeat(struct solver *solver, uint32_t object, uint32_t start, uint32_t end, uint32_t stride)
{
	struct solver_object *of = &solver->objects.items[object];
	uint32_t length = end == UINT32_MAX ? 0 : end - start, old = of->nregions;
	struct solver_region before[SOLVER_REGIONS];

	if (!stride || is_one_cell(of))
		return;
	start = solver_fold(of, start);
	memcpy(before, of->regions, sizeof before);
	if (of->nregions == SOLVER_REGIONS) {
		of->nregions = 1;
		of->regions[0] = (struct solver_region){ 0, UINT32_MAX, 1 };
	} else {
		insert_region(of,
			      (struct solver_region){ start, length ? start + length : UINT32_MAX, stride });
		while (merge_two(of))
			;
	}
	if (of->nregions != old || memcmp(before, of->regions, old * sizeof *before) != 0)
		refold(solver, object);
}
