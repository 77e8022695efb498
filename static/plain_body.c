/* Gives a function that is about to be hooked a second body without hooks. Hooks keep
 * values out of registers and lie in innermost loops, also when they have nothing to
 * do; a function that is entered while no hook acts runs as if there were none. Both
 * bodies stand in one function, so that variables on the stack, arguments and what
 * debuggers know of the function stay as they are. */
#include <string.h>

#include "static/whole.h"

struct copy {
	struct whole *whole;
	LLVMBuilderRef builder;
	LLVMValueRef function;
	struct map values; /* instruction or block of the first body → its copy */
	VEC(LLVMBasicBlockRef) blocks;
};

/* Blocks whose address is taken, calls that return twice and calls that must stand only once cannot be copied. */
static bool may_copy(LLVMValueRef at)
{
	static const char *const marks[] = { "returns_twice", "noduplicate" };
	LLVMOpcode opcode = LLVMGetInstructionOpcode(at);

	if (opcode == LLVMIndirectBr || opcode == LLVMCallBr)
		return false;
	if (opcode != LLVMCall && opcode != LLVMInvoke)
		return true;
	LLVMValueRef callee = whole_callee(at);

	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		unsigned kind = LLVMGetEnumAttributeKindForName(marks[i], strlen(marks[i]));
		LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

		if (LLVMGetCallSiteEnumAttribute(at, index, kind) ||
		    (callee && LLVMGetEnumAttributeAtIndex(callee, index, kind)))
			return false;
	}
	return true;
}

static bool may_copy_all(LLVMValueRef function)
{
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
	     block = LLVMGetNextBasicBlock(block))
		for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
			if (!may_copy(at))
				return false;
	return true;
}

/* A new first block, which holds what both bodies have on the stack. */
static LLVMBasicBlockRef add_entry(struct copy *copy)
{
	LLVMBasicBlockRef first = LLVMGetEntryBasicBlock(copy->function);
	LLVMBasicBlockRef entry =
		LLVMInsertBasicBlockInContext(copy->whole->context, first, "unsnarl.choose");

	LLVMPositionBuilderAtEnd(copy->builder, entry);
	for (LLVMValueRef at = LLVMGetFirstInstruction(first), next; at; at = next) {
		next = LLVMGetNextInstruction(at);
		if (!LLVMIsAAllocaInst(at) || !LLVMIsConstant(LLVMGetOperand(at, 0)))
			continue;
		LLVMInstructionRemoveFromParent(at);
		LLVMInsertIntoBuilder(copy->builder, at);
	}
	return entry;
}

static void set_copy(struct copy *copy, LLVMValueRef value, LLVMValueRef made)
{
	*map_put(&copy->values, whole_key(value), NULL) = whole_key(made);
}

/* What stands for a value in the second body: values from outside the body stand for themselves. */
static LLVMValueRef copied(const struct copy *copy, LLVMValueRef value)
{
	const uint64_t *made = map_get(&copy->values, whole_key(value));

	return made ? (LLVMValueRef)(uintptr_t)*made : value;
}

static LLVMBasicBlockRef copied_block(const struct copy *copy, LLVMBasicBlockRef block)
{
	return LLVMValueAsBasicBlock(copied(copy, LLVMBasicBlockAsValue(block)));
}

static bool is_for_debuggers(LLVMValueRef at)
{
	return LLVMIsACallInst(at) && !whole_is_call(at);
}

static void copy_block(struct copy *copy, LLVMBasicBlockRef from)
{
	LLVMPositionBuilderAtEnd(copy->builder, copied_block(copy, from));
	for (LLVMValueRef at = LLVMGetFirstInstruction(from); at; at = LLVMGetNextInstruction(at)) {
		if (is_for_debuggers(at))
			continue;
		LLVMValueRef made;

		/* The blocks that a phi comes from cannot be changed in a clone. */
		if (LLVMIsAPHINode(at)) {
			made = LLVMBuildPhi(copy->builder, LLVMTypeOf(at), "");
		} else {
			made = LLVMInstructionClone(at);
			LLVMInsertIntoBuilder(copy->builder, made);
		}
		set_copy(copy, at, made);
	}
}

static void connect(const struct copy *copy, LLVMValueRef at)
{
	LLVMValueRef made = copied(copy, at);

	if (made == at)
		return;
	if (LLVMIsAPHINode(at)) {
		for (unsigned i = 0; i < LLVMCountIncoming(at); i++) {
			LLVMValueRef value = copied(copy, LLVMGetIncomingValue(at, i));
			LLVMBasicBlockRef from = copied_block(copy, LLVMGetIncomingBlock(at, i));

			LLVMAddIncoming(made, &value, &from, 1);
		}
		return;
	}
	for (int i = 0; i < LLVMGetNumOperands(made); i++) {
		LLVMValueRef operand = LLVMGetOperand(made, (unsigned)i);

		if (operand && copied(copy, operand) != operand)
			LLVMSetOperand(made, (unsigned)i, copied(copy, operand));
	}
}

/* Every block of the first body once more, behind all others. */
static void copy_blocks(struct copy *copy, LLVMBasicBlockRef first)
{
	for (LLVMBasicBlockRef block = first; block; block = LLVMGetNextBasicBlock(block))
		*VEC_PUSH(&copy->blocks) = block;
	for (size_t i = 0; i < copy->blocks.n; i++)
		set_copy(copy, LLVMBasicBlockAsValue(copy->blocks.items[i]),
			 LLVMBasicBlockAsValue(LLVMAppendBasicBlockInContext(
				 copy->whole->context, copy->function, "unsnarl.plain")));
	for (size_t i = 0; i < copy->blocks.n; i++)
		copy_block(copy, copy->blocks.items[i]);
	for (size_t i = 0; i < copy->blocks.n; i++)
		for (LLVMValueRef at = LLVMGetFirstInstruction(copy->blocks.items[i]); at;
		     at = LLVMGetNextInstruction(at))
			connect(copy, at);
}

bool whole_add_plain_body(struct whole *whole, LLVMValueRef function, LLVMValueRef armed)
{
	struct copy copy = { .whole = whole, .function = function };
	LLVMTypeRef byte = LLVMInt8TypeInContext(whole->context);

	if (!may_copy_all(function))
		return false;
	copy.builder = LLVMCreateBuilderInContext(whole->context);
	LLVMBasicBlockRef entry = add_entry(&copy), first = LLVMGetNextBasicBlock(entry);

	copy_blocks(&copy, first);
	LLVMPositionBuilderAtEnd(copy.builder, entry);
	LLVMValueRef set = LLVMBuildLoad2(copy.builder, byte, armed, "");

	LLVMBuildCondBr(copy.builder,
			LLVMBuildICmp(copy.builder, LLVMIntNE, set, LLVMConstInt(byte, 0, 0), ""), first,
			copied_block(&copy, first));
	LLVMDisposeBuilder(copy.builder);
	map_free(&copy.values);
	VEC_FREE(&copy.blocks);
	return true;
}
