/* Finds the joins that end a root's threads for certain: one thread, and a join of the
 * very handle that its creation filled; or a loop that creates threads into an array
 * and another that counts in the same way and joins them. Whatever is less clear ends
 * nothing. */
#include "static/threads.h"

#include <string.h>

uint64_t joins_edge(LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
	return hash_bytes(hash_bytes(HASH_START, &from, sizeof from), &to, sizeof to);
}

/* A loop that counts: where from, how far, and the comparison that ends it. */
struct count {
	int64_t start, step;
	LLVMValueRef bound, compare;
	LLVMIntPredicate predicate;
	bool next; /* the counter is compared after it was increased */
	int32_t loop;
};

static uint32_t block_number(const struct loops *loops, LLVMBasicBlockRef block)
{
	const uint64_t *number = map_get(&loops->numbers, whole_key(block));

	return number ? (uint32_t)*number : WHOLE_NONE;
}

static LLVMValueRef without_extension(LLVMValueRef value)
{
	while (LLVMIsASExtInst(value) || LLVMIsAZExtInst(value) || LLVMIsATruncInst(value))
		value = LLVMGetOperand(value, 0);
	return value;
}

/* start, start + step … : the other incoming value is the counter plus a constant. */
static LLVMValueRef increased(LLVMValueRef phi, struct count *out)
{
	LLVMValueRef next = NULL;
	bool started = false;

	if (!LLVMIsAPHINode(phi) || LLVMCountIncoming(phi) != 2)
		return NULL;
	for (unsigned i = 0; i < 2; i++) {
		LLVMValueRef value = LLVMGetIncomingValue(phi, i);

		if (LLVMIsAConstantInt(value)) {
			out->start = LLVMConstIntGetSExtValue(value);
			started = true;
		} else if (LLVMIsABinaryOperator(value) && LLVMGetInstructionOpcode(value) == LLVMAdd &&
			   LLVMGetOperand(value, 0) == phi && LLVMIsAConstantInt(LLVMGetOperand(value, 1))) {
			out->step = LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1));
			next = value;
		}
	}
	return started ? next : NULL;
}

/* The comparison of the counter that decides whether its loop goes on. */
static bool find_bound(const struct loops *loops, LLVMValueRef phi, LLVMValueRef next, struct count *out)
{
	uint32_t home = block_number(loops, LLVMGetInstructionParent(phi));

	if (home == WHOLE_NONE || loops->inner[home] < 0)
		return false;
	out->loop = loops->inner[home];
	for (uint32_t b = 0; b < loops->nblocks; b++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(loops->blocks[b]);

		if (!loops_contain(loops, out->loop, b) || !LLVMIsABranchInst(end) || !LLVMIsConditional(end))
			continue;
		LLVMValueRef compare = LLVMGetCondition(end);

		if (!LLVMIsAICmpInst(compare))
			continue;
		LLVMValueRef left = without_extension(LLVMGetOperand(compare, 0));

		if (left != phi && left != next)
			continue;
		out->next = left == next;
		out->bound = without_extension(LLVMGetOperand(compare, 1));
		out->predicate = LLVMGetICmpPredicate(compare);
		out->compare = compare;
		return true;
	}
	return false;
}

static bool counts(const struct loops *loops, LLVMValueRef index, struct count *out)
{
	LLVMValueRef phi = without_extension(index);
	LLVMValueRef next = increased(phi, out);

	return next && find_bound(loops, phi, next, out);
}

static bool same_place(const struct threads *threads, const struct place *a, const struct place *b);

/* Both loops end at the same number: a constant, one value, or one variable. */
static bool same_bound(const struct threads *threads, LLVMValueRef a, LLVMValueRef b)
{
	struct place left, right;

	if (a == b)
		return true;
	if (LLVMIsAConstantInt(a) && LLVMIsAConstantInt(b))
		return LLVMConstIntGetSExtValue(a) == LLVMConstIntGetSExtValue(b);
	return LLVMIsALoadInst(a) && LLVMIsALoadInst(b) &&
	       place_of(threads->points->whole, LLVMGetOperand(a, 0), &left) &&
	       place_of(threads->points->whole, LLVMGetOperand(b, 0), &right) &&
	       same_place(threads, &left, &right);
}

