/* Puts the active tester's hooks around a candidate's accesses. The part that is
 * inlined is a look at one byte, so that a site that is done costs little; a function
 * that is entered while no site acts runs without hooks (plain_body.c). */
#include <string.h>

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "loom/active/active.h"
#include "static/static.h"
#include "static/whole.h"

struct hooks {
	struct whole *whole;
	LLVMBuilderRef builder;
	LLVMTypeRef i8, i32, i64, pointer, nothing;
	LLVMTypeRef before_type, after_type;
	LLVMValueRef before, after; /* of this module, to be inlined */
	LLVMValueRef armed;         /* a byte: does any site act? */
};

static LLVMValueRef inlined_function(struct hooks *hooks, const char *name, LLVMTypeRef type)
{
	LLVMValueRef function = LLVMAddFunction(hooks->whole->module, name, type);
	unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);

	LLVMSetLinkage(function, LLVMInternalLinkage);
	LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(hooks->whole->context, kind, 0));
	return function;
}

/* if (*byte) outer(arguments); */
static void fill(struct hooks *hooks, LLVMValueRef function, LLVMValueRef byte, const char *outer,
		 LLVMTypeRef type)
{
	LLVMContextRef context = hooks->whole->context;
	LLVMBasicBlockRef call = LLVMAppendBasicBlockInContext(context, function, "call");
	LLVMBasicBlockRef out = LLVMAppendBasicBlockInContext(context, function, "out");
	LLVMValueRef arguments[3], set = LLVMBuildLoad2(hooks->builder, hooks->i8, byte, "");
	unsigned n = LLVMCountParams(function);

	LLVMBuildCondBr(hooks->builder,
			LLVMBuildICmp(hooks->builder, LLVMIntNE, set, LLVMConstInt(hooks->i8, 0, 0), ""),
			call, out);
	LLVMPositionBuilderAtEnd(hooks->builder, call);
	LLVMGetParams(function, arguments);
	LLVMBuildCall2(hooks->builder, type, LLVMAddFunction(hooks->whole->module, outer, type), arguments, n,
		       "");
	LLVMBuildBr(hooks->builder, out);
	LLVMPositionBuilderAtEnd(hooks->builder, out);
	LLVMBuildRetVoid(hooks->builder);
}

static void make_functions(struct hooks *hooks)
{
	LLVMModuleRef module = hooks->whole->module;
	LLVMTypeRef parameters[] = { hooks->i32, hooks->pointer, hooks->i64 };
	LLVMTypeRef bytes = LLVMArrayType2(hooks->i8, ACTIVE_SITES);
	LLVMValueRef sites = LLVMAddGlobal(module, bytes, "unsnarl_active_sites");
	LLVMValueRef pending = LLVMAddGlobal(module, hooks->i8, "unsnarl_active_pending");

	hooks->armed = LLVMAddGlobal(module, hooks->i8, "unsnarl_active_armed");
	LLVMSetThreadLocal(pending, 1);
	LLVMSetThreadLocalMode(pending, LLVMInitialExecTLSModel);
	hooks->before_type = LLVMFunctionType(hooks->nothing, parameters, 3, 0);
	hooks->after_type = LLVMFunctionType(hooks->nothing, NULL, 0, 0);
	hooks->before = inlined_function(hooks, "unsnarl.before", hooks->before_type);
	LLVMPositionBuilderAtEnd(
		hooks->builder, LLVMAppendBasicBlockInContext(hooks->whole->context, hooks->before, "entry"));
	LLVMValueRef index = LLVMBuildAnd(hooks->builder, LLVMGetParam(hooks->before, 0),
					  LLVMConstInt(hooks->i32, ACTIVE_SITES - 1, 0), "");

	fill(hooks, hooks->before, LLVMBuildGEP2(hooks->builder, hooks->i8, sites, &index, 1, ""),
	     "unsnarl_active_before", hooks->before_type);
	hooks->after = inlined_function(hooks, "unsnarl.after", hooks->after_type);
	LLVMPositionBuilderAtEnd(hooks->builder,
				 LLVMAppendBasicBlockInContext(hooks->whole->context, hooks->after, "entry"));
	fill(hooks, hooks->after, pending, "unsnarl_active_after", hooks->after_type);
}

/* Of a library call, the argument that is read or written, and how much of it; unknown sizes count as 8. */
static LLVMValueRef call_pointer(struct hooks *hooks, LLVMValueRef call, const struct build_site *site,
				 LLVMValueRef *size)
{
	const struct known_call *known = calls_find(call);

	*size = LLVMConstInt(hooks->i64, site->kind == SITE_SYNC ? 1 : 8, 0);
	for (unsigned i = 0; known && i < 3 && known->extents[i].access; i++) {
		const struct extent *extent = &known->extents[i];

		if (extent->access != site->kind || extent->pointer >= whole_arguments(call))
			continue;
		if (extent->kind == EXTENT_ARGUMENT && extent->size < whole_arguments(call) &&
		    LLVMTypeOf(LLVMGetOperand(call, extent->size)) == hooks->i64)
			*size = LLVMGetOperand(call, extent->size);
		return LLVMGetOperand(call, extent->pointer);
	}
	if (site->kind != SITE_SYNC || !whole_arguments(call))
		return NULL;
	/* A thread's handle is a number. */
	return LLVMTypeOf(LLVMGetOperand(call, 0)) == hooks->pointer ? LLVMGetOperand(call, 0)
								     : LLVMConstPointerNull(hooks->pointer);
}

