/* What makes a pair likely to be a mistake, and what speaks against it. All weights
 * stand in one table; each is a share of certainty that a reader of the two lines would
 * gain or lose, and only their order matters to the ranking. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "static/scanner.h"

#define MANY 16u /* places that a pointer may lead to before that counts */

static const double weights[CANDIDATE_NOTES] = {
	[NOTE_START] = 0.45,         [NOTE_NO_LOCK] = 0.15,        [NOTE_HALF_LOCKED] = 0.05,
	[NOTE_BOTH_ATOMIC] = -0.2,   [NOTE_ONE_ATOMIC] = -0.05,    [NOTE_OWN_ARGUMENT] = -0.35,
	[NOTE_ITS_ELEMENT] = -0.3,   [NOTE_OWN_ELEMENT] = -0.25,   [NOTE_ELEMENTS] = -0.05,
	[NOTE_MADE_HERE] = -0.15,    [NOTE_LATE_WRITE] = 0.15,     [NOTE_FREED] = 0.05,
	[NOTE_BOTH_WRITE] = -0.02,   [NOTE_NAMELESS] = -0.03,      [NOTE_MANY_PLACES] = -0.08,
	[NOTE_ANYWHERE] = -0.2,      [NOTE_NOT_OURS] = -0.25,      [NOTE_BARRIER] = -0.3,
	[NOTE_SEMAPHORE] = -0.2,     [NOTE_CONDITION] = -0.15,     [NOTE_BEHIND_JOIN] = -0.3,
	[NOTE_UNWINDING] = -0.25,    [NOTE_MODIFIES] = 0.14,       [NOTE_USES_FOUND] = 0.08,
	[NOTE_DONE_BECAUSE] = 0.12,  [NOTE_UNTIED] = -0.2,         [NOTE_REPEATED] = -0.1,
	[NOTE_LOOKED_AGAIN] = -0.3,  [NOTE_GIVEN_BACK] = 0.1,      [NOTE_OTHER_ROUND] = -0.15,
	[NOTE_INDIRECT] = -0.05,     [NOTE_LOCKED_BETWEEN] = 0.12, [NOTE_COUPLE] = 0.3,
	[NOTE_OTHERS_SECTION] = 0.2, [NOTE_SECOND_DEPENDS] = 0.1,  [NOTE_CIRCLE] = 0.75,
	[NOTE_ONE_KIND] = -0.3,      [NOTE_GATED] = -0.4,          [NOTE_JOIN_LOCKED] = 0.75,
	[NOTE_AWAIT_LOCKED] = 0.75,
};

void score_add_lock(struct candidate *candidate, enum candidate_note note, const char *lock)
{
	candidate->score += weights[note];
	candidate->score = candidate->score < 0.01 ? 0.01 : candidate->score > 0.99 ? 0.99 : candidate->score;
	if (candidate->kind != CANDIDATE_KINDS)
		*VEC_PUSH(&candidate->notes) =
			(struct candidate_reason){ note, lock ? memory_string(lock) : NULL };
}

void score_add(struct candidate *candidate, enum candidate_note note)
{
	score_add_lock(candidate, note, NULL);
}

/* Does a value come from the function's first parameter, by steps, loads and arithmetic? */
static bool from_argument(LLVMValueRef value, LLVMValueRef parameter, int depth)
{
	if (value == parameter)
		return true;
	if (depth == 0 || !LLVMIsAInstruction(value) || LLVMIsACallInst(value))
		return false;
	if (LLVMIsAPHINode(value)) {
		for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
			if (from_argument(LLVMGetIncomingValue(value, i), parameter, depth - 1))
				return true;
		return false;
	}
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (from_argument(LLVMGetOperand(value, (unsigned)i), parameter, depth - 1))
			return true;
	return false;
}

