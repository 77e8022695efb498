/* Loops that may wait for another thread: those that are left on nothing but what they load or are told
 * by a call. Under control their thread would else keep the token for ever when all that it looks at is
 * still its own. Each turn of such a loop spends some of the thread's patience (hooks.c). */
#include "loom/compile/weave.h"

#include <stddef.h>
#include <stdlib.h>

#define VALUES_MOST 64u /* that a condition may hang on before it is taken for one that waits */

struct condition {
	const struct loops *loops;
	int32_t loop;
	LLVMValueRef seen[VALUES_MOST];
	uint32_t n;
};

static bool is_inside(const struct condition *condition, LLVMValueRef value)
{
	if (!LLVMIsAInstruction(value))
		return false;
	LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
	const uint64_t *number = map_get(&condition->loops->numbers, (uint64_t)(uintptr_t)block);
	return number && loops_contain(condition->loops, condition->loop, (uint32_t)*number);
}

/* Puts the value on the list of what the condition hangs on; false when it is too long. */
static bool note_value(struct condition *condition, LLVMValueRef value)
{
	for (uint32_t i = 0; i < condition->n; i++)
		if (condition->seen[i] == value)
			return true;
	if (condition->n == VALUES_MOST)
		return false;
	condition->seen[condition->n++] = value;
	return true;
}

static bool asks_others(LLVMValueRef value)
{
	return LLVMIsALoadInst(value) || LLVMIsACallInst(value) || LLVMIsAInvokeInst(value) ||
	       LLVMIsAAtomicRMWInst(value) || LLVMIsAAtomicCmpXchgInst(value);
}

/* May the value change by what other threads do? */
static bool hangs_on_memory(const struct loops *loops, int32_t loop, LLVMValueRef value)
{
	struct condition condition = { .loops = loops, .loop = loop };
	bool whole = note_value(&condition, value);
	for (uint32_t i = 0; i < condition.n && whole; i++) {
		LLVMValueRef one = condition.seen[i];
		if (!is_inside(&condition, one))
			continue;
		if (asks_others(one))
			return true;
		for (int k = 0; k < LLVMGetNumOperands(one) && whole; k++)
			whole = LLVMIsABasicBlock(LLVMGetOperand(one, (unsigned)k)) ||
				note_value(&condition, LLVMGetOperand(one, (unsigned)k));
	}
	return !whole;
}

static bool leaves(const struct loops *loops, int32_t loop, LLVMValueRef terminator)
{
	for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
		const uint64_t *to =
			map_get(&loops->numbers, (uint64_t)(uintptr_t)LLVMGetSuccessor(terminator, s));
		if (!to || !loops_contain(loops, loop, (uint32_t)*to))
			return true;
	}
	return false;
}

/* One way out that depends on nothing but its own counting is enough for a loop to end by itself. */
static bool may_wait(const struct loops *loops, int32_t loop)
{
	for (uint32_t b = 0; b < loops->nblocks; b++) {
		LLVMValueRef terminator = LLVMGetBasicBlockTerminator(loops->blocks[b]);
		bool chooses = (LLVMIsABranchInst(terminator) && LLVMIsConditional(terminator)) ||
			       LLVMIsASwitchInst(terminator);
		if (chooses && loops_contain(loops, loop, b) && leaves(loops, loop, terminator) &&
		    !hangs_on_memory(loops, loop, LLVMGetOperand(terminator, 0)))
			return false;
	}
	return true;
}

bool weave_waits_find(struct loops *loops)
{
	bool any = false;
	for (uint32_t l = 0; l < loops->n; l++)
		any |= loops->items[l].waits = may_wait(loops, (int32_t)l);
	return any;
}

void weave_waits(struct weave *weave, const struct loops *loops)
{
	LLVMValueRef hook = LLVMGetNamedFunction(weave->module, "unsnarl_hook_wait");
	for (uint32_t l = 0; l < loops->n; l++) {
		if (!loops->items[l].waits)
			continue;
		weave_before(weave, weave_first_place(loops->blocks[loops->items[l].header]));
		LLVMBuildCall2(weave->builder, weave->wait_type, hook, &weave->self, 1, "");
	}
}
