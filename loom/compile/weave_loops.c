/* Loop steps: each header of a loop that may run hooks says which entry and
 * which iteration begins, each block behind an exit says what goes on there, so
 * that an access can be placed by its order alone (LOCON, section 5: entry and
 * iteration of the innermost loop, over calls too). */
#include "loom/compile/weave.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "loom/runtime/observe/layout.h"

/* What a loop's steps are made of, as values of the function. */
struct steps {
	LLVMValueRef where;     /* site | entry << 32, a phi in the header */
	LLVMValueRef iteration; /* a phi in the header, from 1 */
};

static LLVMValueRef at_end(struct weave *weave, LLVMBasicBlockRef block)
{
	LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
	weave_before(weave, terminator);
	return terminator;
}

LLVMValueRef weave_first_place(LLVMBasicBlockRef block)
{
	LLVMValueRef i = LLVMGetFirstInstruction(block);
	while (LLVMIsAPHINode(i) || LLVMIsALandingPadInst(i) || LLVMIsAAllocaInst(i))
		i = LLVMGetNextInstruction(i);
	return i;
}

static void push(struct weave *weave, LLVMValueRef where, LLVMValueRef iteration)
{
	LLVMValueRef arguments[] = { weave->self, where, iteration };
	LLVMValueRef hook = LLVMGetNamedFunction(weave->module, "unsnarl_hook_loop");
	LLVMBuildCall2(weave->builder, weave->loop_type, hook, arguments, 3, "");
}

/* A new entry into the loop, counted in the block it is entered from. */
static LLVMValueRef entry_value(struct weave *weave, LLVMBasicBlockRef from, LLVMValueRef site)
{
	at_end(weave, from);
	LLVMValueRef offset = LLVMConstInt(weave->i64, offsetof(struct thread, loop_entries), 0);
	LLVMValueRef place = LLVMBuildInBoundsGEP2(weave->builder, weave->i8, weave->self, &offset, 1, "");
	LLVMValueRef old = LLVMBuildLoad2(weave->builder, weave->i32, place, "");
	LLVMValueRef entry = LLVMBuildAdd(weave->builder, old, LLVMConstInt(weave->i32, 1, 0), "");
	LLVMBuildStore(weave->builder, entry, place);
	LLVMValueRef wide = LLVMBuildZExt(weave->builder, entry, weave->i64, "");
	wide = LLVMBuildShl(weave->builder, wide, LLVMConstInt(weave->i64, 32, 0), "");
	return LLVMBuildOr(weave->builder, wide, site, "");
}

/* The loop's site number in the process: first site of the unit plus its index. */
static LLVMValueRef site_value(struct weave *weave, uint32_t index)
{
	LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(weave->function));
	while (first != weave->word)
		first = LLVMGetNextInstruction(first);
	weave_before(weave, LLVMGetNextInstruction(first));
	LLVMValueRef site = LLVMBuildLShr(weave->builder, weave->word, LLVMConstInt(weave->i64, 32, 0), "");
	site = LLVMBuildAdd(weave->builder, site, LLVMConstInt(weave->i64, index, 0), "");
	return LLVMBuildAnd(weave->builder, site, LLVMConstInt(weave->i64, WORD_SITE_MASK, 0), "");
}

static void step_header(struct weave *weave, const struct loops *loops, int32_t number, struct steps *steps)
{
	LLVMBasicBlockRef header = loops->blocks[loops->items[number].header];
	LLVMValueRef place = weave_first_place(header);
	uint32_t index = weave_site(weave, place, SITE_LOOP, 0, NULL);
	LLVMValueRef site = site_value(weave, index), one = LLVMConstInt(weave->i64, 1, 0);

	LLVMPositionBuilderBeforeInstrAndDbgRecords(weave->builder, LLVMGetFirstInstruction(header));
	LLVMSetCurrentDebugLocation2(weave->builder, NULL);
	steps->where = LLVMBuildPhi(weave->builder, weave->i64, "unsnarl.where");
	steps->iteration = LLVMBuildPhi(weave->builder, weave->i64, "unsnarl.iteration");
	weave_before(weave, weave_first_place(header));
	push(weave, steps->where, steps->iteration);
	LLVMValueRef next = LLVMBuildAdd(weave->builder, steps->iteration, one, "");

	for (uint32_t b = 0; b < loops->nblocks; b++) {
		LLVMBasicBlockRef from = loops->blocks[b];
		LLVMValueRef terminator = LLVMGetBasicBlockTerminator(from), where = NULL;
		for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
			if (LLVMGetSuccessor(terminator, s) != header)
				continue;
			bool again = loops_contain(loops, number, b);
			if (!again && !where)
				where = entry_value(weave, from, site);
			LLVMValueRef where_in = again ? steps->where : where,
				     iteration_in = again ? next : one;
			LLVMAddIncoming(steps->where, &where_in, &from, 1);
			LLVMAddIncoming(steps->iteration, &iteration_in, &from, 1);
		}
	}
}

