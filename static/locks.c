/* Forward analysis of each function over sets of locks that are held on every way;
 * summaries of functions are recomputed until none changes. */
#include "static/locks.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 8 /* wrappers in wrappers; deeper ones are taken for functions that lock nothing */

/* ---- locks by their pointers ---- */

static uint32_t lock_number(struct locks *locks, const roaring_bitmap_t *set, int64_t offset, uint32_t taken)
{
	struct solver *solver = &locks->threads->points->solver;
	uint64_t identity = HASH_START, n = roaring_bitmap_get_cardinality(set);
	uint32_t first = SOLVER_NONE;
	bool fresh;

	if (!n || n > 256)
		return WHOLE_NONE;
	uint32_t *all = memory_alloc(n * sizeof *all);

	roaring_bitmap_to_uint32_array(set, all);
	for (uint64_t i = 0; i < n; i++) {
		struct solver_location at = solver->locations.items[all[i]];
		uint32_t location = solver_location(solver, at.object, (int64_t)at.offset + offset);

		identity = hash_bytes(identity, &location, sizeof location);
		first = first == SOLVER_NONE ? location : first;
	}
	free(all);
	if (first == SOLVER_NONE)
		return WHOLE_NONE;
	uint64_t *number = map_put(&locks->numbers, identity, &fresh);

	if (fresh) {
		*number = locks->items.n;
		*VEC_PUSH(&locks->items) = (struct lock){ identity, first, (uint32_t)n, taken };
	}
	return (uint32_t)*number;
}

/* The parameter that an address is a constant step away from, plus 1; 0 for others. */
static uint32_t parameter_of(const struct whole *whole, LLVMValueRef pointer, int64_t *offset)
{
	struct place place;

	if (!place_of(whole, pointer, &place) || place.index || !LLVMIsAArgument(place.base))
		return 0;
	LLVMValueRef function = LLVMGetParamParent(place.base);

	*offset = place.offset;
	for (unsigned i = 0; i < LLVMCountParams(function); i++)
		if (LLVMGetParam(function, i) == place.base)
			return i + 1;
	return 0;
}

/* The lock that a std::unique_lock guards: the pointer to it is the first thing in there. */
static struct held lock_behind(struct locks *locks, LLVMValueRef pointer, uint32_t instruction)
{
	struct solver *solver = &locks->threads->points->solver;
	const roaring_bitmap_t *set = points_to(locks->threads->points, pointer);
	roaring_bitmap_t *all = roaring_bitmap_create();
	roaring_uint32_iterator_t *at = roaring_create_iterator(set);

	for (; at->has_value; roaring_advance_uint32_iterator(at)) {
		uint32_t content = solver->locations.items[at->current_value].content;

		if (content != SOLVER_NONE)
			roaring_bitmap_or_inplace(all, solver_answer(solver, content));
	}
	roaring_free_uint32_iterator(at);
	struct held held = { .section = instruction, .lock = lock_number(locks, all, 0, instruction) };

	roaring_bitmap_free(all);
	return held;
}

static struct held lock_at(struct locks *locks, LLVMValueRef pointer, int64_t offset, uint32_t instruction)
{
	struct held held = { .section = instruction };

	held.lock = lock_number(locks, points_to(locks->threads->points, pointer), offset, instruction);
	held.parameter = parameter_of(locks->threads->points->whole, pointer, &held.offset);
	held.offset += offset;
	return held;
}

/* ---- sets ---- */

static bool same_lock(const struct held *a, const struct held *b)
{
	/* Of two parameters that may lead to the same place, only one is meant. */
	if (a->parameter && b->parameter)
		return a->parameter == b->parameter && a->offset == b->offset && a->lock == b->lock;
	return a->lock == b->lock && a->lock != WHOLE_NONE;
}

static void take(struct lockset *set, struct held held)
{
	if (held.lock == WHOLE_NONE && !held.parameter)
		return;
	for (uint32_t i = 0; i < set->n; i++)
		if (same_lock(&set->items[i], &held))
			return;
	if (set->n < LOCKS_HELD)
		set->items[set->n++] = held;
}

