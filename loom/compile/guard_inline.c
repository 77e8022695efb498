/* The inlined fast path of guarded builds: loom/guard/inline.c as bitcode, linked into the
 * unit. Code of an executable reaches the map of cells and the thread's memos directly,
 * code that may end up in a library by symbols that the program brings.
 */
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "loom/compile/guard_weave.h"

/* Code for libraries: independent of its position, and not because of a movable executable. */
static bool may_be_library(LLVMModuleRef module)
{
	return LLVMGetModuleFlag(module, "PIC Level", 9) && !LLVMGetModuleFlag(module, "PIE Level", 9);
}

static void reach_directly(LLVMModuleRef module, const char *name, const char *here)
{
	LLVMValueRef global = LLVMGetNamedGlobal(module, name);

	if (!global)
		return;
	LLVMSetValueName2(global, here, strlen(here));
	LLVMSetVisibility(global, LLVMHiddenVisibility);
	if (LLVMIsThreadLocal(global))
		LLVMSetThreadLocalMode(global, LLVMLocalExecTLSModel);
}

/* The map is made before the program begins: loads of its fields may leave loops. */
static void mark_invariant(LLVMValueRef function, LLVMValueRef map)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(function));
	unsigned kind = LLVMGetMDKindIDInContext(context, "invariant.load", 14);
	LLVMValueRef empty = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0));

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			if (!LLVMIsALoadInst(i))
				continue;
			LLVMValueRef from = LLVMGetOperand(i, 0);

			while (from != map && (LLVMIsAGetElementPtrInst(from) || LLVMIsAConstantExpr(from)))
				from = LLVMGetOperand(from, 0);
			if (from == map)
				LLVMSetMetadata(i, kind, empty);
		}
}

static void settle(LLVMValueRef hook)
{
	static const char *const strip[] = { "target-cpu", "target-features", "tune-cpu" };

	LLVMSetVisibility(hook, LLVMDefaultVisibility);
	LLVMSetLinkage(hook, LLVMInternalLinkage);
	/* Inlining needs the callee's processor to be no more than the caller's. */
	for (int i = 0; i < 3; i++)
		LLVMRemoveStringAttributeAtIndex(hook, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
						 strip[i], (unsigned)strlen(strip[i]));
}

struct error *guard_inline_link(LLVMModuleRef module)
{
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
		guard_bitcode, (size_t)(guard_bitcode_end - guard_bitcode), "guard hooks", 0);
	bool library = may_be_library(module);
	LLVMModuleRef hooks;
	bool failed = LLVMParseBitcodeInContext2(LLVMGetModuleContext(module), buffer, &hooks);

	LLVMDisposeMemoryBuffer(buffer);
	if (failed)
		return error_new(
			"the built-in hooks cannot be read: this unsnarl is damaged, install it again");
	LLVMSetTarget(hooks, LLVMGetTarget(module));
	LLVMSetDataLayout(hooks, LLVMGetDataLayoutStr(module));
	if (LLVMLinkModules2(module, hooks))
		return error_new("the built-in hooks do not fit this module (is it for x86-64?)");
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		size_t length;

		if (LLVMIsDeclaration(f) || strncmp(LLVMGetValueName2(f, &length), "unsnarl_hook_", 13) != 0)
			continue;
		settle(f);
		mark_invariant(f, LLVMGetNamedGlobal(module, "unsnarl_guard_map"));
	}
	if (!library) {
		reach_directly(module, "unsnarl_guard_map", "unsnarl_guard_map_here");
		reach_directly(module, "unsnarl_guard_memos", "unsnarl_guard_memos_here");
	} else {
		LLVMSetThreadLocalMode(LLVMGetNamedGlobal(module, "unsnarl_guard_memos"),
				       LLVMInitialExecTLSModel);
	}
	return NULL;
}
