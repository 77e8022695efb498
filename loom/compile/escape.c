/* Which accesses provably stay private to one thread: stack variables whose
 * address goes nowhere, and data that is never written. Conservative: what is
 * not understood has escaped. */
#include "loom/compile/transform.h"

#include <string.h>

#define MOST_USES 400 /* beyond that a variable counts as escaped */

struct walk {
	LLVMValueRef seen[MOST_USES];
	unsigned n;
};

static bool pointer_escapes(LLVMValueRef pointer, struct walk *walk);

static bool is_intrinsic(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee) != 0;
}

static bool call_keeps(LLVMValueRef call, LLVMValueRef pointer)
{
	if (is_intrinsic(call))
		return false; /* memory intrinsics, lifetimes, debug records */
	static unsigned nocapture;
	if (!nocapture)
		nocapture = LLVMGetEnumAttributeKindForName("nocapture", 9);
	LLVMValueRef callee = LLVMGetCalledValue(call);
	unsigned n = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < n; i++) {
		if (LLVMGetOperand(call, i) != pointer)
			continue;
		bool kept = !LLVMGetCallSiteEnumAttribute(call, i + 1, nocapture);
		if (kept && LLVMIsAFunction(callee) && i < LLVMCountParams(callee))
			kept = !LLVMGetEnumAttributeAtIndex(callee, i + 1, nocapture);
		if (kept)
			return true;
	}
	return callee == pointer;
}

static bool use_escapes(LLVMValueRef user, LLVMValueRef pointer, struct walk *walk)
{
	switch (LLVMGetInstructionOpcode(user)) {
	case LLVMLoad:
	case LLVMICmp:
		return false;
	case LLVMStore:
		return LLVMGetOperand(user, 0) == pointer;
	case LLVMAtomicRMW:
		return LLVMGetOperand(user, 1) == pointer;
	case LLVMAtomicCmpXchg:
		return LLVMGetOperand(user, 1) == pointer || LLVMGetOperand(user, 2) == pointer;
	case LLVMGetElementPtr:
	case LLVMBitCast:
	case LLVMPHI:
	case LLVMSelect:
		return pointer_escapes(user, walk);
	case LLVMCall:
	case LLVMInvoke:
		return call_keeps(user, pointer);
	default:
		return true;
	}
}

static bool pointer_escapes(LLVMValueRef pointer, struct walk *walk)
{
	for (unsigned i = 0; i < walk->n; i++)
		if (walk->seen[i] == pointer)
			return false;
	if (walk->n == MOST_USES)
		return true;
	walk->seen[walk->n++] = pointer;
	unsigned uses = 0;
	for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (++uses > MOST_USES || !LLVMIsAInstruction(user) || use_escapes(user, pointer, walk))
			return true;
	}
	return false;
}

bool escape_alloca(LLVMValueRef variable)
{
	struct walk walk = { .n = 0 };
	return pointer_escapes(variable, &walk);
}

/* What a pointer is derived from, through constant and computed offsets. */
static LLVMValueRef base_of(LLVMValueRef pointer)
{
	for (;;) {
		LLVMOpcode opcode = LLVMIsAInstruction(pointer)    ? LLVMGetInstructionOpcode(pointer)
				    : LLVMIsAConstantExpr(pointer) ? LLVMGetConstOpcode(pointer)
								   : (LLVMOpcode)0;
		if (opcode != LLVMGetElementPtr && opcode != LLVMBitCast)
			return pointer;
		pointer = LLVMGetOperand(pointer, 0);
	}
}

/* What --coverage and profiling count in: shared by all threads, and none of the program's business. */
static bool is_counter(LLVMValueRef global)
{
	size_t length;
	const char *name = LLVMGetValueName2(global, &length);
	return strncmp(name, "__llvm_gcov", 11) == 0 || strncmp(name, "__profc_", 8) == 0;
}

bool escape_is_private(LLVMValueRef pointer)
{
	LLVMValueRef base = base_of(pointer);
	if (LLVMIsAGlobalVariable(base))
		return LLVMIsGlobalConstant(base) || is_counter(base);
	return LLVMIsAAllocaInst(base) && !escape_alloca(base);
}
