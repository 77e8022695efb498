/* Copies of whole blocks: what is stored at an offset of the one is stored at the same
 * offset of the other. A copy learns of blocks as its two pointers reach them, and of
 * what is stored in them as it comes into being, so nothing is ever looked through
 * twice. Very many blocks on both sides share one variable in the middle. */
#include "static/solver_rooms.h"

#include <stdlib.h>

/* Where in its object a copy begins, as offsets are folded now; the repeating part that it begins in, if any. */
static uint32_t begin(const struct solver_object *object, uint32_t offset, const struct solver_region **in)
{
	offset = solver_fold(object, offset);
	*in = NULL;
	for (uint32_t i = 0; i < object->nregions; i++)
		if (offset >= object->regions[i].start && offset < object->regions[i].end)
			*in = &object->regions[i];
	return offset;
}

/* How far behind the copy's beginning a part of the object lies; below 0: the copy does not touch it. */
static int64_t distance(const struct solver_object *object, uint32_t from, uint32_t part, uint32_t size)
{
	const struct solver_region *in;
	int64_t away = (int64_t)part - begin(object, from, &in);

	/* In what repeats, a part before the beginning also stands one element later. */
	if (away < 0 && in && part >= in->start)
		away += in->stride;
	if (away < 0)
		return -1;
	return size && away >= size ? -1 : away;
}

/* Copies from one offset to another that lead in a circle, in one object or through several, would make offset after
 * offset. A place that is only there since copies moved it again and again is such a one: its object is a buffer. */
static uint32_t drift(struct solver *solver, struct solver_location part, uint32_t to, uint32_t there)
{
	uint32_t object = solver->locations.items[to].object, drifts = part.drifts + 1;

	if (part.offset == solver->locations.items[there].offset)
		drifts--;
	solver->locations.items[there].drifts = drifts;
	if (drifts <= SOLVER_DRIFTS)
		return there;
	solver_repeat(solver, object, 0, UINT32_MAX, 1);
	return solver_canonical(solver, there);
}

static void copy_part(struct solver *solver, struct solver_location part, int64_t away, uint32_t to)
{
	struct solver_location target = solver->locations.items[to];
	size_t known = solver->locations.n;
	uint32_t there = solver_location(solver, target.object, (int64_t)target.offset + away);

	if (there == SOLVER_NONE)
		return;
	if (there >= known)
		there = drift(solver, part, to, there);
	solver_copy(solver, part.content, solver_content(solver, there));
}

/* Parts of the source that repeat, repeat in the target. */
static void repeat_target(struct solver *solver, uint32_t from, uint32_t to, uint32_t size)
{
	struct solver_location source = solver->locations.items[from], target = solver->locations.items[to];
	const struct solver_region *in;
	uint32_t base = begin(&solver->objects.items[source.object], source.offset, &in);

	for (uint32_t i = 0; i < solver->objects.items[source.object].nregions; i++) {
		struct solver_region region = solver->objects.items[source.object].regions[i];
		uint32_t start = region.start > base ? region.start - base : 0, end = UINT32_MAX;

		if (region.end != UINT32_MAX)
			end = region.end > base ? target.offset + region.end - base : 0;
		if (size && end > target.offset + size)
			end = target.offset + size;
		start += target.offset;
		if (end > start && end - start > region.stride)
			solver_repeat(solver, target.object, start, end, region.stride);
	}
}

/* One part of a block that is read, to all blocks that are written. */
static void read_part(struct solver *solver, uint32_t number, uint32_t from, uint32_t part, bool whole)
{
	struct solver_location source = solver->locations.items[from], at = solver->locations.items[part];
	const struct solver_block_copy *copy = &solver->block_copies.items[number];
	int64_t away =
		whole ? 0 : distance(&solver->objects.items[at.object], source.offset, at.offset, copy->size);

	if (at.content == SOLVER_NONE || away < 0)
		return;
	if (copy->hub != SOLVER_NONE) {
		solver_copy(solver, at.content, copy->hub);
		return;
	}
	for (size_t i = 0; i < solver->block_copies.items[number].to.n; i++) {
		uint32_t to = solver->block_copies.items[number].to.items[i];

		repeat_target(solver, from, to, solver->block_copies.items[number].size);
		copy_part(solver, at, away, to);
	}
}

static void write_part(struct solver *solver, uint32_t number, uint32_t to, uint32_t part, bool whole)
{
	struct solver_location target = solver->locations.items[to], at = solver->locations.items[part];
	const struct solver_block_copy *copy = &solver->block_copies.items[number];

	if (at.content != SOLVER_NONE && copy->hub != SOLVER_NONE &&
	    (whole || distance(&solver->objects.items[at.object], target.offset, at.offset, copy->size) >= 0))
		solver_copy(solver, copy->hub, at.content);
}

