/* Deadlock candidates: locks that are taken while others are held make a graph; a
 * circle in it that two threads can close is a candidate. Two locks of one kind, as of
 * two accounts, are a circle of one when nothing says in which order they are taken.
 * Whoever waits for a thread's end, or at a condition, and holds a lock that the other needs on its way there is
 * another. */
#include <stdlib.h>
#include <string.h>

#include "static/scanner.h"

/* `second` is taken at an instruction while `first` is held since another. */
struct nesting {
	uint32_t first, second;
	uint32_t outer, inner; /* instructions; outer is LOCKS_ENTRY when the caller took it */
	uint64_t roots;
	struct lockset held;
};

struct nestings {
	struct scanner *scanner;
	uint64_t roots;
	VEC(struct nesting) items;
	VEC(struct nesting)
	joins; /* `inner` joins a thread or waits at a condition, `second` is what that gives back */
	VEC(struct nesting) taken; /* `inner` takes `first`, whatever is held */
};

static void add(struct nestings *nestings, const struct nesting *nesting)
{
	for (size_t i = 0; i < nestings->items.n; i++) {
		struct nesting *old = &nestings->items.items[i];

		if (old->first == nesting->first && old->second == nesting->second &&
		    old->inner == nesting->inner) {
			old->roots |= nesting->roots;
			return;
		}
	}
	*VEC_PUSH(&nestings->items) = *nesting;
}

static bool is_join(const struct call *call)
{
	for (size_t i = 0; i < call->library.n; i++)
		if (call->library.items[i]->role == LIBRARY_JOIN ||
		    call->library.items[i]->role == LIBRARY_JOIN_CXX)
			return true;
	return false;
}

/* `given`: the lock that is given back while it waits. */
static void add_join(struct nestings *nestings, uint32_t instruction, uint32_t given,
		     const struct lockset *held)
{
	for (uint32_t i = 0; i < held->n; i++)
		if (held->items[i].lock != WHOLE_NONE && held->items[i].lock != given)
			*VEC_PUSH(&nestings->joins) = (struct nesting){ .first = held->items[i].lock,
									.second = given,
									.outer = held->items[i].section,
									.inner = instruction,
									.roots = nestings->roots,
									.held = *held };
}

static void collect(void *context, uint32_t instruction, const struct lockset *held)
{
	struct nestings *nestings = context;
	const struct call *call = points_call(&nestings->scanner->points, instruction);
	enum library_role role;
	bool shared;

	if (!call)
		return;
	if (is_join(call))
		add_join(nestings, instruction, WHOLE_NONE, held);
	uint32_t lock = locks_taken(&nestings->scanner->locks, call, &shared, &role);

	if (lock != WHOLE_NONE && (role == LIBRARY_WAIT || role == LIBRARY_WAIT_CXX))
		add_join(nestings, instruction, lock, held);

	/* Who only tries does not wait. */
	if (lock == WHOLE_NONE || (role != LIBRARY_LOCK && role != LIBRARY_LOCK_SHARED))
		return;
	*VEC_PUSH(&nestings->taken) = (struct nesting){
		.first = lock, .inner = instruction, .roots = nestings->roots, .held = *held
	};
	for (uint32_t i = 0; i < held->n; i++)
		if (held->items[i].lock != WHOLE_NONE)
			add(nestings, &(struct nesting){ .first = held->items[i].lock,
							 .second = lock,
							 .outer = held->items[i].section,
							 .inner = instruction,
							 .roots = nestings->roots,
							 .held = *held });
}

/* Two roots, or two threads of one, that may be at these places at a time. */
static bool parallel(const struct scanner *scanner, const struct nesting *a, const struct nesting *b,
		     uint32_t roots[2])
{
	const struct threads *threads = &scanner->threads;

	for (uint32_t r = 0; r < threads->n; r++)
		for (uint32_t s = 0; s < threads->n; s++)
			if (a->roots >> r & 1 && b->roots >> s & 1 && (r != s || threads->roots[r].many) &&
			    threads_beside(threads, a->inner, r, s) &&
			    threads_beside(threads, b->inner, s, r)) {
				roots[0] = r;
				roots[1] = s;
				return true;
			}
	return false;
}

