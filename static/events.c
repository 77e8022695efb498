/* Lists a function's events and answers how two of them hang together. */
#include "static/events.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH 3 /* of calls that are looked into */

/* ---- collecting ---- */

static void add(struct events *events, uint32_t position, uint32_t access, const struct lockset *held,
		bool direct)
{
	if (events->items.n < EVENTS_MOST)
		*VEC_PUSH(&events->items) = (struct event){
			.position = position, .access = access, .held = *held, .direct = direct
		};
}

static void add_instruction(struct events *events, uint32_t instruction, uint32_t position,
			    const struct lockset *held, bool direct, uint32_t *left)
{
	const struct accesses *accesses = &events->scanner->accesses;
	const uint64_t *first = map_get(&accesses->numbers, instruction);

	for (uint64_t i = first ? *first - 1 : accesses->items.n;
	     i < accesses->items.n && accesses->items.items[i].instruction == instruction && *left; i++) {
		add(events, position, (uint32_t)i, held, direct);
		if (!direct)
			--*left;
	}
}

static void add_callee(struct events *events, uint32_t function, uint32_t position,
		       const struct lockset *held, uint32_t *left, int depth)
{
	const struct whole *whole = &events->scanner->whole;

	for (uint32_t i = whole->first[function]; *left && i < whole->first[function + 1]; i++) {
		const struct call *call = points_call(&events->scanner->points, i);

		add_instruction(events, i, position, held, false, left);
		for (size_t c = 0; call && depth > 1 && !threads_creates(call) && c < call->callees.n; c++)
			if (call->callees.items[c] != function && call->callees.items[c] != events->function)
				add_callee(events, call->callees.items[c], position, held, left, depth - 1);
	}
}

static void collect(void *context, uint32_t instruction, const struct lockset *held)
{
	struct events *events = context;
	const struct call *call = points_call(&events->scanner->points, instruction);
	uint32_t one = 1, left = EVENTS_OF_CALL;

	add_instruction(events, instruction, instruction, held, true, &one);
	for (size_t c = 0; call && !threads_creates(call) && c < call->callees.n; c++)
		if (call->callees.items[c] != events->function)
			add_callee(events, call->callees.items[c], instruction, held, &left, DEPTH);
}

void events_start(struct events *events, struct scanner *scanner, uint32_t function)
{
	*events = (struct events){ .scanner = scanner, .function = function };
	locks_walk(&scanner->locks, function, collect, events);
	const struct loops *loops = &scanner->threads.loops[function];

	events->reach = memory_alloc((loops->nblocks + 1) * sizeof *events->reach);
	if (events->items.n > 1)
		control_find(loops, true, &events->control);
}

static void free_maps(struct map *maps)
{
	for (size_t i = 0; i < maps->room; i++)
		if (maps->slots[i].used) {
			struct map *inner = (struct map *)(uintptr_t)maps->slots[i].value;

			map_free(inner);
			free(inner);
		}
	map_free(maps);
}

void events_free(struct events *events)
{
	const struct loops *loops = &events->scanner->threads.loops[events->function];

	for (uint32_t b = 0; b < loops->nblocks; b++)
		free(events->reach[b]);
	free(events->reach);
	free_maps(&events->depends);
	map_free(&events->at_object);
	control_free(&events->control);
	VEC_FREE(&events->items);
}

/* ---- order ---- */

static uint32_t block_of(const struct events *events, uint32_t instruction)
{
	const struct loops *loops = &events->scanner->threads.loops[events->function];
	LLVMValueRef at = events->scanner->whole.instructions.items[instruction];
	const uint64_t *number = map_get(&loops->numbers, whole_key(LLVMGetInstructionParent(at)));

	return number ? (uint32_t)*number : WHOLE_NONE;
}