/* What the creator gives differs from thread to thread: an element of an array, or made in the loop. */
static bool gives_each_its_own(const struct scanner *scanner, const struct root *root)
{
	const struct call *call = points_call(&scanner->points, root->create);
	LLVMValueRef at = scanner->whole.instructions.items[root->create], given;

	if (!call || !call->library.n || call->library.items[0]->role != LIBRARY_CREATE)
		return false;
	given = LLVMGetOperand(at, (unsigned)call->library.items[0]->c);
	if (!LLVMIsAInstruction(given))
		return false;
	if (LLVMIsAGetElementPtrInst(given)) {
		struct place place;

		return !place_of(&scanner->whole, given, &place) || place.index;
	}
	uint32_t number = whole_instruction(&scanner->whole, given);

	return LLVMIsAPHINode(given) || threads_in_loop(&scanner->threads, number);
}

enum owner { SHARED, OF_ARGUMENT, OF_INDEX };

/* How an access of a thread that begins in `root` gets at its location. */
static enum owner owner_of(const struct scanner *scanner, const struct access_at *access, uint32_t number)
{
	const struct root *root = &scanner->threads.roots[number];
	LLVMValueRef function = scanner->whole.functions.items[root->function];
	struct place place;

	if (root->create == WHOLE_NONE || access->function != root->function || !LLVMCountParams(function) ||
	    !place_of(&scanner->whole, access->pointer, &place))
		return SHARED;
	LLVMValueRef parameter = LLVMGetParam(function, 0);

	if (place.base == parameter && gives_each_its_own(scanner, root))
		return OF_ARGUMENT;
	return place.index && from_argument(place.index, parameter, 12) ? OF_INDEX : SHARED;
}

static bool is_element(const struct scanner *scanner, const struct access_at *access)
{
	struct place place;

	return !place_of(&scanner->whole, access->pointer, &place) || place.index;
}

static bool made_by_each(struct scanner *scanner, const struct access_at *access, uint32_t root)
{
	const roaring_bitmap_t *set = points_to(&scanner->points, access->pointer);
	bool own = scanner->threads.roots[root].many && !roaring_bitmap_is_empty(set);
	roaring_uint32_iterator_t *at = roaring_create_iterator(set);

	for (; own && at->has_value; roaring_advance_uint32_iterator(at)) {
		uint32_t object = scanner->points.solver.locations.items[at->current_value].object;
		const struct object *of = &scanner->points.objects.items[object];

		own = of->kind == OBJECT_HEAP || of->kind == OBJECT_STACK;
		if (own) {
			uint32_t made = whole_instruction(&scanner->whole, of->value);
			uint64_t makers =
				threads_running(&scanner->threads, whole_function_of(&scanner->whole, made));

			own = makers == 1ull << root;
		}
	}
	roaring_free_uint32_iterator(at);
	return own;
}

static void weigh_owners(struct scanner *scanner, const struct access_at *a, const struct access_at *b,
			 const uint32_t roots[2], struct candidate *out)
{
	enum owner left = owner_of(scanner, a, roots[0]), right = owner_of(scanner, b, roots[1]);

	if (roots[0] == roots[1] && left == OF_ARGUMENT && right == OF_ARGUMENT)
		score_add(out, NOTE_OWN_ARGUMENT);
	else if ((left == OF_ARGUMENT && is_element(scanner, b)) ||
		 (right == OF_ARGUMENT && is_element(scanner, a)))
		score_add(out, NOTE_ITS_ELEMENT);
	else if (left == OF_INDEX && right == OF_INDEX)
		score_add(out, NOTE_OWN_ELEMENT);
	else if (is_element(scanner, a) && is_element(scanner, b))
		score_add(out, NOTE_ELEMENTS);
	if (roots[0] == roots[1] && made_by_each(scanner, a, roots[0]) && made_by_each(scanner, b, roots[0]))
		score_add(out, NOTE_MADE_HERE);
}

static void weigh_locks(struct scanner *scanner, const struct access_at *a, const struct access_at *b,
			struct candidate *out)
{
	uint32_t lock = locks_common(&a->held, &b->held);

	if (lock != WHOLE_NONE && out->kind == CANDIDATE_KINDS)
		return;
	if (lock != WHOLE_NONE) {
		score_add_lock(out, NOTE_ONE_LOCK, scanner_lock(scanner, lock));
		return;
	}
	score_add(out, NOTE_NO_LOCK);
	if (!a->held.n != !b->held.n)
		score_add(out, NOTE_HALF_LOCKED);
}