/* A third lock that both hold keeps them from closing the circle. */
static bool gated(const struct nesting *a, const struct nesting *b)
{
	for (uint32_t i = 0; i < a->held.n; i++)
		for (uint32_t j = 0; j < b->held.n; j++)
			if (a->held.items[i].lock == b->held.items[j].lock &&
			    a->held.items[i].lock != a->first && a->held.items[i].lock != b->first &&
			    a->held.items[i].lock != WHOLE_NONE)
				return true;
	return false;
}

static void describe_side(struct scanner *scanner, const struct nesting *side, unsigned thread, uint32_t root,
			  bool outer, struct candidate *out)
{
	uint32_t at = outer ? side->outer : side->inner;
	const char *name = scanner_lock(scanner, outer ? side->first : side->second);

	if (at >= LOCKS_ENTRY - 1)
		at = scanner->locks.items.items[side->first].instruction;
	scanner_describe_call(scanner, at, thread, root, outer ? &(struct lockset){ 0 } : &side->held, name,
			      VEC_PUSH(&out->accesses));
}

static void make(struct nestings *nestings, const struct nesting *a, const struct nesting *b,
		 const uint32_t roots[2], struct scan *out)
{
	struct scanner *scanner = nestings->scanner;
	struct candidate *made = VEC_PUSH(&out->candidates);
	const char *first = scanner_lock(scanner, a->first), *second = scanner_lock(scanner, a->second);

	*made = (struct candidate){ .kind = CANDIDATE_DEADLOCK };
	score_add(made, NOTE_CIRCLE);
	if (a->first == a->second)
		score_add(made, NOTE_ONE_KIND);
	if (gated(a, b))
		score_add(made, NOTE_GATED);
	describe_side(scanner, a, 1, roots[0], true, made);
	describe_side(scanner, b, 2, roots[1], true, made);
	describe_side(scanner, b, 2, roots[1], false, made);
	describe_side(scanner, a, 1, roots[0], false, made);
	made->variable = memory_format("%s, %s", first, second);
	made->parallel = score_parallel(scanner, roots);
}

/* Circles through three and four locks: the edges a → b → c (→ d) → a, told by the first and the last. */
static bool reaches(const struct nestings *nestings, uint32_t from, uint32_t to, int depth,
		    const struct nesting **last)
{
	for (size_t i = 0; i < nestings->items.n; i++) {
		const struct nesting *edge = &nestings->items.items[i];

		if (edge->first != from || edge->first == edge->second)
			continue;
		if (edge->second == to) {
			*last = edge;
			return true;
		}
		if (depth > 1 && reaches(nestings, edge->second, to, depth - 1, last))
			return true;
	}
	return false;
}

static void find_circles(struct nestings *nestings, struct scan *out)
{
	uint32_t roots[2];

	for (size_t i = 0; i < nestings->items.n; i++) {
		const struct nesting *a = &nestings->items.items[i], *last;
		bool direct = false;

		for (size_t j = i; j < nestings->items.n; j++) {
			const struct nesting *b = &nestings->items.items[j];

			if (a->first != b->second || a->second != b->first)
				continue;
			direct = true;
			if (parallel(nestings->scanner, a, b, roots))
				make(nestings, a, b, roots, out);
		}
		if (!direct && a->first < a->second && reaches(nestings, a->second, a->first, 3, &last) &&
		    last->second == a->first && parallel(nestings->scanner, a, last, roots))
			make(nestings, a, last, roots, out);
	}
}

/* ---- joins under a lock ---- */