/* False when it was not there. */
static bool give(struct lockset *set, const struct held *held)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (same_lock(&set->items[i], held)) {
			memmove(&set->items[i], &set->items[i + 1], (set->n - i - 1) * sizeof set->items[0]);
			set->n--;
			return true;
		}
	return false;
}

/* What both hold; true when that made `set` smaller. */
static bool meet(struct lockset *set, const struct lockset *with)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < set->n; i++)
		for (uint32_t w = 0; w < with->n; w++)
			if (same_lock(&set->items[i], &with->items[w])) {
				set->items[kept] = set->items[i];
				set->items[kept].shared |= with->items[w].shared;
				/* Taken at different places: no section that can be named holds both. */
				if (set->items[kept].section != with->items[w].section)
					set->items[kept].section = LOCKS_ENTRY - 1;
				kept++;
				break;
			}
	bool smaller = kept != set->n;

	set->n = kept;
	return smaller;
}

uint32_t locks_common(const struct lockset *a, const struct lockset *b)
{
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t j = 0; j < b->n; j++)
			if (a->items[i].lock == b->items[j].lock && a->items[i].lock != WHOLE_NONE &&
			    !(a->items[i].shared && b->items[j].shared))
				return a->items[i].lock;
	return WHOLE_NONE;
}

/* ---- one call ---- */

static const struct library_function *locking(const struct call *call)
{
	for (size_t i = 0; i < call->library.n; i++)
		if (call->library.items[i]->role >= LIBRARY_LOCK &&
		    call->library.items[i]->role <= LIBRARY_WAIT_CXX)
			return call->library.items[i];
	return NULL;
}

static bool is_wait(const struct library_function *function)
{
	return function->role == LIBRARY_WAIT || function->role == LIBRARY_WAIT_CXX;
}

/* The lock that a call of a locking function is about; false when it has no such argument. */
static bool lock_of_call(struct locks *locks, const struct call *call,
			 const struct library_function *function, struct held *out)
{
	LLVMValueRef at = locks->threads->points->whole->instructions.items[call->instruction];
	int operand = is_wait(function) ? function->b : function->a;

	if (operand < 0 || (unsigned)operand >= whole_arguments(at))
		return false;
	LLVMValueRef pointer = LLVMGetOperand(at, (unsigned)operand);

	*out = function->role == LIBRARY_WAIT_CXX ? lock_behind(locks, pointer, call->instruction)
						  : lock_at(locks, pointer, 0, call->instruction);
	return true;
}

uint32_t locks_taken(struct locks *locks, const struct call *call, bool *shared, enum library_role *role)
{
	const struct library_function *function = locking(call);

	if (!function)
		return WHOLE_NONE;
	struct held held;

	*role = function->role;
	*shared = function->role == LIBRARY_LOCK_SHARED || function->role == LIBRARY_TRY_SHARED;
	return lock_of_call(locks, call, function, &held) ? held.lock : WHOLE_NONE;
}

/* A lock of a callee's summary as the caller of this call sees it. */
static struct held translated(struct locks *locks, const struct held *held, LLVMValueRef call,
			      uint32_t instruction)
{
	if (!held->parameter || held->parameter > whole_arguments(call))
		return (struct held){ .lock = held->lock, .section = instruction, .shared = held->shared };
	struct held own =
		lock_at(locks, LLVMGetOperand(call, held->parameter - 1), held->offset, instruction);

	own.shared = held->shared;
	return own;
}

static void apply_call(struct locks *locks, const struct call *call, struct lockset *set,
		       struct lockset *given)
{
	LLVMValueRef at = locks->threads->points->whole->instructions.items[call->instruction];
	const struct library_function *function = locking(call);

	if (function) {
		struct held held;

		if (!lock_of_call(locks, call, function, &held))
			return;
		held.shared = function->role == LIBRARY_LOCK_SHARED;
		if (function->role == LIBRARY_UNLOCK && !give(set, &held))
			take(given, held);
		/* Waiting gives the lock back and takes it again: what follows is another section. */
		if (is_wait(function) && give(set, &held))
			take(set, held);
		if (function->role == LIBRARY_LOCK || function->role == LIBRARY_LOCK_SHARED)
			take(set, held);
		return;
	}
	for (size_t c = 0; c < call->callees.n; c++) {
		const struct lock_summary *summary = &locks->summaries[call->callees.items[c]];

		for (uint32_t i = 0; i < summary->gives.n; i++) {
			struct held held = translated(locks, &summary->gives.items[i], at, call->instruction);

			if (!give(set, &held))
				take(given, held);
		}
		/* Of several functions that may be called, only one was. */
		for (uint32_t i = 0; call->callees.n == 1 && i < summary->takes.n; i++)
			take(set, translated(locks, &summary->takes.items[i], at, call->instruction));
	}
}