/* All parts that exist of one block; copying may make further ones, of which the copy is told. */
static void each_part(struct solver *solver, uint32_t number, uint32_t block, bool reads, bool whole)
{
	uint32_t object = solver->locations.items[block].object;

	for (size_t i = 0; i < solver->objects.items[object].locations.n; i++) {
		uint32_t part = solver->objects.items[object].locations.items[i];

		if (reads)
			read_part(solver, number, block, part, whole);
		else
			write_part(solver, number, block, part, whole);
	}
}

static void listen(struct solver *solver, uint32_t number, uint32_t block, bool reads, bool whole)
{
	struct solver_location at = solver->locations.items[block];

	*VEC_PUSH(&solver->objects.items[at.object].listeners) =
		(struct solver_listener){ .copy = number, .block = block, .reads = reads, .whole = whole };
}

static void make_hub(struct solver *solver, uint32_t number)
{
	uint32_t hub = solver_variable(solver);

	solver->block_copies.items[number].hub = hub;
	for (size_t i = 0; i < solver->block_copies.items[number].from.n; i++)
		each_part(solver, number, solver->block_copies.items[number].from.items[i], true, false);
	for (size_t i = 0; i < solver->block_copies.items[number].to.n; i++) {
		uint32_t block = solver->block_copies.items[number].to.items[i];

		each_part(solver, number, block, false, false);
		listen(solver, number, block, false, false);
	}
}

/* Of a copy through a hub: pointers that lead to very many places of one object stand for all of it. True when the
 * place is taken care of already. */
static bool is_told(struct solver *solver, uint32_t number, uint32_t location, bool reads)
{
	uint32_t key[] = { number, solver->locations.items[location].object, reads };
	uint64_t *n = map_put(&solver->starts, hash_bytes(HASH_START, key, sizeof key), NULL);

	if (++*n <= SOLVER_EXACT_STARTS)
		return false;
	if (*n == SOLVER_EXACT_STARTS + 1) {
		listen(solver, number, location, reads, true);
		each_part(solver, number, location, reads, true);
	}
	return true;
}

void solver_block_reaches(struct solver *solver, uint32_t number, uint32_t location, bool reads)
{
	struct solver_block_copy *copy = &solver->block_copies.items[number];
	bool hub = copy->hub != SOLVER_NONE;

	if (hub && is_told(solver, number, location, reads))
		return;
	copy = &solver->block_copies.items[number];
	if (reads) {
		*VEC_PUSH(&copy->from) = location;
		listen(solver, number, location, true, false);
	} else {
		*VEC_PUSH(&copy->to) = location;
		if (hub)
			listen(solver, number, location, false, false);
	}
	if (!hub && copy->from.n * copy->to.n > SOLVER_EXACT_COPIES) {
		make_hub(solver, number);
		return;
	}
	if (reads || hub) {
		each_part(solver, number, location, reads, false);
		return;
	}
	for (size_t i = 0; i < solver->block_copies.items[number].from.n; i++)
		each_part(solver, number, solver->block_copies.items[number].from.items[i], true, false);
}

static void tell(struct solver *solver, uint32_t location)
{
	uint32_t object = solver->locations.items[location].object;

	for (size_t i = 0; i < solver->objects.items[object].listeners.n; i++) {
		struct solver_listener listener = solver->objects.items[object].listeners.items[i];

		if (listener.reads)
			read_part(solver, listener.copy, listener.block, location, listener.whole);
		else
			write_part(solver, listener.copy, listener.block, location, listener.whole);
	}
}

static void renew(struct solver *solver, uint32_t object)
{
	solver->objects.items[object].unrenewed = false;
	for (size_t i = 0; i < solver->objects.items[object].listeners.n; i++) {
		struct solver_listener listener = solver->objects.items[object].listeners.items[i];

		each_part(solver, listener.copy, listener.block, listener.reads, listener.whole);
	}
}

void solver_block_tell(struct solver *solver)
{
	/* Either may add to both lists. */
	while (solver->untold.n || solver->unrenewed.n)
		if (solver->unrenewed.n)
			renew(solver, solver->unrenewed.items[--solver->unrenewed.n]);
		else
			tell(solver, solver->untold.items[--solver->untold.n]);
}

void solver_block_copy(struct solver *solver, uint32_t from, uint32_t to, uint32_t size)
{
	uint32_t number = (uint32_t)solver->block_copies.n;

	*VEC_PUSH(&solver->block_copies) = (struct solver_block_copy){ .size = size, .hub = SOLVER_NONE };
	solver_constrain(solver, from,
			 (struct solver_constraint){ .act = SOLVER_BLOCK_FROM, .other = number });
	solver_constrain(solver, to, (struct solver_constraint){ .act = SOLVER_BLOCK_TO, .other = number });
}