static void make_join(struct nestings *nestings, const struct nesting *join, const struct nesting *taken,
		      const uint32_t roots[2], struct scan *out)
{
	struct scanner *scanner = nestings->scanner;
	struct candidate *made = VEC_PUSH(&out->candidates);
	const char *name = scanner_lock(scanner, join->first);
	bool joins = join->second == WHOLE_NONE;

	*made = (struct candidate){ .kind = CANDIDATE_DEADLOCK };
	score_add(made, joins ? NOTE_JOIN_LOCKED : NOTE_AWAIT_LOCKED);
	describe_side(scanner, join, 1, roots[0], true, made);
	scanner_describe_call(scanner, taken->inner, 2, roots[1], &taken->held, name,
			      VEC_PUSH(&made->accesses));
	scanner_describe_call(scanner, join->inner, 1, roots[0], &join->held, name,
			      VEC_PUSH(&made->accesses));
	made->accesses.items[made->accesses.n - 1].joins = joins;
	made->variable = memory_string(name);
	made->parallel = score_parallel(scanner, roots);
}

/* Which thread a join waits for is not told apart: any that its own thread creates. */
static bool may_join(const struct scanner *scanner, const struct nesting *join, uint32_t waiting,
		     uint32_t other)
{
	return scanner->threads.roots[other].parent == waiting &&
	       threads_beside(&scanner->threads, join->inner, waiting, other);
}

/* A way from the lock to a signal of the condition, in the function that takes the lock. */
static bool signals_behind(struct scanner *scanner, const struct nesting *taken, uint32_t wait)
{
	const struct whole *whole = &scanner->whole;
	uint32_t function = whole_function_of(whole, taken->inner);
	const roaring_bitmap_t *condition =
		points_to(&scanner->points, LLVMGetOperand(whole->instructions.items[wait], 0));

	for (uint32_t i = taken->inner; i < whole->first[function + 1]; i++) {
		const struct call *call = points_call(&scanner->points, i);

		for (size_t l = 0; call && l < call->library.n; l++)
			if (call->library.items[l]->role == LIBRARY_SIGNAL &&
			    roaring_bitmap_intersect(
				    condition, points_to(&scanner->points,
							 LLVMGetOperand(whole->instructions.items[i], 0))))
				return true;
	}
	return false;
}

static bool blocks(struct scanner *scanner, const struct nesting *join, const struct nesting *taken,
		   uint32_t waiting, uint32_t other)
{
	if (join->second == WHOLE_NONE)
		return may_join(scanner, join, waiting, other);
	return (waiting != other || scanner->threads.roots[other].many) &&
	       threads_beside(&scanner->threads, join->inner, waiting, other) &&
	       threads_beside(&scanner->threads, taken->inner, other, waiting) &&
	       signals_behind(scanner, taken, join->inner);
}

static void match_join(struct nestings *nestings, const struct nesting *join, const struct nesting *taken,
		       struct scan *out)
{
	const struct threads *threads = &nestings->scanner->threads;

	for (uint32_t r = 0; r < threads->n; r++)
		for (uint32_t s = 0; s < threads->n; s++) {
			const uint32_t roots[] = { r, s };

			if (!(join->roots >> r & 1) || !(taken->roots >> s & 1) ||
			    !blocks(nestings->scanner, join, taken, r, s))
				continue;
			make_join(nestings, join, taken, roots, out);
			return;
		}
}

static void find_joins(struct nestings *nestings, struct scan *out)
{
	for (size_t j = 0; j < nestings->joins.n; j++)
		for (size_t t = 0; t < nestings->taken.n; t++)
			if (nestings->joins.items[j].first == nestings->taken.items[t].first)
				match_join(nestings, &nestings->joins.items[j], &nestings->taken.items[t],
					   out);
}

void cycles_find(struct scanner *scanner, struct scan *out)
{
	struct nestings nestings = { .scanner = scanner };

	for (uint32_t f = 0; f < scanner->whole.functions.n; f++) {
		nestings.roots = threads_running(&scanner->threads, f);
		if (nestings.roots && scanner->locks.concerned[f])
			locks_walk(&scanner->locks, f, collect, &nestings);
	}
	find_circles(&nestings, out);
	find_joins(&nestings, out);
	VEC_FREE(&nestings.items);
	VEC_FREE(&nestings.joins);
	VEC_FREE(&nestings.taken);
}
