/* Puts hooks before the accesses of a module: reads, writes, atomics, memory
 * intrinsics, library calls and loop headers. Each access becomes a site; each
 * function looks up its thread once. See loom/runtime/observe/hooks.c for what gets
 * inlined. */
#include "loom/compile/transform.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loom/compile/weave.h"

/* ---- which instructions ---- */

static bool is_call(LLVMValueRef instruction)
{
	return LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction);
}

static bool plain_address_space(LLVMValueRef pointer)
{
	return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == 0;
}

/* Code that a sanitizer or a profiler put in: not the program's own. */
static bool is_foreign(LLVMValueRef instruction)
{
	static unsigned nosanitize;
	if (!nosanitize)
		nosanitize = LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(instruction)),
						      "nosanitize", 10);
	return LLVMHasMetadata(instruction) && LLVMGetMetadata(instruction, nosanitize);
}

/* The access that an instruction makes by itself; kind 0 when it makes none. */
static struct access access_of(LLVMTargetDataRef layout, LLVMValueRef instruction)
{
	struct access access = { .instruction = instruction };
	LLVMTypeRef type = NULL;
	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMLoad:
		access.kind = SITE_READ;
		access.pointer = LLVMGetOperand(instruction, 0);
		type = LLVMTypeOf(instruction);
		break;
	case LLVMStore:
		access.kind = SITE_WRITE;
		access.pointer = LLVMGetOperand(instruction, 1);
		type = LLVMTypeOf(LLVMGetOperand(instruction, 0));
		break;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		access.kind = SITE_UPDATE;
		access.pointer = LLVMGetOperand(instruction, 0);
		type = LLVMTypeOf(LLVMGetOperand(instruction, 1));
		break;
	default:
		return access;
	}
	access.size = (uint32_t)LLVMStoreSizeOfType(layout, type);
	access.alignment = LLVMGetAlignment(instruction);
	if (!plain_address_space(access.pointer) || access.size == 0 || is_foreign(instruction) ||
	    escape_is_private(access.pointer))
		access.kind = 0;
	return access;
}

/* Memory of libc's own: the runtime knows where. */
static void collect_state(struct weave *weave, LLVMValueRef call, const struct extent *extent)
{
	LLVMTypeRef which = LLVMInt32TypeInContext(weave->source.context);
	LLVMTypeRef type = LLVMFunctionType(weave->pointer, &which, 1, 0);
	LLVMValueRef number = LLVMConstInt(which, extent->second, 0);
	weave_before(weave, call);
	LLVMSetCurrentDebugLocation2(weave->builder, LLVMInstructionGetDebugLoc(call));
	*VEC_PUSH(&weave->accesses) =
		(struct access){ .instruction = call,
				 .kind = extent->access,
				 .pointer = LLVMBuildCall2(weave->builder, type,
							   weave_function_named(weave, LIBRARY_STATE, type),
							   &number, 1, ""),
				 .size = extent->access == SITE_UPDATE ? extent->size : 0,
				 .alignment = sizeof(void *),
				 .extent = extent };
}

static void collect_extent(struct weave *weave, LLVMValueRef call, const struct extent *extent)
{
	if (extent->pointer == EXTENT_NO_ARGUMENT) {
		collect_state(weave, call, extent);
		return;
	}
	LLVMValueRef pointer =
		extent->pointer < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, extent->pointer) : NULL;
	bool pointer_typed = pointer && LLVMGetTypeKind(LLVMTypeOf(pointer)) == LLVMPointerTypeKind;
	if (pointer_typed && plain_address_space(pointer) && !escape_is_private(pointer))
		*VEC_PUSH(&weave->accesses) = (struct access){
			.instruction = call, .kind = extent->access, .pointer = pointer, .extent = extent
		};
}

static void collect_access(struct weave *weave, LLVMValueRef instruction)
{
	struct access access = access_of(weave->layout, instruction);
	if (access.kind) {
		*VEC_PUSH(&weave->accesses) = access;
		return;
	}
	if (!is_call(instruction))
		return;
	uint32_t strings = calls_strings(instruction);
	for (unsigned i = 0; i < CALL_STRINGS && strings >> i; i++)
		if (strings >> i & 1)
			collect_extent(weave, instruction, calls_string(i));
	const struct known_call *call = calls_find(instruction);
	for (unsigned i = 0; call && i < CALL_EXTENTS && call->extents[i].access; i++)
		collect_extent(weave, instruction, &call->extents[i]);
}

/* A call that may run hooked code, after which the thread's order has moved on. */
static bool moves_order(LLVMValueRef instruction)
{
	if (!is_call(instruction))
		return false;
	LLVMValueRef callee = LLVMGetCalledValue(instruction);
	return !LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee);
}

void weave_collect(struct weave *weave)
{
	weave->accesses.n = 0;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(weave->function); b; b = LLVMGetNextBasicBlock(b)) {
		bool starts = true;
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			size_t before = weave->accesses.n;
			collect_access(weave, i);
			if (weave->accesses.n > before) {
				weave->accesses.items[before].starts = starts;
				starts = false;
			}
			if (moves_order(i))
				starts = true;
		}
	}
}

/* ---- one function ---- */

bool weave_wants_hooks(LLVMValueRef function)
{
	static unsigned naked, disabled;
	if (!naked) {
		naked = LLVMGetEnumAttributeKindForName("naked", 5);
		disabled = LLVMGetEnumAttributeKindForName("disable_sanitizer_instrumentation", 33);
	}
	size_t length;
	return !LLVMIsDeclaration(function) && LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage &&
	       !LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
					    naked) &&
	       !LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
					    disabled) &&
	       strncmp(LLVMGetValueName2(function, &length), "unsnarl_", 8) != 0;
}

