/* Inlines functions of the system's headers (the C++ library's above all) into the
 * program's own before hooks are put in. An access in std::map::find is of interest
 * as part of the program's line that called it, and debug information tells that
 * line for what was inlined. Large and recursive functions stay as they are. */
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "loom/compile/transform.h"

#define MOST_INSTRUCTIONS 400u /* of a function that is inlined */
#define MOST_GROWTH 60000u     /* instructions that a unit may gain */

static bool has_attribute(LLVMValueRef function, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
}

static void remove_attribute(LLVMValueRef function, const char *name)
{
	LLVMRemoveEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				       LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

/* What stands here is what runs, whatever else is linked. */
static bool is_final(LLVMValueRef function)
{
	switch (LLVMGetLinkage(function)) {
	case LLVMLinkOnceODRLinkage:
	case LLVMWeakODRLinkage:
	case LLVMInternalLinkage:
	case LLVMPrivateLinkage:
		return true;
	default:
		return false;
	}
}

static unsigned instructions_of(LLVMValueRef function)
{
	unsigned n = 0;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			n++;
	return n;
}

static unsigned calls_of(LLVMValueRef function)
{
	unsigned n = 0;
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		n += (LLVMIsACallInst(user) || LLVMIsAInvokeInst(user)) &&
		     LLVMGetCalledValue(user) == function;
	}
	return n;
}

/* Without optimisation every function is marked not to be inlined; that is not meant for this one. */
static bool may_inline(LLVMValueRef function)
{
	if (LLVMIsDeclaration(function) || !is_final(function) || !LLVMGetSubprogram(function) ||
	    !source_in_system_file(LLVMGetSubprogram(function)))
		return false;
	return !has_attribute(function, "noinline") || has_attribute(function, "optnone");
}

void library_inline(const struct source *source, LLVMModuleRef module)
{
	LLVMAttributeRef always = LLVMCreateEnumAttribute(
		source->context, LLVMGetEnumAttributeKindForName("alwaysinline", 12), 0);
	unsigned growth = 0, marked = 0;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		if (!may_inline(f))
			continue;
		unsigned size = instructions_of(f), more = size * calls_of(f);
		if (!more || size > MOST_INSTRUCTIONS || growth + more > MOST_GROWTH)
			continue;
		growth += more;
		marked++;
		remove_attribute(f, "optnone");
		remove_attribute(f, "noinline");
		LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, always);
	}
	if (!marked)
		return;
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	/* Not to inline is no failure. */
	LLVMConsumeError(LLVMRunPasses(module, "always-inline,globaldce", NULL, options));
	LLVMDisposePassBuilderOptions(options);
}
