/* Synchronisation that separates two accesses without a lock (COLFINDER's pruner):
 * barriers, semaphores, condition variables, joins of some thread. What the text shows may be meant for
 * something else, or fail; so it lowers a score and explains it, and leaves nothing out. */
#include <stdlib.h>
#include <string.h>

#include "static/scanner.h"

#define CALLS_MOST 256u /* synchronising calls that are looked at */
#define PLACES_MOST 16u /* calls of one function that lead to an instruction */
#define FROM_START UINT32_MAX
#define TO_END UINT32_MAX

/* A call that waits, posts or signals. */
struct sync_call {
	uint32_t instruction, function;
	enum library_role role;
};

struct phases {
	struct sync_call calls[CALLS_MOST];
	uint32_t n;
	bool any_barrier;
	bool *passes; /* by function: every way through it passes a barrier */
	struct map
		leading; /* root function << 32 | function → the calls of the one that lead to the other, a list */
	struct map answers; /* pair of accesses and roots → phase */
	struct map ways;    /* what has_way was asked before */
};

struct places {
	uint32_t items[PLACES_MOST];
	uint32_t n;
	bool many; /* more than there is room for */
};

static bool is_barrier_call(const struct scanner *scanner, const struct phases *phases, uint32_t instruction)
{
	const struct call *call = points_call(&scanner->points, instruction);
	bool all = call && call->callees.n;

	for (size_t i = 0; call && i < call->library.n; i++)
		if (call->library.items[i]->role == LIBRARY_BARRIER)
			return true;
	for (size_t i = 0; all && i < call->callees.n; i++)
		all = phases->passes[call->callees.items[i]];
	return all && !threads_creates(call);
}

/* ---- ways through a function ---- */

typedef bool stops(const struct scanner *scanner, const struct phases *phases, const void *context,
		   uint32_t instruction);

static bool stops_at_barrier(const struct scanner *scanner, const struct phases *phases, const void *context,
			     uint32_t instruction)
{
	(void)context;
	return is_barrier_call(scanner, phases, instruction);
}

static bool stops_never(const struct scanner *scanner, const struct phases *phases, const void *context,
			uint32_t instruction)
{
	(void)scanner, (void)phases, (void)context, (void)instruction;
	return false;
}

static bool stops_at_one(const struct scanner *scanner, const struct phases *phases, const void *context,
			 uint32_t instruction)
{
	(void)scanner, (void)phases;
	return instruction == *(const uint32_t *)context;
}

struct walk {
	const struct scanner *scanner;
	const struct phases *phases;
	const struct loops *loops;
	stops *stop;
	const void *context;
	uint32_t to;
};

/* From an instruction to the end of its block: 1 arrived, 0 stopped, -1 came to the block's end. */
static int run_block(const struct walk *walk, LLVMValueRef at)
{
	uint32_t number = whole_instruction(&walk->scanner->whole, at);

	for (; at; at = LLVMGetNextInstruction(at), number++) {
		if (number == walk->to || (walk->to == TO_END && LLVMIsAReturnInst(at)))
			return 1;
		if (walk->stop(walk->scanner, walk->phases, walk->context, number))
			return 0;
	}
	return -1;
}

/* The blocks that a block leads to, into `todo`, each once. */
static void add_successors(const struct loops *loops, LLVMValueRef last, bool *seen, uint32_t *todo,
			   uint32_t *n)
{
	for (unsigned s = 0; s < LLVMGetNumSuccessors(last); s++) {
		const uint64_t *next = map_get(&loops->numbers, whole_key(LLVMGetSuccessor(last, s)));

		if (next && !seen[*next]) {
			seen[*next] = true;
			todo[(*n)++] = (uint32_t)*next;
		}
	}
}

static bool find_way(struct scanner *scanner, const struct phases *phases, uint32_t function, uint32_t from,
		     uint32_t to, stops *stop, const void *context)
{
	const struct loops *loops = &scanner->threads.loops[function];
	const struct walk walk = { scanner, phases, loops, stop, context, to };
	_cleanup_free_ bool *seen = memory_alloc(loops->nblocks + 1);
	_cleanup_free_ uint32_t *todo = memory_alloc((loops->nblocks + 1) * sizeof *todo);
	uint32_t n = 0;

	if (from == FROM_START) {
		todo[n++] = 0;
		seen[0] = true;
	} else {
		LLVMValueRef at = scanner->whole.instructions.items[from], next = LLVMGetNextInstruction(at);
		int end = next ? run_block(&walk, next) : -1;

		if (end >= 0)
			return end == 1;
		add_successors(loops, LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(at)), seen, todo,
			       &n);
	}
	while (n && loops->nblocks) {
		LLVMBasicBlockRef block = loops->blocks[todo[--n]];
		int end = run_block(&walk, LLVMGetFirstInstruction(block));

		if (end == 1)
			return true;
		if (end < 0)
			add_successors(loops, LLVMGetBasicBlockTerminator(block), seen, todo, &n);
	}
	return false;
}