/* A try that came out as this way of the branch says: 0 means that the lock was taken. */
static void apply_branch(struct locks *locks, LLVMValueRef end, unsigned successor, struct lockset *set)
{
	const struct points *points = locks->threads->points;

	if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end) || !LLVMIsAICmpInst(LLVMGetCondition(end)))
		return;
	LLVMValueRef compare = LLVMGetCondition(end), result = LLVMGetOperand(compare, 0);
	LLVMValueRef with = LLVMGetOperand(compare, 1);
	LLVMIntPredicate predicate = LLVMGetICmpPredicate(compare);

	if (!LLVMIsAConstantInt(with) || LLVMConstIntGetSExtValue(with) != 0 || !LLVMIsAInstruction(result))
		return;
	const struct call *call = points_call(points, whole_instruction(points->whole, result));
	const struct library_function *function = call ? locking(call) : NULL;

	if (!function || (function->role != LIBRARY_TRY && function->role != LIBRARY_TRY_SHARED))
		return;
	if ((predicate == LLVMIntEQ && successor == 0) || (predicate == LLVMIntNE && successor == 1)) {
		struct held held =
			lock_at(locks, LLVMGetOperand(result, (unsigned)function->a), 0, call->instruction);

		held.shared = function->role == LIBRARY_TRY_SHARED;
		take(set, held);
	}
}

/* ---- one function ---- */

struct blocks {
	struct lockset *in;
	bool *known;
};

static void run_block(struct locks *locks, LLVMBasicBlockRef block, struct lockset *set,
		      struct lockset *given, locks_visit *visit, void *context)
{
	const struct points *points = locks->threads->points;
	uint32_t number = whole_instruction(points->whole, LLVMGetFirstInstruction(block));

	for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;
	     at = LLVMGetNextInstruction(at), number++) {
		const struct call *call = points_call(points, number);

		if (visit)
			visit(context, number, set);
		if (call)
			apply_call(locks, call, set, given);
	}
}

/* Block by block until nothing changes; blocks are in reverse postorder. */
static void analyse(struct locks *locks, uint32_t function, const struct lockset *entry, struct blocks *out,
		    struct lockset *given)
{
	const struct loops *loops = &locks->threads->loops[function];

	out->in = memory_alloc((loops->nblocks + 1) * sizeof *out->in);
	out->known = memory_alloc(loops->nblocks + 1);
	out->in[0] = *entry;
	out->known[0] = true;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = 0; b < loops->nblocks; b++) {
			LLVMValueRef end = LLVMGetBasicBlockTerminator(loops->blocks[b]);
			struct lockset set = out->in[b];

			if (!out->known[b])
				continue;
			run_block(locks, loops->blocks[b], &set, given, NULL, NULL);
			for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
				const uint64_t *to =
					map_get(&loops->numbers, whole_key(LLVMGetSuccessor(end, s)));
				struct lockset along = set;

				apply_branch(locks, end, s, &along);
				if (!out->known[*to]) {
					out->known[*to] = true;
					out->in[*to] = along;
					changed = true;
				} else {
					changed |= meet(&out->in[*to], &along);
				}
			}
		}
	}
}

static void blocks_free(struct blocks *blocks)
{
	free(blocks->in);
	free(blocks->known);
}

static bool summarise(struct locks *locks, uint32_t function)
{
	const struct loops *loops = &locks->threads->loops[function];
	struct lock_summary summary = { 0 };
	struct lockset nothing = { 0 };
	struct blocks blocks;
	bool first = true;

	analyse(locks, function, &nothing, &blocks, &summary.gives);
	for (uint32_t b = 0; b < loops->nblocks; b++) {
		struct lockset set = blocks.in[b], given = { 0 };

		if (!blocks.known[b] || !LLVMIsAReturnInst(LLVMGetBasicBlockTerminator(loops->blocks[b])))
			continue;
		run_block(locks, loops->blocks[b], &set, &given, NULL, NULL);
		if (first)
			summary.takes = set;
		else
			meet(&summary.takes, &set);
		first = false;
	}
	blocks_free(&blocks);
	bool changed = summary.takes.n != locks->summaries[function].takes.n ||
		       summary.gives.n != locks->summaries[function].gives.n;

	locks->summaries[function] = summary;
	return changed;
}

