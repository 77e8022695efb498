/* Collects accesses with what they may touch. An object that only the thread that made
 * it can reach, as most stack variables are, is nobody's business. */
#include "static/accesses.h"

#include <stdlib.h>
#include <string.h>

/* ---- what other threads can reach ---- */

static void reach(struct accesses *accesses, uint32_t *todo, size_t *n, const roaring_bitmap_t *set)
{
	const struct solver *solver = &accesses->locks->threads->points->solver;
	roaring_uint32_iterator_t *at = roaring_create_iterator(set);

	for (; at->has_value; roaring_advance_uint32_iterator(at)) {
		uint32_t object = solver->locations.items[at->current_value].object;

		if (!accesses->shared[object]) {
			accesses->shared[object] = true;
			todo[(*n)++] = object;
		}
	}
	roaring_free_uint32_iterator(at);
}

static void reach_arguments(struct accesses *accesses, uint32_t *todo, size_t *n)
{
	const struct points *points = accesses->locks->threads->points;

	for (size_t i = 0; i < points->calls.n; i++) {
		const struct call *call = &points->calls.items[i];
		LLVMValueRef at = points->whole->instructions.items[call->instruction];

		for (size_t f = 0; threads_creates(call) && f < call->library.n; f++) {
			const struct library_function *function = call->library.items[f];
			int operand = function->role == LIBRARY_CREATE ? function->c : function->b;

			if (operand >= 0 && (unsigned)operand < whole_arguments(at))
				reach(accesses, todo, n,
				      points_to(accesses->locks->threads->points,
						LLVMGetOperand(at, (unsigned)operand)));
		}
	}
}

/* From globals and what threads are given, through everything that is stored there. */
static void find_shared(struct accesses *accesses)
{
	struct points *points = accesses->locks->threads->points;
	struct solver *solver = &points->solver;
	_cleanup_free_ uint32_t *todo = memory_alloc((points->objects.n + 1) * sizeof *todo);
	size_t n = 0;

	accesses->shared = memory_alloc(points->objects.n + 1);
	for (uint32_t i = 0; i < points->objects.n; i++)
		if (points->objects.items[i].kind == OBJECT_GLOBAL && !points->objects.items[i].own) {
			accesses->shared[i] = true;
			todo[n++] = i;
		}
	reach_arguments(accesses, todo, &n);
	while (n) {
		uint32_t object = todo[--n];

		for (size_t i = 0; i < solver->objects.items[object].locations.n; i++) {
			uint32_t location = solver->objects.items[object].locations.items[i];
			uint32_t content = solver->locations.items[location].content;

			if (content != SOLVER_NONE)
				reach(accesses, todo, &n, solver_answer(solver, content));
		}
	}
}

/* ---- accesses ---- */

static bool is_common(const struct accesses *accesses, uint32_t number)
{
	const struct object *object = &accesses->locks->threads->points->objects.items[number];

	return accesses->shared[number] && object->kind != OBJECT_FUNCTION && !object->constant &&
	       !object->own;
}

/* How many locations that several threads may reach a pointer leads to. */
static uint32_t breadth(const struct accesses *accesses, const roaring_bitmap_t *set)
{
	const struct points *points = accesses->locks->threads->points;
	roaring_uint32_iterator_t *at = roaring_create_iterator(set);
	uint32_t n = 0;

	for (; at->has_value; roaring_advance_uint32_iterator(at))
		n += is_common(accesses, points->solver.locations.items[at->current_value].object);
	roaring_free_uint32_iterator(at);
	return n;
}

static void touch(struct accesses *accesses, const roaring_bitmap_t *set, uint32_t number)
{
	const struct points *points = accesses->locks->threads->points;
	roaring_uint32_iterator_t *at = roaring_create_iterator(set);

	for (; at->has_value; roaring_advance_uint32_iterator(at)) {
		struct solver_location location = points->solver.locations.items[at->current_value];

		if (is_common(accesses, location.object))
			*VEC_PUSH(&accesses->touches[location.object]) =
				(struct touch){ number, location.offset };
	}
	roaring_free_uint32_iterator(at);
}

static void add(struct accesses *accesses, struct access_at access)
{
	struct points *points = accesses->locks->threads->points;
	const struct whole *whole = points->whole;
	const roaring_bitmap_t *set = points_to(points, access.pointer);
	uint32_t number = (uint32_t)accesses->items.n;

	access.breadth = breadth(accesses, set);
	if (!access.breadth) {
		accesses->private_accesses++;
		return;
	}
	if (access.breadth <= ACCESSES_WIDE)
		touch(accesses, set, number);
	LLVMValueRef instruction = whole->instructions.items[access.instruction];
	unsigned kind = LLVMGetMDKindIDInContext(whole->context, "tbaa", 4);

	access.tag = LLVMHasMetadata(instruction) ? LLVMGetMetadata(instruction, kind) : NULL;
	*VEC_PUSH(&accesses->items) = access;
	bool fresh;
	uint64_t *first = map_put(&accesses->numbers, access.instruction, &fresh);

	if (fresh)
		*first = number + 1;
}