/* The creator, having started the thread, still writes what the thread reads. */
static bool is_late_write(const struct scanner *scanner, const struct access_at *writer, uint32_t writing,
			  uint32_t reading)
{
	return writer->kind == SITE_WRITE && scanner->threads.roots[reading].parent == writing &&
	       !scanner->threads.roots[writing].many;
}

/* What stands between the two beside locks. Behind a join the creator's write is not early any more. */
static void weigh_order(struct scanner *scanner, uint32_t a, uint32_t b, const uint32_t roots[2],
			struct candidate *out)
{
	const struct access_at *left = &scanner->accesses.items.items[a];
	const struct access_at *right = &scanner->accesses.items.items[b];
	/* What one lock guards needs no other order, and is often what is waited for. */
	bool locked = locks_common(&left->held, &right->held) != WHOLE_NONE;
	enum phase phase = locked ? PHASE_NONE : phases_between(scanner, a, b, roots);

	if (phase == PHASE_JOIN)
		score_add(out, NOTE_BEHIND_JOIN);
	else if (is_late_write(scanner, left, roots[0], roots[1]) ||
		 is_late_write(scanner, right, roots[1], roots[0]))
		score_add(out, NOTE_LATE_WRITE);
	if (phase == PHASE_BARRIER)
		score_add(out, NOTE_BARRIER);
	else if (phase == PHASE_SEMAPHORE)
		score_add(out, NOTE_SEMAPHORE);
	else if (phase == PHASE_CONDITION)
		score_add(out, NOTE_CONDITION);
}

/* The more places a pointer may lead to, the less likely it is that the two ever meet. */
static void weigh_breadth(uint32_t breadth, struct candidate *out)
{
	if (breadth > ACCESSES_WIDE)
		score_add(out, NOTE_ANYWHERE);
	else if (breadth > MANY)
		score_add(out, NOTE_MANY_PLACES);
}

void score_pair(struct scanner *scanner, uint32_t a, uint32_t b, const uint32_t roots[2],
		struct candidate *out)
{
	const struct access_at *left = &scanner->accesses.items.items[a];
	const struct access_at *right = &scanner->accesses.items.items[b];

	score_add(out, NOTE_START);
	weigh_locks(scanner, left, right, out);
	if (left->atomic && right->atomic)
		score_add(out, NOTE_BOTH_ATOMIC);
	else if (left->atomic || right->atomic)
		score_add(out, NOTE_ONE_ATOMIC);
	weigh_owners(scanner, left, right, roots, out);
	weigh_order(scanner, a, b, roots, out);
	if (left->frees || right->frees)
		score_add(out, NOTE_FREED);
	if (left->kind != SITE_READ && right->kind != SITE_READ)
		score_add(out, NOTE_BOTH_WRITE);
	if (!*scanner->statements.items[scanner->statement_of[a]].variable)
		score_add(out, NOTE_NAMELESS);
	if (left->unwinding || right->unwinding)
		score_add(out, NOTE_UNWINDING);
	if (!scanner_is_own(scanner, a) || !scanner_is_own(scanner, b))
		score_add(out, NOTE_NOT_OURS);
	weigh_breadth(left->breadth > right->breadth ? left->breadth : right->breadth, out);
}

double score_worth(struct scanner *scanner, uint32_t a, uint32_t b, const uint32_t roots[2])
{
	/* A candidate of no kind: nobody will read its notes. */
	struct candidate nobody = { .kind = CANDIDATE_KINDS };

	score_pair(scanner, a, b, roots, &nobody);
	return nobody.score;
}

enum candidate_parallel score_parallel(const struct scanner *scanner, const uint32_t roots[2])
{
	const struct root *a = &scanner->threads.roots[roots[0]], *b = &scanner->threads.roots[roots[1]];

	if (roots[0] == roots[1])
		return a->create == WHOLE_NONE ? PARALLEL_CALLERS : PARALLEL_CREATED;
	if (a->parent != roots[1] && b->parent != roots[0])
		return PARALLEL_SIBLINGS;
	const struct root *child = a->parent == roots[1] ? a : b;

	return child->joined ? PARALLEL_BEFORE_JOIN : PARALLEL_UNJOINED;
}