/* Is there only one of this object in a run? */
static bool is_single(const struct threads *threads, uint32_t number)
{
	const struct object *object = &threads->points->objects.items[number];

	if (object->kind == OBJECT_GLOBAL)
		return !object->own;
	if (object->kind != OBJECT_STACK && object->kind != OBJECT_HEAP)
		return false;
	uint32_t at = whole_instruction(threads->points->whole, object->value);
	uint32_t function = whole_function_of(threads->points->whole, at);

	return !threads->repeated[function] && !threads_in_loop(threads, at);
}

static bool same_place(const struct threads *threads, const struct place *a, const struct place *b)
{
	if (a->offset != b->offset || !a->index != !b->index || a->stride != b->stride)
		return false;
	if (a->base == b->base)
		return true;
	const roaring_bitmap_t *left = points_to(threads->points, a->base);
	const roaring_bitmap_t *right = points_to(threads->points, b->base);

	if (roaring_bitmap_get_cardinality(left) != 1 || !roaring_bitmap_equals(left, right))
		return false;
	uint32_t location = roaring_bitmap_minimum(left);

	return is_single(threads, threads->points->solver.locations.items[location].object);
}

/* All ways out of the loop that its own comparison takes. */
static void end_behind_loop(const struct loops *loops, const struct count *count, struct joins *out)
{
	for (uint32_t b = 0; b < loops->nblocks; b++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(loops->blocks[b]);

		if (!loops_contain(loops, count->loop, b) || !LLVMIsABranchInst(end) ||
		    !LLVMIsConditional(end) || LLVMGetCondition(end) != count->compare)
			continue;
		for (unsigned s = 0; s < 2; s++) {
			LLVMBasicBlockRef to = LLVMGetSuccessor(end, s);
			uint32_t number = block_number(loops, to);

			if (number != WHOLE_NONE && !loops_contain(loops, count->loop, number))
				map_put(&out->edges, joins_edge(loops->blocks[b], to), NULL);
		}
	}
}

static void match(const struct threads *threads, const struct root *root, const struct place *handle,
		  uint32_t join, LLVMValueRef waited, struct joins *out)
{
	const struct whole *whole = threads->points->whole;
	struct place place;
	struct count made, ended;

	if (!place_of(whole, waited, &place) || !same_place(threads, handle, &place))
		return;
	if (!handle->index) {
		if (!root->many)
			map_put(&out->calls, join, NULL);
		return;
	}
	const struct loops *creating = &threads->loops[whole_function_of(whole, root->create)];
	const struct loops *joining = &threads->loops[whole_function_of(whole, join)];

	if (counts(creating, handle->index, &made) && counts(joining, place.index, &ended) &&
	    made.start == ended.start && made.step == ended.step && made.next == ended.next &&
	    made.predicate == ended.predicate && same_bound(threads, made.bound, ended.bound))
		end_behind_loop(joining, &ended, out);
}

/* The address that a join's handle was read from. */
static LLVMValueRef waited_for(LLVMValueRef call, const struct library_function *function)
{
	LLVMValueRef handle = LLVMGetOperand(call, (unsigned)function->a);

	if (function->role == LIBRARY_JOIN_CXX)
		return handle;
	return LLVMIsALoadInst(handle) ? LLVMGetOperand(handle, 0) : NULL;
}

void joins_find(const struct threads *threads, const struct root *root, struct joins *out)
{
	const struct points *points = threads->points;
	LLVMValueRef create = points->whole->instructions.items[root->create];
	const struct call *creation = points_call(points, root->create);
	struct place handle;

	*out = (struct joins){ 0 };
	if (!creation || !creation->library.n || creation->library.items[0]->a < 0 || root->handler ||
	    !place_of(points->whole, LLVMGetOperand(create, (unsigned)creation->library.items[0]->a),
		      &handle))
		return;
	for (size_t i = 0; i < points->calls.n; i++) {
		const struct call *call = &points->calls.items[i];

		for (size_t f = 0; f < call->library.n; f++) {
			const struct library_function *function = call->library.items[f];

			if (function->role != LIBRARY_JOIN && function->role != LIBRARY_JOIN_CXX)
				continue;
			LLVMValueRef waited =
				waited_for(points->whole->instructions.items[call->instruction], function);

			if (waited)
				match(threads, root, &handle, call->instruction, waited, out);
		}
	}
}

void joins_free(struct joins *joins)
{
	map_free(&joins->calls);
	map_free(&joins->edges);
}
