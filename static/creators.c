/* Puts functions that create a thread for their caller, with a function that the caller
 * gives them, into their callers: each call is then a place of creation of its own, with
 * its own function, argument and handle. */
#include <string.h>

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "static/library.h"
#include "static/whole.h"

#define ROUNDS 4 /* wrappers in wrappers */

static bool is_parameter(LLVMValueRef value, LLVMValueRef function)
{
	return LLVMIsAArgument(value) && LLVMGetParamParent(value) == function;
}

static bool creates_for_caller(LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef at = LLVMGetFirstInstruction(b); at; at = LLVMGetNextInstruction(at)) {
			LLVMValueRef callee = whole_is_call(at) ? whole_callee(at) : NULL;
			const struct library_function *known =
				callee ? library_find(whole_name(callee)) : NULL;

			if (known && known->role == LIBRARY_CREATE &&
			    is_parameter(LLVMGetOperand(at, (unsigned)known->b), function))
				return true;
		}
	return false;
}

static bool calls_itself(LLVMValueRef function)
{
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsAInstruction(user) &&
		    LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) == function)
			return true;
	}
	return false;
}

static void mark(LLVMContextRef context, LLVMValueRef function)
{
	LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

	LLVMRemoveEnumAttributeAtIndex(function, index, LLVMGetEnumAttributeKindForName("noinline", 8));
	LLVMAddAttributeAtIndex(
		function, index,
		LLVMCreateEnumAttribute(context, LLVMGetEnumAttributeKindForName("alwaysinline", 12), 0));
}

void whole_inline_creators(struct whole *whole)
{
	for (int round = 0; round < ROUNDS; round++) {
		bool any = false;

		for (LLVMValueRef f = LLVMGetFirstFunction(whole->module); f; f = LLVMGetNextFunction(f)) {
			if (LLVMIsDeclaration(f) || !LLVMGetFirstUse(f) || !creates_for_caller(f) ||
			    calls_itself(f))
				continue;
			mark(whole->context, f);
			any = true;
		}
		if (!any)
			return;
		LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
		LLVMErrorRef failed = LLVMRunPasses(whole->module, "always-inline", NULL, options);

		/* Not to inline is no failure. */
		if (failed)
			LLVMConsumeError(failed);
		LLVMDisposePassBuilderOptions(options);
	}
}
