/* Finds the roots: the program's start, and each place that creates a thread with each
 * function that may begin there. */
#include "static/threads.h"

#include <stdlib.h>
#include <string.h>

bool threads_creates(const struct call *call)
{
	for (size_t i = 0; i < call->library.n; i++) {
		enum library_role role = call->library.items[i]->role;

		if (role == LIBRARY_CREATE || role == LIBRARY_CREATE_CXX || role == LIBRARY_HANDLER)
			return true;
	}
	return false;
}

bool threads_in_loop(const struct threads *threads, uint32_t instruction)
{
	const struct whole *whole = threads->points->whole;
	const struct loops *loops = &threads->loops[whole_function_of(whole, instruction)];
	LLVMBasicBlockRef block = LLVMGetInstructionParent(whole->instructions.items[instruction]);
	const uint64_t *number = map_get(&loops->numbers, whole_key(block));

	return number && loops->inner[*number] >= 0;
}

static void find_callers(struct threads *threads)
{
	const struct points *points = threads->points;

	threads->callers = memory_alloc((points->whole->functions.n + 1) * sizeof *threads->callers);
	threads->called = memory_alloc(points->whole->functions.n + 1);
	for (uint32_t i = 0; i < points->calls.n; i++)
		for (size_t c = 0; c < points->calls.items[i].callees.n; c++) {
			uint32_t callee = points->calls.items[i].callees.items[c];

			*VEC_PUSH(&threads->callers[callee]) = i;
			threads->called[callee] |= !threads_creates(&points->calls.items[i]);
		}
}

/* A function runs more than once when two calls reach it, one in a loop, or one in a function that does. */
static void find_repeated(struct threads *threads)
{
	const struct points *points = threads->points;
	size_t n = points->whole->functions.n;

	threads->repeated = memory_alloc(n + 1);
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t f = 0; f < n; f++) {
			if (threads->repeated[f] || !threads->callers[f].n)
				continue;
			const struct call *call = &points->calls.items[threads->callers[f].items[0]];
			bool again = threads->callers[f].n > 1 ||
				     threads_in_loop(threads, call->instruction) ||
				     threads->repeated[call->caller] || call->caller == f;

			threads->repeated[f] = again;
			changed |= again;
		}
	}
}

/* What a thread that begins in `function` may run; threads that it creates run on their own. */
static void find_running(const struct points *points, struct root *root)
{
	size_t n = points->whole->functions.n;
	_cleanup_free_ uint32_t *todo = memory_alloc((n + 1) * sizeof *todo);
	size_t left = 0;

	if (!root->runs)
		root->runs = memory_alloc(n + 1);
	if (root->runs[root->function])
		return;
	root->runs[root->function] = true;
	todo[left++] = root->function;
	while (left) {
		uint32_t f = todo[--left];

		for (uint32_t i = points->whole->first[f]; i < points->whole->first[f + 1]; i++) {
			const struct call *call = points_call(points, i);

			if (!call || threads_creates(call))
				continue;
			for (size_t c = 0; c < call->callees.n; c++)
				if (!root->runs[call->callees.items[c]]) {
					root->runs[call->callees.items[c]] = true;
					todo[left++] = call->callees.items[c];
				}
		}
	}
}

static struct root *add_root(struct threads *threads, uint32_t create, uint32_t function)
{
	for (uint32_t i = 0; i < threads->n; i++)
		if (threads->roots[i].create == create && threads->roots[i].function == function)
			return NULL;
	if (threads->n == THREADS_MOST) {
		struct root *last = &threads->roots[THREADS_MOST - 1];

		last->function = function;
		last->many = true;
		last->parent = WHOLE_NONE;
		find_running(threads->points, last);
		return NULL;
	}
	struct root *root = &threads->roots[threads->n++];

	*root = (struct root){ .create = create, .function = function, .parent = WHOLE_NONE };
	find_running(threads->points, root);
	return root;
}

/* The program's start: main, else whatever others may call, in any number of threads. */
static void add_start(struct threads *threads)
{
	const struct whole *whole = threads->points->whole;
	LLVMValueRef main_function = LLVMGetNamedFunction(whole->module, "main");
	uint32_t function = main_function ? whole_function(whole, main_function) : WHOLE_NONE;

	if (function != WHOLE_NONE) {
		add_root(threads, WHOLE_NONE, function);
		return;
	}
	for (uint32_t i = 0; i < whole->functions.n; i++) {
		if (LLVMGetLinkage(whole->functions.items[i]) != LLVMExternalLinkage)
			continue;
		if (!threads->n) {
			add_root(threads, WHOLE_NONE, i)->many = true;
			continue;
		}
		threads->roots[0].function = i;
		find_running(threads->points, &threads->roots[0]);
	}
}