static LLVMValueRef accessed(struct hooks *hooks, LLVMValueRef at, const struct build_site *site,
			     LLVMValueRef *size)
{
	LLVMTypeRef type;
	LLVMValueRef pointer;

	switch (LLVMGetInstructionOpcode(at)) {
	case LLVMLoad:
		type = LLVMTypeOf(at);
		pointer = LLVMGetOperand(at, 0);
		break;
	case LLVMStore:
		type = LLVMTypeOf(LLVMGetOperand(at, 0));
		pointer = LLVMGetOperand(at, 1);
		break;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		type = LLVMTypeOf(LLVMGetOperand(at, 1));
		pointer = LLVMGetOperand(at, 0);
		break;
	default:
		return call_pointer(hooks, at, site, size);
	}
	*size = LLVMConstInt(hooks->i64, LLVMABISizeOfType(hooks->whole->layout, type), 0);
	return pointer;
}

static void hook_before(struct hooks *hooks, LLVMValueRef at, LLVMValueRef pointer, LLVMValueRef size,
			uint32_t number)
{
	LLVMValueRef arguments[] = { LLVMConstInt(hooks->i32, number, 0), pointer, size };

	LLVMPositionBuilderBefore(hooks->builder, at);
	LLVMSetCurrentDebugLocation2(hooks->builder, NULL);
	LLVMBuildCall2(hooks->builder, hooks->before_type, hooks->before, arguments, 3, "");
}

static void hook(struct hooks *hooks, LLVMValueRef at, LLVMValueRef hoisted, const struct build_site *site,
		 uint32_t number)
{
	LLVMValueRef size, pointer = accessed(hooks, at, site, &size), next = LLVMGetNextInstruction(at);

	if (!pointer)
		return;
	if (hoisted && whole_is_call(hoisted) && whole_arguments(hoisted) &&
	    LLVMTypeOf(LLVMGetOperand(hoisted, 0)) == hooks->pointer) {
		hook_before(hooks, hoisted, LLVMGetOperand(hoisted, 0), LLVMConstInt(hooks->i64, 1, 0),
			    number | ACTIVE_BEFORE_LOCK);
		number |= ACTIVE_BEHIND_LOCK;
	}
	hook_before(hooks, at, pointer, size, number);
	/* Behind a call that may end the block elsewhere nothing can be put; its partner waits a little longer. */
	if (!next || LLVMIsATerminatorInst(at))
		return;
	LLVMPositionBuilderBefore(hooks->builder, next);
	LLVMSetCurrentDebugLocation2(hooks->builder, NULL);
	LLVMBuildCall2(hooks->builder, hooks->after_type, hooks->after, NULL, 0, "");
}

static LLVMValueRef instruction_at(const struct whole *whole, uint32_t number)
{
	return number < whole->instructions.n ? whole->instructions.items[number] : NULL;
}

static void add_plain_body(struct hooks *hooks, struct map *done, LLVMValueRef at)
{
	LLVMValueRef function = at ? LLVMGetBasicBlockParent(LLVMGetInstructionParent(at)) : NULL;

	bool fresh = false;

	if (function)
		map_put(done, whole_key(function), &fresh);
	if (fresh)
		whole_add_plain_body(hooks->whole, function, hooks->armed);
}

/* Before the first hook stands anywhere, or the plain bodies would have it, too. */
static void add_plain_bodies(struct hooks *hooks, const struct build_sites *sites)
{
	struct map done = { 0 };

	for (size_t s = 0; s < sites->n; s++)
		for (size_t i = 0; i < sites->items[s].parts.n; i++) {
			const struct build_part *part = &sites->items[s].parts.items[i];

			add_plain_body(hooks, &done, instruction_at(hooks->whole, part->instruction));
			add_plain_body(hooks, &done, instruction_at(hooks->whole, part->hoisted));
		}
	map_free(&done);
}

void whole_hook(struct whole *whole, const struct build_sites *sites)
{
	LLVMContextRef context = whole->context;
	struct hooks hooks = { .whole = whole,
			       .builder = LLVMCreateBuilderInContext(context),
			       .i8 = LLVMInt8TypeInContext(context),
			       .i32 = LLVMInt32TypeInContext(context),
			       .i64 = LLVMInt64TypeInContext(context),
			       .pointer = LLVMPointerTypeInContext(context, 0),
			       .nothing = LLVMVoidTypeInContext(context) };

	make_functions(&hooks);
	add_plain_bodies(&hooks, sites);
	for (size_t s = 0; s < sites->n; s++)
		for (size_t i = 0; i < sites->items[s].parts.n; i++) {
			const struct build_part *part = &sites->items[s].parts.items[i];
			LLVMValueRef at = instruction_at(whole, part->instruction);
			uint32_t alone = part->alone ? ACTIVE_LOCK_ALONE : 0;

			if (at)
				hook(&hooks, at, instruction_at(whole, part->hoisted), &sites->items[s],
				     (uint32_t)s | alone);
		}
	LLVMDisposeBuilder(hooks.builder);
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef failed = LLVMRunPasses(whole->module, "always-inline", NULL, options);

	if (failed)
		LLVMConsumeError(failed);
	LLVMDisposePassBuilderOptions(options);
}