/* A block outside of `number` that is entered from inside: the enclosing loop goes on, or
 * what the caller was in. */
static void step_exits(struct weave *weave, const struct loops *loops, int32_t number,
		       const struct steps *steps, LLVMValueRef outer_where, LLVMValueRef outer_iteration)
{
	bool *done = memory_alloc(loops->nblocks);
	for (uint32_t b = 0; b < loops->nblocks; b++) {
		if (!loops_contain(loops, number, b))
			continue;
		LLVMValueRef terminator = LLVMGetBasicBlockTerminator(loops->blocks[b]);
		for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
			LLVMBasicBlockRef target = LLVMGetSuccessor(terminator, s);
			const uint64_t *to = map_get(&loops->numbers, (uint64_t)(uintptr_t)target);
			if (!to || loops_contain(loops, number, (uint32_t)*to) || done[*to])
				continue;
			done[*to] = true;
			int32_t inner = loops->inner[*to];
			while (inner >= 0 && !loops->items[inner].hooked)
				inner = loops->items[inner].parent;
			if (inner >= 0 && loops->items[inner].header == *to)
				continue; /* the header's own step says it */
			LLVMValueRef place = weave_first_place(target);
			if (LLVMIsACatchPadInst(place) || LLVMIsACleanupPadInst(place) ||
			    LLVMIsACatchSwitchInst(place))
				continue;
			weave_before(weave, place);
			push(weave, inner >= 0 ? steps[inner].where : outer_where,
			     inner >= 0 ? steps[inner].iteration : outer_iteration);
		}
	}
	free(done);
}

static bool runs_hooks(LLVMValueRef instruction)
{
	if (!LLVMIsACallInst(instruction) && !LLVMIsAInvokeInst(instruction))
		return false;
	LLVMValueRef callee = LLVMGetCalledValue(instruction);
	size_t length;
	/* The hooks themselves are calls too: they mark the loops with accesses. */
	return !LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee) ||
	       strncmp(LLVMGetValueName2(callee, &length), "llvm.mem", 8) == 0;
}

/* Loops whose body may run hooks, in this function or in one that it calls. */
static bool mark_hooked(struct loops *loops)
{
	bool any = false;
	for (uint32_t b = 0; b < loops->nblocks; b++) {
		bool hooked = false;
		for (LLVMValueRef i = LLVMGetFirstInstruction(loops->blocks[b]); i && !hooked;
		     i = LLVMGetNextInstruction(i))
			hooked = runs_hooks(i);
		for (int32_t l = hooked ? loops->inner[b] : -1; l >= 0; l = loops->items[l].parent)
			any = loops->items[l].hooked = true;
	}
	return any;
}

void weave_loops(struct weave *weave, struct loops *loops)
{
	if (!mark_hooked(loops))
		return;
	struct steps *steps = memory_alloc((loops->n + 1) * sizeof *steps);
	LLVMValueRef word = weave->word;
	weave_before(weave, LLVMGetNextInstruction(word));
	LLVMValueRef where =
		weave_field(weave, weave->i64, offsetof(struct thread, loop_where), "unsnarl.outer");
	LLVMValueRef iteration = weave_field(weave, weave->i64, offsetof(struct thread, loop_iteration), "");
	for (uint32_t l = 0; l < loops->n; l++)
		if (loops->items[l].hooked)
			step_header(weave, loops, (int32_t)l, &steps[l]);
	for (uint32_t l = 0; l < loops->n; l++)
		if (loops->items[l].hooked)
			step_exits(weave, loops, (int32_t)l, steps, where, iteration);
	free(steps);
}