static bool is_handler(const struct call *call)
{
	for (size_t i = 0; i < call->library.n; i++)
		if (call->library.items[i]->role != LIBRARY_HANDLER)
			return false;
	return true;
}

static void add_created(struct threads *threads)
{
	const struct points *points = threads->points;

	for (uint32_t r = 0; r < threads->n; r++)
		for (size_t i = 0; i < points->calls.n; i++) {
			const struct call *call = &points->calls.items[i];

			if (!threads_creates(call) || !threads->roots[r].runs[call->caller])
				continue;
			for (size_t c = 0; c < call->callees.n; c++) {
				struct root *root =
					add_root(threads, call->instruction, call->callees.items[c]);

				if (root)
					root->handler = is_handler(call);
			}
		}
}

/* Who creates a root, and whether it may be several threads. */
static void relate(struct threads *threads, uint32_t number)
{
	struct root *root = &threads->roots[number];
	uint32_t creators = 0;

	if (root->create == WHOLE_NONE)
		return;
	uint32_t function = whole_function_of(threads->points->whole, root->create);

	for (uint32_t r = 0; r < threads->n; r++)
		if (threads->roots[r].runs[function]) {
			root->parent = creators++ ? WHOLE_NONE : r;
			root->many |= threads->roots[r].many;
		}
	root->many |= creators > 1 || threads->repeated[function] || threads_in_loop(threads, root->create);
	if (root->handler)
		root->many = false;
}

void threads_start(struct threads *threads, struct points *points)
{
	const struct whole *whole = points->whole;

	*threads = (struct threads){ .points = points };
	threads->roots = memory_alloc(THREADS_MOST * sizeof *threads->roots);
	threads->loops = memory_alloc((whole->functions.n + 1) * sizeof *threads->loops);
	for (size_t i = 0; i < whole->functions.n; i++)
		loops_find(whole->functions.items[i], &threads->loops[i]);
	find_callers(threads);
	find_repeated(threads);
	add_start(threads);
	add_created(threads);
	for (uint32_t pass = 0; pass < threads->n; pass++)
		for (uint32_t i = 0; i < threads->n; i++)
			relate(threads, i);
	for (uint32_t i = 0; i < threads->n; i++) {
		struct root *root = &threads->roots[i];
		struct joins joins;

		if (root->create == WHOLE_NONE || root->parent == WHOLE_NONE ||
		    threads->roots[root->parent].many)
			continue;
		joins_find(threads, root, &joins);
		root->joined = joins.calls.n || joins.edges.n;
		flow_beside(threads, root, &joins);
		joins_free(&joins);
	}
}

void threads_free(struct threads *threads)
{
	for (uint32_t i = 0; i < threads->n; i++) {
		free(threads->roots[i].runs);
		free(threads->roots[i].beside);
	}
	for (size_t i = 0; threads->points && i < threads->points->whole->functions.n; i++) {
		loops_free(&threads->loops[i]);
		VEC_FREE(&threads->callers[i]);
	}
	free(threads->roots);
	free(threads->loops);
	free(threads->callers);
	free(threads->called);
	free(threads->repeated);
	*threads = (struct threads){ 0 };
}

uint64_t threads_running(const struct threads *threads, uint32_t function)
{
	uint64_t roots = 0;

	for (uint32_t i = 0; i < threads->n; i++)
		if (threads->roots[i].runs[function])
			roots |= 1ull << i;
	return roots;
}

/* The one of `root`'s own children through which it came to create `other`; WHOLE_NONE when it did not. */
static uint32_t child_towards(const struct threads *threads, uint32_t root, uint32_t other)
{
	for (uint32_t depth = 0; depth < threads->n && other != WHOLE_NONE; depth++) {
		if (threads->roots[other].parent == root)
			return other;
		other = threads->roots[other].parent;
	}
	return WHOLE_NONE;
}

bool threads_beside(const struct threads *threads, uint32_t instruction, uint32_t root, uint32_t other)
{
	if (root == other)
		return threads->roots[root].many;
	uint32_t child = child_towards(threads, root, other);

	if (child != WHOLE_NONE) {
		const uint8_t *beside = threads->roots[child].beside;

		/* Grandchildren may outlive whom the join is for. */
		return !beside ||
		       (beside[instruction] & (child == other ? THREAD_ALIVE : THREAD_STARTED)) != 0;
	}
	if (child_towards(threads, other, root) != WHOLE_NONE)
		return true;
	const struct root *a = &threads->roots[root], *b = &threads->roots[other];

	/* Of two children of one thread, one may be gone before the other comes. */
	if (a->parent == WHOLE_NONE || a->parent != b->parent || !a->beside || !b->beside)
		return true;
	return (a->beside[b->create] & THREAD_ALIVE) || (b->beside[a->create] & THREAD_ALIVE);
}