/* Is there a way from behind `from` to `to` on which nothing stops it? Asked for the same places again and again. */
static bool has_way(struct scanner *scanner, struct phases *phases, uint32_t function, uint32_t from,
		    uint32_t to, stops *stop, const uint32_t *one)
{
	uint32_t kind = stop == stops_at_barrier ? 1 : stop == stops_never ? 2 : 3;
	uint32_t key[] = { function, from, to, kind, one ? *one : 0 };
	uint64_t hash = hash_bytes(HASH_START, key, sizeof key), *known = map_get(&phases->ways, hash);

	if (known)
		return *known;
	bool found = find_way(scanner, phases, function, from, to, stop, one);

	*map_put(&phases->ways, hash, NULL) = found;
	return found;
}

/* ---- what there is to wait at ---- */

static void list_calls(const struct scanner *scanner, struct phases *phases)
{
	for (size_t i = 0; i < scanner->points.calls.n; i++) {
		const struct call *call = &scanner->points.calls.items[i];

		for (size_t l = 0; l < call->library.n && phases->n < CALLS_MOST; l++) {
			enum library_role role = call->library.items[l]->role;

			if (role == LIBRARY_BARRIER)
				phases->any_barrier = true;
			if (role == LIBRARY_UP || role == LIBRARY_DOWN || role == LIBRARY_SIGNAL ||
			    role == LIBRARY_WAIT || role == LIBRARY_WAIT_CXX || role == LIBRARY_JOIN ||
			    role == LIBRARY_JOIN_CXX)
				phases->calls[phases->n++] =
					(struct sync_call){ call->instruction, call->caller, role };
		}
	}
}

/* Wrappers of barriers, and wrappers of these. */
static void find_passing(struct scanner *scanner, struct phases *phases)
{
	bool changed = phases->any_barrier;

	for (int round = 0; changed && round < 4; round++) {
		changed = false;
		for (uint32_t f = 0; f < scanner->whole.functions.n; f++)
			if (!phases->passes[f] && threads_running(&scanner->threads, f) &&
			    !find_way(scanner, phases, f, FROM_START, TO_END, stops_at_barrier, NULL) &&
			    find_way(scanner, phases, f, FROM_START, TO_END, stops_never, NULL))
				phases->passes[f] = changed = true;
	}
}

static struct phases *phases_of(struct scanner *scanner)
{
	if (scanner->phases)
		return scanner->phases;
	struct phases *phases = scanner->phases = memory_alloc(sizeof *phases);

	phases->passes = memory_alloc(scanner->whole.functions.n + 1);
	list_calls(scanner, phases);
	find_passing(scanner, phases);
	return phases;
}

void phases_free(struct phases *phases)
{
	if (!phases)
		return;
	for (size_t i = 0; i < phases->leading.room; i++)
		if (phases->leading.slots[i].used)
			free((void *)(uintptr_t)phases->leading.slots[i].value);
	map_free(&phases->leading);
	map_free(&phases->answers);
	map_free(&phases->ways);
	free(phases->passes);
	free(phases);
}

/* ---- where a function leads to an instruction ---- */

static bool leads_to(const struct scanner *scanner, uint32_t from, uint32_t function, bool *seen, int depth)
{
	const struct whole *whole = &scanner->whole;

	if (from == function)
		return true;
	if (seen[from] || !depth)
		return false;
	seen[from] = true;
	for (uint32_t i = whole->first[from]; i < whole->first[from + 1]; i++) {
		const struct call *call = points_call(&scanner->points, i);

		for (size_t c = 0; call && !threads_creates(call) && c < call->callees.n; c++)
			if (leads_to(scanner, call->callees.items[c], function, seen, depth - 1))
				return true;
	}
	return false;
}

