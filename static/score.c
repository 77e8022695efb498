/* What makes a pair likely to be a mistake, and what speaks against it. All weights
 * stand in one table; each is a share of certainty that a reader of the two lines would
 * gain or lose, and only their order matters to the ranking. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "static/scanner.h"

#define MANY 16u /* places that a pointer may lead to before that counts */

enum weight {
	START,        /* nothing known but that the two may meet */
	NO_LOCK,      /* they have no lock in common */
	HALF_LOCKED,  /* one holds a lock, the other none: somebody meant to protect it */
	BOTH_ATOMIC,  /* meant for several threads */
	ONE_ATOMIC,   /* mixed: the plain one was overlooked, or is before or after */
	OWN_ARGUMENT, /* each thread reaches it through what it alone was given */
	ITS_ELEMENT,  /* the creator fills elements, each thread is given one */
	OWN_ELEMENT,  /* elements chosen by the thread's own number */
	ELEMENTS,     /* some element of an array: maybe another one */
	MADE_HERE,    /* each thread makes one of its own */
	LATE_WRITE,   /* the creator writes when the thread may already run */
	FREED,        /* one frees what the other uses */
	BOTH_WRITE,   /* both write: somebody's value is lost */
	MANY_PLACES,  /* a pointer of one of them may lead to very many places */
	ANYWHERE,     /* nobody knows where it leads */
	NAMELESS,     /* no name in the source: often a compiler's copy */
	BARRIER,      /* a barrier keeps them apart */
	SEMAPHORE,    /* the one seems to wait for the other at a semaphore */
	CONDITION,    /* the one seems to wait for the other at a condition */
	BEHIND_JOIN,  /* behind a join of some thread of this kind */
	UNWINDING,    /* only when an exception was thrown */
	NOT_OURS, /* in a header of the system: whoever calls it wrongly does so at a line of the program */
	WEIGHTS
};

static const double weights[WEIGHTS] = {
	[START] = 0.45,       [NO_LOCK] = 0.15,       [HALF_LOCKED] = 0.05,  [BOTH_ATOMIC] = -0.2,
	[ONE_ATOMIC] = -0.05, [OWN_ARGUMENT] = -0.35, [ITS_ELEMENT] = -0.3,  [OWN_ELEMENT] = -0.25,
	[ELEMENTS] = -0.05,   [MADE_HERE] = -0.15,    [LATE_WRITE] = 0.15,   [FREED] = 0.05,
	[BOTH_WRITE] = -0.02, [NAMELESS] = -0.03,     [MANY_PLACES] = -0.08, [ANYWHERE] = -0.2,
	[NOT_OURS] = -0.25,   [BARRIER] = -0.3,       [SEMAPHORE] = -0.2,    [CONDITION] = -0.15,
	[BEHIND_JOIN] = -0.3, [UNWINDING] = -0.25,
};

void score_add(struct candidate *candidate, double by, const char *note)
{
	candidate->score += by;
	candidate->score = candidate->score < 0.01 ? 0.01 : candidate->score > 0.99 ? 0.99 : candidate->score;
	if (note && candidate->kind != CANDIDATE_KINDS)
		*VEC_PUSH(&candidate->notes) = memory_string(note);
}

static void weigh(struct candidate *candidate, enum weight weight, const char *note)
{
	score_add(candidate, weights[weight], note);
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
		weigh(out, OWN_ARGUMENT, "each thread reaches it through an argument of its own");
	else if ((left == OF_ARGUMENT && is_element(scanner, b)) ||
		 (right == OF_ARGUMENT && is_element(scanner, a)))
		weigh(out, ITS_ELEMENT, "one side fills elements, each thread is given one of them");
	else if (left == OF_INDEX && right == OF_INDEX)
		weigh(out, OWN_ELEMENT, "each thread seems to use elements of its own");
	else if (is_element(scanner, a) && is_element(scanner, b))
		weigh(out, ELEMENTS, "elements of an array, maybe different ones");
	if (roots[0] == roots[1] && made_by_each(scanner, a, roots[0]) && made_by_each(scanner, b, roots[0]))
		weigh(out, MADE_HERE, "each thread makes one of its own");
}