/* ---- clouds ---- */

uint32_t accesses_cloud(const struct accesses *accesses, LLVMValueRef tag)
{
	const uint64_t *number = map_get(&accesses->clouds, whole_key(tag));

	return number ? (uint32_t)*number : SOLVER_NONE;
}

static bool may_be_in_a_cloud(struct accesses *accesses, const struct access_at *access,
			      const roaring_bitmap_t *clouded)
{
	return access->breadth > ACCESSES_WIDE ||
	       roaring_bitmap_intersect(points_to(accesses->locks->threads->points, access->pointer),
					clouded);
}

static void fill_clouds(struct accesses *accesses)
{
	struct points *points = accesses->locks->threads->points;
	size_t objects = points->objects.n;
	roaring_bitmap_t *clouded = roaring_bitmap_create();

	for (size_t i = 0; i < accesses->items.n; i++) {
		const struct access_at *access = &accesses->items.items[i];
		bool fresh;

		if (access->breadth <= ACCESSES_WIDE)
			continue;
		roaring_bitmap_or_inplace(clouded, points_to(points, access->pointer));
		uint64_t *number = map_put(&accesses->clouds, whole_key(access->tag), &fresh);

		if (fresh)
			*number = objects + accesses->nclouds++;
	}
	accesses->touches = memory_resize(accesses->touches,
					  (objects + accesses->nclouds + 1) * sizeof *accesses->touches);
	memset(&accesses->touches[objects], 0, (accesses->nclouds + 1) * sizeof *accesses->touches);
	for (uint32_t i = 0; i < accesses->items.n && accesses->nclouds; i++) {
		uint32_t cloud = accesses_cloud(accesses, accesses->items.items[i].tag);

		if (cloud != SOLVER_NONE && may_be_in_a_cloud(accesses, &accesses->items.items[i], clouded))
			*VEC_PUSH(&accesses->touches[cloud]) = (struct touch){ i, 0 };
	}
	roaring_bitmap_free(clouded);
}

static uint32_t extent_size(LLVMValueRef call, const struct extent *extent)
{
	LLVMValueRef size = extent->kind == EXTENT_ARGUMENT && extent->size < whole_arguments(call)
				    ? LLVMGetOperand(call, extent->size)
				    : NULL;

	if (extent->kind == EXTENT_FIXED)
		return extent->size;
	if (size && LLVMIsAConstantInt(size) && LLVMConstIntGetZExtValue(size) < INT32_MAX)
		return (uint32_t)LLVMConstIntGetZExtValue(size);
	return 0;
}

static void add_extent(struct accesses *accesses, struct access_at access, LLVMValueRef call,
		       const struct extent *extent)
{
	const struct whole *whole = accesses->locks->threads->points->whole;
	struct place place;

	if (extent->pointer >= whole_arguments(call))
		return;
	access.pointer = LLVMGetOperand(call, extent->pointer);
	access.kind = extent->access;
	access.size = extent_size(call, extent);
	if (!access.size && place_of(whole, access.pointer, &place))
		access.size = place_left_of_array(whole, &place);
	access.frees = extent->kind == EXTENT_BLOCK;
	add(accesses, access);
}

static void add_library(struct accesses *accesses, struct access_at access, LLVMValueRef call)
{
	const struct known_call *known = calls_find(call);
	uint32_t strings = calls_strings(call);

	for (unsigned i = 0; i < CALL_STRINGS && strings >> i; i++)
		if (strings >> i & 1)
			add_extent(accesses, access, call, calls_string(i));
	for (unsigned i = 0; known && i < CALL_EXTENTS && known->extents[i].access; i++)
		add_extent(accesses, access, call, &known->extents[i]);
}

struct collecting {
	struct accesses *accesses;
	uint32_t function;
	uint64_t roots;
	bool *usual; /* by block number: run without an exception, too */
};

static void find_usual(const struct loops *loops, bool *usual)
{
	if (loops->nblocks)
		usual[0] = true;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = 0; b < loops->nblocks; b++) {
			LLVMValueRef end = LLVMGetBasicBlockTerminator(loops->blocks[b]);
			/* The second way out of an invoke is the one of an exception. */
			unsigned ways = LLVMIsAInvokeInst(end) ? 1 : LLVMGetNumSuccessors(end);

			for (unsigned s = 0; usual[b] && s < ways; s++) {
				const uint64_t *to =
					map_get(&loops->numbers, whole_key(LLVMGetSuccessor(end, s)));

				changed |= !usual[*to];
				usual[*to] = true;
			}
		}
	}
}