static const struct places *calls_leading(struct scanner *scanner, struct phases *phases, uint32_t root,
					  uint32_t function)
{
	const struct whole *whole = &scanner->whole;
	bool fresh;
	uint64_t *known = map_put(&phases->leading, (uint64_t)root << 32 | function, &fresh);

	if (!fresh)
		return (const struct places *)(uintptr_t)*known;
	struct places *found = memory_alloc(sizeof *found);
	_cleanup_free_ bool *seen = memory_alloc(whole->functions.n + 1);

	*known = whole_key(found);
	for (uint32_t i = whole->first[root]; i < whole->first[root + 1]; i++) {
		const struct call *call = points_call(&scanner->points, i);
		bool leads = false;

		for (size_t c = 0; call && !threads_creates(call) && c < call->callees.n && !leads; c++) {
			memset(seen, 0, whole->functions.n);
			leads = leads_to(scanner, call->callees.items[c], function, seen, 12);
		}
		if (leads && found->n < PLACES_MOST)
			found->items[found->n++] = i;
		else
			found->many |= leads;
	}
	return found;
}

/* The instruction itself, or the calls that lead to it; none when that is not clear. */
static struct places places_in(struct scanner *scanner, struct phases *phases, uint32_t function,
			       uint32_t instruction, uint32_t home)
{
	if (home == function)
		return (struct places){ .items = { instruction }, .n = 1 };
	struct places found = *calls_leading(scanner, phases, function, home);

	if (found.many)
		found.n = 0;
	return found;
}

/* ---- barriers ---- */

static bool barrier_apart(struct scanner *scanner, struct phases *phases, uint32_t function,
			  const struct places *a, const struct places *b)
{
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t j = 0; j < b->n; j++)
			if (a->items[i] == b->items[j] ||
			    has_way(scanner, phases, function, a->items[i], b->items[j], stops_at_barrier,
				    NULL) ||
			    has_way(scanner, phases, function, b->items[j], a->items[i], stops_at_barrier,
				    NULL))
				return false;
	return a->n && b->n;
}

/* Through the function's end and its next call, without a barrier? */
static bool goes_round(struct scanner *scanner, struct phases *phases, uint32_t function, uint32_t from,
		       uint32_t to)
{
	return scanner->threads.repeated[function] &&
	       has_way(scanner, phases, function, from, TO_END, stops_at_barrier, NULL) &&
	       has_way(scanner, phases, function, FROM_START, to, stops_at_barrier, NULL);
}

static bool between_barriers(struct scanner *scanner, struct phases *phases, const struct access_at *a,
			     const struct access_at *b, const uint32_t roots[2])
{
	uint32_t function = scanner->threads.roots[roots[0]].function;

	if (!phases->any_barrier || a->instruction == b->instruction ||
	    function != scanner->threads.roots[roots[1]].function)
		return false;
	if (a->function == b->function && a->function != function) {
		struct places left = { .items = { a->instruction }, .n = 1 },
			      right = { .items = { b->instruction }, .n = 1 };

		return barrier_apart(scanner, phases, a->function, &left, &right) &&
		       !goes_round(scanner, phases, a->function, a->instruction, b->instruction) &&
		       !goes_round(scanner, phases, a->function, b->instruction, a->instruction);
	}
	struct places left = places_in(scanner, phases, function, a->instruction, a->function);
	struct places right = places_in(scanner, phases, function, b->instruction, b->function);

	return barrier_apart(scanner, phases, function, &left, &right);
}

/* ---- what is handed over ---- */

static const roaring_bitmap_t *object_of(struct scanner *scanner, const struct sync_call *call)
{
	return points_to(&scanner->points,
			 LLVMGetOperand(scanner->whole.instructions.items[call->instruction], 0));
}

/* The access is done before the post, and never behind it. */
static bool comes_before(struct scanner *scanner, struct phases *phases, const struct access_at *access,
			 const struct sync_call *post, uint32_t root)
{
	uint32_t function =
		access->function == post->function ? access->function : scanner->threads.roots[root].function;
	struct places left = places_in(scanner, phases, function, access->instruction, access->function);
	struct places right = places_in(scanner, phases, function, post->instruction, post->function);

	for (uint32_t i = 0; i < left.n; i++)
		for (uint32_t j = 0; j < right.n; j++)
			if (left.items[i] == right.items[j] ||
			    !has_way(scanner, phases, function, left.items[i], right.items[j], stops_never,
				     NULL) ||
			    has_way(scanner, phases, function, right.items[j], left.items[i], stops_never,
				    NULL))
				return false;
	return left.n && right.n;
}

/* Whoever comes to the access has waited: at a semaphore on every way, at a condition whenever it had to. */
static bool comes_behind(struct scanner *scanner, struct phases *phases, const struct access_at *access,
			 const struct sync_call *wait, uint32_t root)
{
	uint32_t function =
		access->function == wait->function ? access->function : scanner->threads.roots[root].function;
	struct places left = places_in(scanner, phases, function, wait->instruction, wait->function);
	struct places right = places_in(scanner, phases, function, access->instruction, access->function);

	for (uint32_t i = 0; i < left.n; i++)
		for (uint32_t j = 0; j < right.n; j++) {
			if (left.items[i] == right.items[j])
				return false;
			bool always = !has_way(scanner, phases, function, FROM_START, right.items[j],
					       stops_at_one, &left.items[i]);
			bool then = has_way(scanner, phases, function, left.items[i], right.items[j],
					    stops_never, NULL);

			if (!then || (wait->role == LIBRARY_DOWN && !always))
				return false;
		}
	return left.n && right.n;
}