static bool *reached_from(struct events *events, uint32_t block)
{
	const struct loops *loops = &events->scanner->threads.loops[events->function];

	if (events->reach[block])
		return events->reach[block];
	bool *reached = events->reach[block] = memory_alloc(loops->nblocks + 1);
	uint32_t *todo = memory_alloc((loops->nblocks + 1) * sizeof *todo), n = 0;

	todo[n++] = block;
	while (n) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(loops->blocks[todo[--n]]);

		for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
			const uint64_t *to = map_get(&loops->numbers, whole_key(LLVMGetSuccessor(end, s)));

			if (!reached[*to]) {
				reached[*to] = true;
				todo[n++] = (uint32_t)*to;
			}
		}
	}
	free(todo);
	return reached;
}

bool events_follow(struct events *events, const struct event *first, const struct event *second, bool *again)
{
	uint32_t from = block_of(events, first->position), to = block_of(events, second->position);

	if (from == WHOLE_NONE || to == WHOLE_NONE)
		return false;
	/* Blocks are numbered so that only a loop leads back. */
	*again = from > to || (from == to && second->position <= first->position);
	if (from == to && !*again)
		return true;
	return reached_from(events, from)[to];
}

bool events_one_section(const struct event *first, const struct event *second)
{
	for (uint32_t i = 0; i < first->held.n; i++)
		for (uint32_t j = 0; j < second->held.n; j++)
			if (first->held.items[i].lock == second->held.items[j].lock &&
			    first->held.items[i].section == second->held.items[j].section &&
			    !first->held.items[i].shared)
				return true;
	return false;
}

/* ---- sections that are left and entered again ---- */

static bool waits(const struct events *events, uint32_t instruction)
{
	const struct call *call = points_call(&events->scanner->points, instruction);

	for (size_t i = 0; call && i < call->library.n; i++)
		if (call->library.items[i]->role == LIBRARY_WAIT ||
		    call->library.items[i]->role == LIBRARY_WAIT_CXX)
			return true;
	return false;
}

static bool gives_lock(const struct events *events, uint32_t instruction)
{
	const struct call *call = points_call(&events->scanner->points, instruction);

	if (waits(events, instruction))
		return true;
	for (size_t i = 0; call && i < call->library.n; i++)
		if (call->library.items[i]->role == LIBRARY_UNLOCK)
			return true;
	for (size_t i = 0; call && !threads_creates(call) && i < call->callees.n; i++)
		if (events->scanner->locks.concerned[call->callees.items[i]])
			return true;
	return false;
}

/* Positions at which the statement is done. */
static void positions_of(const struct events *events, uint32_t statement, struct map *out)
{
	for (size_t i = 0; i < events->items.n; i++)
		if (events->scanner->statement_of[events->items.items[i].access] == statement)
			map_put(out, events->items.items[i].position, NULL);
}

/* What a way has seen: nothing; the lock was given back; and then it waited at a condition, because of what it saw
 * before it gave the lock back: that may be for ever. */
enum { WHOLE_SECTION = 1, BROKEN_SECTION = 2, LATE_WAIT = 4 };

/* From an instruction to the end of its block; `state` is changed on the way. False: the way ends here. */
static bool walk_block(const struct events *events, uint32_t from, uint32_t second, const struct map *again,
		       unsigned *state, bool *arrived)
{
	LLVMValueRef at = events->scanner->whole.instructions.items[from];

	for (uint32_t number = from; at; at = LLVMGetNextInstruction(at), number++) {
		if (*state != WHOLE_SECTION && map_get(again, number)) {
			*arrived = *state == LATE_WAIT;
			return false;
		}
		if (number == second) {
			*arrived = *state != WHOLE_SECTION;
			return false;
		}
		if (*state == BROKEN_SECTION && waits(events, number))
			*state = LATE_WAIT;
		else if (*state == WHOLE_SECTION && gives_lock(events, number))
			*state = BROKEN_SECTION;
	}
	return true;
}