static bool is_usual(const struct collecting *collecting, LLVMValueRef at)
{
	const struct loops *loops = &collecting->accesses->locks->threads->loops[collecting->function];
	const uint64_t *number = map_get(&loops->numbers, whole_key(LLVMGetInstructionParent(at)));

	return !number || collecting->usual[*number];
}

static void collect(void *context, uint32_t number, const struct lockset *held)
{
	struct collecting *collecting = context;
	const struct points *points = collecting->accesses->locks->threads->points;
	LLVMValueRef at = points->whole->instructions.items[number];
	struct access_at access = { .instruction = number,
				    .function = collecting->function,
				    .roots = collecting->roots,
				    .unwinding = !is_usual(collecting, at),
				    .held = *held };

	switch (LLVMGetInstructionOpcode(at)) {
	case LLVMLoad:
		access.kind = SITE_READ;
		access.pointer = LLVMGetOperand(at, 0);
		access.size = points_size(points, LLVMTypeOf(at));
		access.atomic = LLVMGetOrdering(at) != LLVMAtomicOrderingNotAtomic;
		break;
	case LLVMStore:
		access.kind = SITE_WRITE;
		access.pointer = LLVMGetOperand(at, 1);
		access.size = points_size(points, LLVMTypeOf(LLVMGetOperand(at, 0)));
		access.atomic = LLVMGetOrdering(at) != LLVMAtomicOrderingNotAtomic;
		break;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		access.kind = SITE_UPDATE;
		access.pointer = LLVMGetOperand(at, 0);
		access.size = points_size(points, LLVMTypeOf(LLVMGetOperand(at, 1)));
		access.atomic = true;
		break;
	case LLVMCall:
	case LLVMInvoke:
		add_library(collecting->accesses, access, at);
		return;
	default:
		return;
	}
	if (!escape_is_private(access.pointer))
		add(collecting->accesses, access);
	else
		collecting->accesses->private_accesses++;
}

void accesses_start(struct accesses *accesses, struct locks *locks)
{
	const struct points *points = locks->threads->points;

	*accesses = (struct accesses){ .locks = locks };
	find_shared(accesses);
	accesses->touches = memory_alloc((points->objects.n + 1) * sizeof *accesses->touches);
	for (uint32_t f = 0; f < points->whole->functions.n; f++) {
		struct collecting collecting = { .accesses = accesses,
						 .function = f,
						 .roots = threads_running(locks->threads, f) };

		if (!collecting.roots)
			continue;
		collecting.usual = memory_alloc(locks->threads->loops[f].nblocks + 1);
		find_usual(&locks->threads->loops[f], collecting.usual);
		locks_walk(locks, f, collect, &collecting);
		free(collecting.usual);
	}
	fill_clouds(accesses);
}

static bool overlap(const struct access_at *a, uint32_t a_offset, const struct access_at *b,
		    uint32_t b_offset)
{
	return a_offset == b_offset || (a_offset < b_offset ? !a->size || a_offset + a->size > b_offset
							    : !b->size || b_offset + b->size > a_offset);
}

uint32_t accesses_meet(struct accesses *accesses, const struct access_at *a, const struct access_at *b)
{
	struct points *points = accesses->locks->threads->points;
	const roaring_bitmap_t *left = points_to(points, a->pointer), *right = points_to(points, b->pointer);
	uint32_t found = SOLVER_NONE;

	if (!tags_may_meet(&points->whole->source, a->tag, b->tag))
		return SOLVER_NONE;
	roaring_uint32_iterator_t *l = roaring_create_iterator(left);
	for (; l->has_value && found == SOLVER_NONE; roaring_advance_uint32_iterator(l)) {
		struct solver_location at = points->solver.locations.items[l->current_value];
		roaring_uint32_iterator_t *r = roaring_create_iterator(right);

		for (; r->has_value && found == SOLVER_NONE; roaring_advance_uint32_iterator(r)) {
			struct solver_location to = points->solver.locations.items[r->current_value];

			if (at.object == to.object && accesses->shared[at.object] &&
			    overlap(a, at.offset, b, to.offset))
				found = at.object;
		}
		roaring_free_uint32_iterator(r);
	}
	roaring_free_uint32_iterator(l);
	return found;
}

void accesses_free(struct accesses *accesses)
{
	size_t objects = accesses->locks ? accesses->locks->threads->points->objects.n : 0;

	for (size_t i = 0; i < objects + accesses->nclouds; i++)
		VEC_FREE(&accesses->touches[i]);
	VEC_FREE(&accesses->items);
	map_free(&accesses->numbers);
	map_free(&accesses->clouds);
	free(accesses->touches);
	free(accesses->shared);
	*accesses = (struct accesses){ 0 };
}