static void weigh_locks(struct scanner *scanner, const struct access_at *a, const struct access_at *b,
			struct candidate *out)
{
	uint32_t lock = locks_common(&a->held, &b->held);

	if (lock != WHOLE_NONE && out->kind == CANDIDATE_KINDS)
		return;
	if (lock != WHOLE_NONE) {
		const char *name = scanner_lock(scanner, lock);
		_cleanup_free_ char *note =
			memory_format("both hold %s: only their order can be wrong", name);

		score_add(out, 0, note);
		return;
	}
	weigh(out, NO_LOCK, NULL);
	if (!a->held.n != !b->held.n)
		weigh(out, HALF_LOCKED, "one side holds a lock, the other does not");
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
		weigh(out, BEHIND_JOIN, "one is behind a join, which may be the other's");
	else if (is_late_write(scanner, left, roots[0], roots[1]) ||
		 is_late_write(scanner, right, roots[1], roots[0]))
		weigh(out, LATE_WRITE, "written by the creator when the thread may already run");
	if (phase == PHASE_BARRIER)
		weigh(out, BARRIER, "a barrier stands between them on every way");
	else if (phase == PHASE_SEMAPHORE)
		weigh(out, SEMAPHORE, "a semaphore is posted behind the one and waited for before the other");
	else if (phase == PHASE_CONDITION)
		weigh(out, CONDITION,
		      "a condition is signalled behind the one and waited for before the other");
}

/* The more places a pointer may lead to, the less likely it is that the two ever meet. */
static void weigh_breadth(uint32_t breadth, struct candidate *out)
{
	if (breadth > ACCESSES_WIDE)
		weigh(out, ANYWHERE, "the pointer may lead nearly anywhere");
	else if (breadth > MANY)
		weigh(out, MANY_PLACES, "the pointer may lead to many places");
}

void score_pair(struct scanner *scanner, uint32_t a, uint32_t b, const uint32_t roots[2],
		struct candidate *out)
{
	const struct access_at *left = &scanner->accesses.items.items[a];
	const struct access_at *right = &scanner->accesses.items.items[b];

	weigh(out, START, NULL);
	weigh_locks(scanner, left, right, out);
	if (left->atomic && right->atomic)
		weigh(out, BOTH_ATOMIC, "both are atomic operations");
	else if (left->atomic || right->atomic)
		weigh(out, ONE_ATOMIC, "one is an atomic operation, the other is not");
	weigh_owners(scanner, left, right, roots, out);
	weigh_order(scanner, a, b, roots, out);
	if (left->frees || right->frees)
		weigh(out, FREED, "one frees the block");
	if (left->kind != SITE_READ && right->kind != SITE_READ)
		weigh(out, BOTH_WRITE, NULL);
	if (!*scanner->statements.items[scanner->statement_of[a]].variable)
		weigh(out, NAMELESS, NULL);
	if (left->unwinding || right->unwinding)
		weigh(out, UNWINDING, "only when an exception was thrown");
	if (!scanner_is_own(scanner, a) || !scanner_is_own(scanner, b))
		weigh(out, NOT_OURS, "in a header that came with the system");
	weigh_breadth(left->breadth > right->breadth ? left->breadth : right->breadth, out);
}

double score_worth(struct scanner *scanner, uint32_t a, uint32_t b, const uint32_t roots[2])
{
	/* A candidate of no kind: nobody will read its notes. */
	struct candidate nobody = { .kind = CANDIDATE_KINDS };

	score_pair(scanner, a, b, roots, &nobody);
	return nobody.score;
}

char *score_parallel(struct scanner *scanner, const uint32_t roots[2])
{
	const struct root *a = &scanner->threads.roots[roots[0]], *b = &scanner->threads.roots[roots[1]];

	if (roots[0] == roots[1])
		return memory_string(a->create == WHOLE_NONE ? "several threads may call this"
							     : "several threads are created there");
	if (a->parent == roots[1] || b->parent == roots[0]) {
		const struct root *child = a->parent == roots[1] ? a : b;

		return memory_string(child->joined
					     ? "one thread creates the other, and this is before its join"
					     : "one thread creates the other and no join is known");
	}
	return memory_string("neither thread is joined before the other is created");
}