void locks_walk(struct locks *locks, uint32_t function, locks_visit *visit, void *context)
{
	const struct loops *loops = &locks->threads->loops[function];
	struct lockset given = { 0 };
	struct blocks blocks;

	analyse(locks, function, &locks->entries[function], &blocks, &given);
	for (uint32_t b = 0; b < loops->nblocks; b++) {
		struct lockset set = blocks.in[b];

		if (blocks.known[b])
			run_block(locks, loops->blocks[b], &set, &given, visit, context);
	}
	blocks_free(&blocks);
}

/* ---- the whole ---- */

/* Functions in which locks play a part at all; the others need no analysis. */
static void find_concerned(struct locks *locks)
{
	const struct points *points = locks->threads->points;

	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < points->calls.n; i++) {
			const struct call *call = &points->calls.items[i];
			bool concerned = locking(call) != NULL;

			for (size_t c = 0; c < call->callees.n && !threads_creates(call); c++)
				concerned |= locks->concerned[call->callees.items[c]];
			if (concerned && !locks->concerned[call->caller])
				locks->concerned[call->caller] = changed = true;
		}
	}
}

struct entering {
	struct locks *locks;
	struct lockset *next;
	bool *known;
};

static void enter_callees(void *context, uint32_t instruction, const struct lockset *held)
{
	struct entering *entering = context;
	const struct call *call = points_call(entering->locks->threads->points, instruction);

	for (size_t c = 0; call && c < call->callees.n; c++) {
		uint32_t callee = call->callees.items[c];
		struct lockset set = threads_creates(call) ? (struct lockset){ 0 } : *held;

		for (uint32_t i = 0; i < set.n; i++) {
			set.items[i].section = LOCKS_ENTRY;
			set.items[i].parameter = 0;
		}
		if (entering->known[callee])
			meet(&entering->next[callee], &set);
		else
			entering->next[callee] = set;
		entering->known[callee] = true;
	}
}

/* What every caller holds, from the roots downwards; each round can only take away after the first. */
static void find_entries(struct locks *locks)
{
	const struct threads *threads = locks->threads;
	size_t n = threads->points->whole->functions.n;

	for (int round = 0; round < ROUNDS; round++) {
		struct entering entering = { .locks = locks,
					     .next = memory_alloc((n + 1) * sizeof *entering.next),
					     .known = memory_alloc(n + 1) };

		for (uint32_t r = 0; r < threads->n; r++)
			entering.known[threads->roots[r].function] = true;
		for (uint32_t f = 0; f < n; f++)
			locks_walk(locks, f, enter_callees, &entering);
		bool same = memcmp(entering.next, locks->entries, n * sizeof *entering.next) == 0;

		free(locks->entries);
		locks->entries = entering.next;
		free(entering.known);
		if (same)
			return;
	}
}

void locks_start(struct locks *locks, const struct threads *threads)
{
	size_t n = threads->points->whole->functions.n;

	*locks = (struct locks){ .threads = threads };
	locks->summaries = memory_alloc((n + 1) * sizeof *locks->summaries);
	locks->entries = memory_alloc((n + 1) * sizeof *locks->entries);
	locks->concerned = memory_alloc(n + 1);
	find_concerned(locks);
	for (int round = 0; round < ROUNDS; round++) {
		bool changed = false;

		for (uint32_t f = 0; f < n; f++)
			if (locks->concerned[f])
				changed |= summarise(locks, f);
		if (!changed)
			break;
	}
	find_entries(locks);
}

void locks_free(struct locks *locks)
{
	VEC_FREE(&locks->items);
	map_free(&locks->numbers);
	free(locks->summaries);
	free(locks->entries);
	free(locks->concerned);
	*locks = (struct locks){ 0 };
}