/* Is there a way from the access to the call? */
static bool leads_back(struct scanner *scanner, struct phases *phases, uint32_t root_function,
		       const struct access_at *access, const struct sync_call *call)
{
	uint32_t function = access->function == call->function ? access->function : root_function;
	struct places left = places_in(scanner, phases, function, access->instruction, access->function);
	struct places right = places_in(scanner, phases, function, call->instruction, call->function);

	for (uint32_t i = 0; i < left.n; i++)
		for (uint32_t j = 0; j < right.n; j++)
			if (left.items[i] == right.items[j] ||
			    has_way(scanner, phases, function, left.items[i], right.items[j], stops_never,
				    NULL))
				return true;
	return false;
}

static enum phase handed_over(struct scanner *scanner, struct phases *phases, const struct access_at *a,
			      uint32_t from, const struct access_at *b, uint32_t to)
{
	for (uint32_t p = 0; p < phases->n; p++) {
		const struct sync_call *post = &phases->calls[p];
		bool up = post->role == LIBRARY_UP;

		if ((!up && post->role != LIBRARY_SIGNAL) ||
		    !scanner->threads.roots[from].runs[post->function] ||
		    !comes_before(scanner, phases, a, post, from))
			continue;
		for (uint32_t w = 0; w < phases->n; w++) {
			const struct sync_call *wait = &phases->calls[w];
			bool fits = up ? wait->role == LIBRARY_DOWN
				       : wait->role == LIBRARY_WAIT || wait->role == LIBRARY_WAIT_CXX;

			if (fits && scanner->threads.roots[to].runs[wait->function] &&
			    roaring_bitmap_intersect(object_of(scanner, post), object_of(scanner, wait)) &&
			    comes_behind(scanner, phases, b, wait, to))
				return up ? PHASE_SEMAPHORE : PHASE_CONDITION;
		}
	}
	return PHASE_NONE;
}

/* The creator of the root `of` comes to the access from a join, and from there to no join any more: threads that are
 * kept in a list or a vector are joined so. */
static bool is_behind_join(struct scanner *scanner, struct phases *phases, const struct access_at *access,
			   uint32_t root, uint32_t of)
{
	uint32_t function = scanner->threads.roots[root].function;

	if (scanner->threads.roots[of].parent != root)
		return false;
	for (uint32_t j = 0; j < phases->n; j++) {
		const struct sync_call *join = &phases->calls[j];

		if ((join->role != LIBRARY_JOIN && join->role != LIBRARY_JOIN_CXX) ||
		    !scanner->threads.roots[root].runs[join->function])
			continue;
		if (comes_behind(scanner, phases, access, join, root) &&
		    !leads_back(scanner, phases, function, access, join))
			return true;
	}
	return false;
}

enum phase phases_between(struct scanner *scanner, uint32_t a, uint32_t b, const uint32_t roots[2])
{
	struct phases *phases = phases_of(scanner);
	const struct access_at *left = &scanner->accesses.items.items[a];
	const struct access_at *right = &scanner->accesses.items.items[b];
	uint64_t key[] = { a, b, roots[0], roots[1] };
	bool fresh;

	if (!phases->any_barrier && !phases->n)
		return PHASE_NONE;
	if (phases->answers.n > SCANNER_REMEMBERS)
		map_free(&phases->answers);
	uint64_t *answer = map_put(&phases->answers, hash_bytes(HASH_START, key, sizeof key), &fresh);

	if (!fresh)
		return (enum phase) * answer;
	enum phase found = between_barriers(scanner, phases, left, right, roots) ? PHASE_BARRIER : PHASE_NONE;

	if (found == PHASE_NONE)
		found = handed_over(scanner, phases, left, roots[0], right, roots[1]);
	if (found == PHASE_NONE)
		found = handed_over(scanner, phases, right, roots[1], left, roots[0]);
	if (found == PHASE_NONE && (is_behind_join(scanner, phases, left, roots[0], roots[1]) ||
				    is_behind_join(scanner, phases, right, roots[1], roots[0])))
		found = PHASE_JOIN;
	*map_put(&phases->answers, hash_bytes(HASH_START, key, sizeof key), NULL) = found;
	return found;
}