/* Hooks are inlined where they run often and few: in small loops. Elsewhere a call
 * does, and units of ten thousands of accesses still compile in reasonable time. */
#define SMALL_LOOP 48u

static void mark_inlined(struct weave *weave, const struct loops *loops)
{
	uint32_t *blocks = memory_alloc((loops->n + 1) * sizeof *blocks);
	for (uint32_t b = 0; b < loops->nblocks; b++)
		for (int32_t l = loops->inner[b]; l >= 0; l = loops->items[l].parent)
			blocks[l]++;
	for (size_t i = 0; i < weave->accesses.n; i++) {
		struct access *access = &weave->accesses.items[i];
		LLVMBasicBlockRef block = LLVMGetInstructionParent(access->instruction);
		const uint64_t *number = map_get(&loops->numbers, (uint64_t)(uintptr_t)block);
		int32_t inner = number ? loops->inner[*number] : -1;
		access->inlined = inner >= 0 && blocks[inner] <= SMALL_LOOP;
	}
	free(blocks);
}

/* A called hook counts for itself: the stretch ends before it and begins anew behind it. */
static void mark_called(struct weave *weave, bool small)
{
	bool behind = false;
	for (size_t i = 0; i < weave->accesses.n; i++) {
		struct access *access = &weave->accesses.items[i];
		bool fits = small ? access->size <= 2
				  : !access->inlined && (access->size == 4 || access->size == 8);
		access->called |= !access->extent && access->kind != SITE_UPDATE && fits &&
				  access->alignment >= access->size;
		access->starts |= behind;
		behind = access->called;
	}
}

static void weave_function(struct weave *weave, LLVMValueRef function)
{
	weave->function = function;
	weave->ordinal = 0;
	weave_collect(weave);
	sparse_keep(weave);
	weave_syncs_collect(weave);
	weave_allocs_collect(weave);
	bool empty = weave->accesses.n == 0 && weave->syncs.n == 0 && weave->allocs.n == 0;
	struct loops loops;
	loops_find(function, &loops);
	bool waits = weave_waits_find(&loops);
	if (empty && !waits && (loops.n == 0 || !weave->options->loops)) {
		loops_free(&loops);
		return;
	}
	mark_inlined(weave, &loops);
	mark_called(weave, true);
	groups_find(weave);
	mark_called(weave, false);
	weave_entry(weave);
	for (uint32_t i = 0; i < weave->accesses.n; i++)
		weave_access(weave, i);
	weave_variables(weave);
	weave_syncs(weave);
	weave_allocs(weave);
	if (waits)
		weave_waits(weave, &loops);
	if (weave->options->loops)
		weave_loops(weave, &loops);
	loops_free(&loops);
}

/* ---- the module ---- */

static struct error *link_hooks(LLVMModuleRef module)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
		hooks_bitcode, (size_t)(hooks_bitcode_end - hooks_bitcode), "hooks", 0);
	LLVMModuleRef hooks;
	bool failed = LLVMParseBitcodeInContext2(context, buffer, &hooks);
	LLVMDisposeMemoryBuffer(buffer);
	if (failed)
		return error_new(
			"the built-in hooks cannot be read: this unsnarl is damaged, install it again");
	LLVMSetTarget(hooks, LLVMGetTarget(module));
	LLVMSetDataLayout(hooks, LLVMGetDataLayoutStr(module));
	if (LLVMLinkModules2(module, hooks))
		return error_new("the built-in hooks do not fit this module (is it for x86-64?)");
	static const char *const strip[] = { "target-cpu", "target-features", "tune-cpu" };
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		size_t length;
		if (LLVMIsDeclaration(f) || strncmp(LLVMGetValueName2(f, &length), "unsnarl_hook_", 13) != 0)
			continue;
		LLVMSetVisibility(f, LLVMDefaultVisibility);
		LLVMSetLinkage(f, LLVMInternalLinkage);
		/* Inlining needs the callee's processor to be no more than the caller's. */
		for (int i = 0; i < 3; i++)
			LLVMRemoveStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
							 strip[i], (unsigned)strlen(strip[i]));
	}
	return NULL;
}

/* Lazy binding would spoil registers that the hooks' calling convention preserves. */
static void bind_early(LLVMModuleRef module)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("nonlazybind", 11);
	LLVMAttributeRef early = LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, 0);
	size_t length;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (LLVMIsDeclaration(f) && strncmp(LLVMGetValueName2(f, &length), "unsnarl_", 8) == 0)
			LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, early);
}

struct error *transform(LLVMModuleRef module, const struct transform_options *options, uint32_t *nsites)
{
	struct weave weave = { .module = module,
			       .context = LLVMGetModuleContext(module),
			       .layout = LLVMGetModuleDataLayout(module),
			       .options = options };
	if (LLVMPointerSize(weave.layout) != 8)
		return error_new("%s: only programs for x86-64 can be observed", options->source);
	source_start(&weave.source, module, options->source);
	library_inline(&weave.source, module);
	TRY(link_hooks(module));
	weave_start(&weave);
	weave_syncs_start(&weave);
	TRY(sparse_choose(&weave));
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (weave_wants_hooks(f))
			weave_function(&weave, f);
	weave_finish(&weave);
	bind_early(module);
	*nsites = (uint32_t)weave.table.sites.n;
	source_free(&weave.source);
	table_free(&weave.table);
	map_free(&weave.reaching);
	map_free(&weave.chosen);
	VEC_FREE(&weave.accesses);
	VEC_FREE(&weave.grouped);
	VEC_FREE(&weave.syncs);
	VEC_FREE(&weave.allocs);
	return NULL;
}