/* Blocks that are still to be walked, with the state in the lowest three bits. */
struct ways {
	const struct loops *loops;
	uint8_t *seen; /* by block, bits of states */
	uint64_t *todo;
	uint32_t n;
};

static void go_on(struct ways *ways, LLVMBasicBlockRef block, unsigned state)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
		const uint64_t *to = map_get(&ways->loops->numbers, whole_key(LLVMGetSuccessor(end, s)));

		if (!to || ways->seen[*to] & state)
			continue;
		ways->seen[*to] |= (uint8_t)state;
		ways->todo[ways->n++] = *to << 3 | state;
	}
}

bool events_split(struct events *events, const struct event *first, const struct event *second)
{
	const struct whole *whole = &events->scanner->whole;
	const struct loops *loops = &events->scanner->threads.loops[events->function];
	_cleanup_free_ uint8_t *seen = memory_alloc(loops->nblocks + 1);
	_cleanup_free_ uint64_t *todo = memory_alloc((3 * loops->nblocks + 3) * sizeof *todo);
	struct ways ways = { loops, seen, todo, 0 };
	LLVMValueRef at = whole->instructions.items[first->position];
	unsigned state = WHOLE_SECTION;
	struct map again = { 0 };
	bool arrived = false;

	positions_of(events, events->scanner->statement_of[first->access], &again);
	if (!LLVMGetNextInstruction(at) ||
	    walk_block(events, first->position + 1, second->position, &again, &state, &arrived))
		go_on(&ways, LLVMGetInstructionParent(at), state);
	while (ways.n && !arrived) {
		LLVMBasicBlockRef block = loops->blocks[todo[--ways.n] >> 3];

		state = todo[ways.n] & 7;
		if (walk_block(events, whole_instruction(whole, LLVMGetFirstInstruction(block)),
			       second->position, &again, &state, &arrived))
			go_on(&ways, block, state);
	}
	map_free(&again);
	return arrived;
}

/* ---- dependence ---- */

#define USES_MOST 400
enum { AS_VALUE = 1, AS_CONDITION = 2 };

/* All instructions whose operands come from `value`; for branches, their blocks. */
static void follow_uses(struct map *found, LLVMValueRef value)
{
	for (LLVMUseRef use = LLVMGetFirstUse(value); use && found->n < USES_MOST;
	     use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		bool fresh;

		if (!LLVMIsAInstruction(user))
			continue;
		map_put(found, whole_key(user), &fresh);
		if (fresh && !LLVMIsATerminatorInst(user))
			follow_uses(found, user);
	}
}

static struct map *dependents(struct events *events, uint32_t position)
{
	bool fresh;
	uint64_t *place = map_put(&events->depends, position, &fresh);

	if (fresh) {
		struct map *found = memory_alloc(sizeof *found);

		*place = whole_key(found);
		follow_uses(found, events->scanner->whole.instructions.items[position]);
		return found;
	}
	return (struct map *)(uintptr_t)*place;
}

/* Is the block decided by a branch on something found, directly or by a branch that is decided so? */
static bool decided(struct events *events, uint32_t block, const struct map *found, int depth)
{
	for (size_t i = 0; i < events->control.deciders[block].n; i++) {
		uint32_t decider = events->control.deciders[block].items[i];
		LLVMValueRef end = LLVMGetBasicBlockTerminator(events->control.loops->blocks[decider]);

		if (map_get(found, whole_key(end)))
			return true;
		if (depth > 1 && decider != block && decided(events, decider, found, depth - 1))
			return true;
	}
	return false;
}

enum dependence events_depend(struct events *events, const struct event *first, const struct event *second)
{
	const struct map *found = dependents(events, first->position);
	LLVMValueRef at = events->scanner->whole.instructions.items[second->position];
	uint32_t block = block_of(events, second->position);

	if (map_get(found, whole_key(at)))
		return BY_VALUE;
	return block != WHOLE_NONE && decided(events, block, found, 4) ? BY_CONTROL : INDEPENDENT;
}
