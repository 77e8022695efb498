/* From the place where a thread is created forward through its creator: over calls and
 * returns, to see at which instructions the thread may be there. Behind a join that
 * ends it the way stops. Returns go back to every caller. */
#include "static/threads.h"

#include <stdlib.h>

/* A function is walked from its entry for the sake of those who call it, and from a
 * place inside when the thread was created there or below. */
enum mode { FROM_INSIDE = 1, FROM_ENTRY = 2 };

struct flow {
	const struct threads *threads;
	const struct root *root;
	const struct joins *joins; /* NULL: nothing ends the thread */
	uint8_t *seen;             /* modes, by instruction */
	bool *returns;             /* functions that come back when called */
	struct todo {
		uint32_t instruction;
		enum mode mode;
	} *todo;
	size_t n, room;
	struct waiting {
		uint32_t function, call;
		enum mode mode;
	} *waiting;
	size_t nwaiting, waiting_room;
};

static void go(struct flow *flow, uint32_t instruction, enum mode mode)
{
	if (flow->seen[instruction] & mode)
		return;
	flow->todo = memory_grow(flow->todo, flow->n, &flow->room, sizeof *flow->todo);
	flow->todo[flow->n++] = (struct todo){ instruction, mode };
}

static void go_to_block(struct flow *flow, LLVMBasicBlockRef from, LLVMBasicBlockRef to, enum mode mode)
{
	const struct whole *whole = flow->threads->points->whole;

	if (flow->joins && map_get(&flow->joins->edges, joins_edge(from, to)))
		return;
	go(flow, whole_instruction(whole, LLVMGetFirstInstruction(to)), mode);
}

static void go_behind(struct flow *flow, uint32_t instruction, enum mode mode)
{
	const struct whole *whole = flow->threads->points->whole;
	LLVMValueRef at = whole->instructions.items[instruction];

	if (!LLVMIsATerminatorInst(at)) {
		go(flow, instruction + 1, mode);
		return;
	}
	for (unsigned i = 0; i < LLVMGetNumSuccessors(at); i++)
		go_to_block(flow, LLVMGetInstructionParent(at), LLVMGetSuccessor(at, i), mode);
}

static void return_from(struct flow *flow, uint32_t function, enum mode mode)
{
	const struct threads *threads = flow->threads;

	if (mode == FROM_INSIDE) {
		for (size_t i = 0; i < threads->callers[function].n; i++) {
			const struct call *call =
				&threads->points->calls.items[threads->callers[function].items[i]];

			if (threads->roots[flow->root->parent].runs[call->caller] && !threads_creates(call))
				go_behind(flow, call->instruction, FROM_INSIDE);
		}
		return;
	}
	if (flow->returns[function])
		return;
	flow->returns[function] = true;
	for (size_t i = 0; i < flow->nwaiting; i++)
		if (flow->waiting[i].function == function)
			go_behind(flow, flow->waiting[i].call, flow->waiting[i].mode);
}

static bool ends(const struct call *call)
{
	for (size_t i = 0; i < call->library.n; i++) {
		enum library_role role = call->library.items[i]->role;

		if (role == LIBRARY_END || role == LIBRARY_END_THREAD)
			return true;
	}
	return false;
}

static void enter_callees(struct flow *flow, const struct call *call, enum mode mode)
{
	for (size_t i = 0; i < call->callees.n; i++) {
		uint32_t callee = call->callees.items[i];

		go(flow, flow->threads->points->whole->first[callee], FROM_ENTRY);
		if (flow->returns[callee]) {
			go_behind(flow, call->instruction, mode);
			continue;
		}
		flow->waiting = memory_grow(flow->waiting, flow->nwaiting, &flow->waiting_room,
					    sizeof *flow->waiting);
		flow->waiting[flow->nwaiting++] = (struct waiting){ callee, call->instruction, mode };
	}
	/* What has no body comes back. */
	if (!call->callees.n || call->library.n)
		go_behind(flow, call->instruction, mode);
}

static bool is_join(const struct flow *flow, uint32_t instruction)
{
	return flow->joins && map_get(&flow->joins->calls, instruction);
}

static void visit(struct flow *flow, struct todo todo)
{
	const struct points *points = flow->threads->points;
	LLVMValueRef at = points->whole->instructions.items[todo.instruction];
	const struct call *call = points_call(points, todo.instruction);

	if (flow->seen[todo.instruction] & todo.mode)
		return;
	flow->seen[todo.instruction] |= todo.mode;
	if (LLVMIsAReturnInst(at)) {
		return_from(flow, whole_function_of(points->whole, todo.instruction), todo.mode);
		return;
	}
	if (is_join(flow, todo.instruction) || (call && ends(call)))
		return;
	if (call && !threads_creates(call))
		enter_callees(flow, call, todo.mode);
	else
		go_behind(flow, todo.instruction, todo.mode);
}

static void walk(struct flow *flow)
{
	size_t functions = flow->threads->points->whole->functions.n;

	flow->returns = memory_alloc(functions + 1);
	go_behind(flow, flow->root->create, FROM_INSIDE);
	while (flow->n)
		visit(flow, flow->todo[--flow->n]);
	free(flow->returns);
	free(flow->todo);
	free(flow->waiting);
}

void flow_beside(const struct threads *threads, struct root *root, const struct joins *joins)
{
	size_t n = threads->points->whole->instructions.n;
	struct flow started = { .threads = threads, .root = root, .seen = memory_alloc(n + 1) };
	struct flow alive = { .threads = threads, .root = root, .joins = joins, .seen = memory_alloc(n + 1) };

	walk(&started);
	walk(&alive);
	root->beside = memory_alloc(n + 1);
	for (size_t i = 0; i < n; i++)
		root->beside[i] = (uint8_t)((started.seen[i] ? THREAD_STARTED : 0) |
					    (alive.seen[i] ? THREAD_ALIVE : 0));
	free(started.seen);
	free(alive.seen);
}
