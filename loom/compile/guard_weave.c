/* A guarded unit: finds the set's sites among the unit's accesses and puts a hook before
 * each of them. All other code stays as the optimiser made it. Memory that begins a new
 * life is announced, as in observed builds: a predecessor from an earlier life is none.
 */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "loom/compile/guard_data.h"
#include "loom/compile/guard_weave.h"
#include "loom/guard/inline.h"

#define PRESERVE_MOST 14 /* LLVM's number of the calling convention */

void guard_call(struct weave *weave, const char *name, LLVMValueRef *arguments, unsigned n)
{
	LLVMTypeRef types[] = { weave->i64, weave->i64, weave->i64, weave->i64 };
	LLVMTypeRef type = LLVMFunctionType(weave->nothing, types, n, 0);
	LLVMValueRef function = weave_function_named(weave, name, type);
	LLVMSetFunctionCallConv(function, PRESERVE_MOST);
	LLVMValueRef call = LLVMBuildCall2(weave->builder, type, function, arguments, n, "");
	LLVMSetInstructionCallConv(call, PRESERVE_MOST);
}

void guard_call_inlined(struct weave *weave, const char *name, LLVMValueRef *arguments, unsigned n)
{
	LLVMTypeRef types[] = { weave->i64, weave->i64, weave->i64 };
	LLVMBuildCall2(weave->builder, LLVMFunctionType(weave->nothing, types, n, 0),
		       LLVMGetNamedFunction(weave->module, name), arguments, n, "");
}

unsigned guard_shift(uint32_t grain)
{
	return grain == 8 ? 3 : grain == 4 ? 2 : grain == 2 ? 1 : 0;
}

LLVMValueRef guard_address(struct weave *weave, LLVMValueRef pointer, uint32_t grain)
{
	LLVMValueRef address = LLVMBuildPtrToInt(weave->builder, pointer, weave->i64, "");
	if (grain == 1)
		return address;
	return LLVMBuildAnd(weave->builder, address, weave_constant(weave, ~(uint64_t)(grain - 1)), "");
}

/* How many bytes a library call accesses, as far as its arguments tell; NULL when they do not. */
static LLVMValueRef size_of_call(struct weave *weave, const struct access *access)
{
	const struct extent *extent = access->extent;
	if (extent->kind == EXTENT_FIXED)
		return weave_constant(weave, extent->size);
	if (extent->kind != EXTENT_ARGUMENT)
		return NULL;
	LLVMValueRef size = LLVMGetOperand(access->instruction, extent->size);
	if (LLVMGetTypeKind(LLVMTypeOf(size)) != LLVMIntegerTypeKind)
		return NULL;
	return LLVMBuildZExtOrBitCast(weave->builder, size, weave->i64, "");
}

const char *guard_inlined(uint32_t size, uint32_t grain, uint32_t number)
{
	if (number >= GUARD_MEMOS)
		return NULL;
	return size == grain       ? "unsnarl_hook_guard"
	       : size == 2 * grain ? "unsnarl_hook_guard_two"
	       : size == 4 * grain ? "unsnarl_hook_guard_four"
				   : NULL;
}

/* The inlined hook for an access that begins with a location; NULL when there is none. */
static const char *inlined_for(const struct access *access, const struct guard_site *site, uint32_t number)
{
	bool within = access->size <= site->grain && access->alignment >= access->size;
	if (access->extent || (!within && access->alignment < site->grain))
		return NULL;
	return guard_inlined(within ? site->grain : access->size, site->grain, number);
}

/* The hook of a site whose predecessors are guarded. */
static void guard_access(struct weave *weave, struct access access, const struct guard_site *site,
			 uint32_t number)
{
	if (access.extent && weave_extent_is_fixed(&access))
		access.extent = NULL;
	weave_before(weave, access.instruction);
	LLVMValueRef size = access.extent ? size_of_call(weave, &access) : weave_constant(weave, access.size);
	bool begins = !access.extent && access.alignment >= site->grain;
	LLVMValueRef first = guard_address(weave, access.pointer, begins ? 1 : site->grain);
	LLVMValueRef named = weave_constant(weave, number);
	LLVMValueRef shift = weave_constant(weave, guard_shift(site->grain));
	const char *inlined = inlined_for(&access, site, number);
	if (access.extent && access.extent->kind == EXTENT_BLOCK) {
		LLVMValueRef block = LLVMBuildPtrToInt(weave->builder, access.pointer, weave->i64, "");
		guard_call(weave, "unsnarl_guard_freed", (LLVMValueRef[]){ block, named, shift }, 3);
	} else if (inlined) {
		guard_call_inlined(weave, inlined, (LLVMValueRef[]){ first, named, shift }, 3);
	} else if (!size ||
		   (!access.extent && access.size <= site->grain && access.alignment >= access.size)) {
		guard_call(weave, "unsnarl_guard", (LLVMValueRef[]){ first, named }, 2);
	} else {
		LLVMValueRef from = LLVMBuildPtrToInt(weave->builder, access.pointer, weave->i64, "");
		guard_call(weave, "unsnarl_guard_range", (LLVMValueRef[]){ from, size, named, shift }, 4);
	}
}

/* ---- memory that begins a new life ---- */

/* The same phi with `to` in place of the block `from`. */
static void phi_comes_from(struct weave *weave, LLVMValueRef phi, LLVMBasicBlockRef from,
			   LLVMBasicBlockRef to)
{
	LLVMPositionBuilderBefore(weave->builder, phi);
	LLVMValueRef fresh = LLVMBuildPhi(weave->builder, LLVMTypeOf(phi), "");
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
		LLVMValueRef value = LLVMGetIncomingValue(phi, i);
		LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
		if (block == from)
			block = to;
		LLVMAddIncoming(fresh, &value, &block, 1);
	}
	LLVMReplaceAllUsesWith(phi, fresh);
	LLVMInstructionEraseFromParent(phi);
}

/* A block of its own between a call that may throw and where it and others go on. What was collected of phis there is
 * gone: nothing is woven from it after this. */
static void split_behind(struct weave *weave, LLVMValueRef invoke)
{
	LLVMBasicBlockRef goal = LLVMGetNormalDest(invoke);
	LLVMBasicBlockRef own = LLVMInsertBasicBlockInContext(weave->context, goal, "");
	LLVMPositionBuilderAtEnd(weave->builder, own);
	LLVMSetCurrentDebugLocation2(weave->builder, LLVMInstructionGetDebugLoc(invoke));
	LLVMBuildBr(weave->builder, goal);
	LLVMSetNormalDest(invoke, own);
	for (LLVMValueRef phi = LLVMGetFirstInstruction(goal), next; LLVMIsAPHINode(phi); phi = next) {
		next = LLVMGetNextInstruction(phi);
		phi_comes_from(weave, phi, LLVMGetInstructionParent(invoke), own);
	}
}

static void fresh_blocks(struct weave *weave, uint32_t *nhooks)
{
	weave_allocs_collect(weave);
	for (size_t i = 0; i < weave->allocs.n; i++) {
		LLVMValueRef call = weave->allocs.items[i];
		if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMPointerTypeKind)
			continue;
		if (LLVMIsAInvokeInst(call) && !weave_behind(call))
			split_behind(weave, call);
		LLVMValueRef next = weave_behind(call);
		if (!next)
			continue;
		weave_before(weave, next);
		LLVMSetCurrentDebugLocation2(weave->builder, LLVMInstructionGetDebugLoc(call));
		LLVMValueRef block = LLVMBuildPtrToInt(weave->builder, call, weave->i64, "");
		guard_call(weave, "unsnarl_guard_fresh", &block, 1);
		(*nhooks)++;
	}
}

static void fresh_variables(struct weave *weave, uint32_t *nhooks)
{
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(weave->function);
	for (LLVMValueRef i = LLVMGetFirstInstruction(entry), next; i; i = next) {
		next = LLVMGetNextInstruction(i);
		if (!LLVMIsAAllocaInst(i) || !LLVMIsAConstantInt(LLVMGetOperand(i, 0)) || !escape_alloca(i))
			continue;
		uint64_t size = LLVMABISizeOfType(weave->layout, LLVMGetAllocatedType(i)) *
				LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0));
		LLVMValueRef after = i;
		while (LLVMIsAAllocaInst(after))
			after = LLVMGetNextInstruction(after);
		weave_before(weave, after);
		LLVMValueRef arguments[] = { LLVMBuildPtrToInt(weave->builder, i, weave->i64, ""),
					     weave_constant(weave, size) };
		/* Rules keep what they know elsewhere than in cells, and have to be told. */
		if (weave->options->guard->rules.n)
			guard_call(weave, "unsnarl_guard_fresh_stack", arguments, 2);
		else
			guard_call_inlined(weave, "unsnarl_hook_fresh_stack", arguments, 2);
		(*nhooks)++;
	}
}

/* ---- the unit ---- */

/* Refers to the symbol that the set's data define. */
void guard_refer(LLVMModuleRef module, const struct guard_set *set)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
	char symbol[64];
	guard_symbol(set, symbol);
	LLVMValueRef data = LLVMAddGlobal(module, LLVMInt8TypeInContext(context), symbol);
	LLVMValueRef kept = LLVMAddGlobal(module, pointer, "unsnarl_guard_reference");
	LLVMSetInitializer(kept, data);
	LLVMSetLinkage(kept, LLVMInternalLinkage);
	LLVMSetSection(kept, ".unsnarl_reference");
	LLVMValueRef old = LLVMGetNamedGlobal(module, "llvm.compiler.used");
	LLVMValueRef items[65];
	unsigned n = 0;
	for (unsigned i = 0; old && n < 64 && i < (unsigned)LLVMGetNumOperands(LLVMGetInitializer(old)); i++)
		items[n++] = LLVMGetOperand(LLVMGetInitializer(old), i);
	items[n++] = kept;
	if (old)
		LLVMDeleteGlobal(old);
	LLVMValueRef list = LLVMConstArray2(pointer, items, n);
	LLVMValueRef used = LLVMAddGlobal(module, LLVMTypeOf(list), "llvm.compiler.used");
	LLVMSetInitializer(used, list);
	LLVMSetLinkage(used, LLVMAppendingLinkage);
	LLVMSetSection(used, "llvm.metadata");
}

/* All accesses of the unit with their sites: ranks are known only when all are there. */
void guard_unit_collect(struct weave *weave, struct guarded_unit *unit)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(weave->module); f; f = LLVMGetNextFunction(f)) {
		if (!weave_wants_hooks(f))
			continue;
		weave->function = f;
		weave->ordinal = 0;
		weave_collect(weave);
		for (size_t i = 0; i < weave->accesses.n; i++) {
			const struct access *access = &weave->accesses.items[i];
			weave_site(weave, access->instruction, access->kind, access->size, access->pointer);
			*VEC_PUSH(&unit->accesses) =
				(struct guarded_access){ .access = *access, .function = f };
		}
	}
}

/* Sites in the table keep their strings in its pool as offsets: the bytes, parsed, have them as pointers. */
struct error *guard_unit_match(struct weave *weave, const struct guard_set *set, struct guarded_unit *unit)
{
	uint32_t size;
	uint64_t hash;
	_cleanup_free_ char *bytes = table_bytes(&weave->table, &size, &hash);
	struct unit table;
	TRY(unit_parse(bytes, size, &table));
	_cleanup_free_ uint32_t *which = memory_alloc((table.nsites + 1) * sizeof *which);
	guard_set_match(set, table.sites, table.nsites, which);
	for (size_t i = 0; i < unit->accesses.n; i++)
		unit->accesses.items[i].site = which[i];
	unit_free(&table);
	return NULL;
}

/* Memory of a kind that no guarded access ever touched has nothing on record to forget. */
static void weave_fresh(struct weave *weave, uint32_t *nhooks)
{
	bool heap = guard_set_touches(weave->options->guard, GUARD_MEMORY_HEAP);
	bool stack = guard_set_touches(weave->options->guard, GUARD_MEMORY_STACK);
	for (LLVMValueRef f = LLVMGetFirstFunction(weave->module); f; f = LLVMGetNextFunction(f)) {
		if (!weave_wants_hooks(f))
			continue;
		weave->function = f;
		if (heap)
			fresh_blocks(weave, nhooks);
		if (stack)
			fresh_variables(weave, nhooks);
	}
}

static void weave_unit(struct weave *weave, struct guarded_unit *unit, uint32_t *nhooks)
{
	const struct guard_set *set = weave->options->guard;
	for (size_t i = 0; i < unit->accesses.n; i++) {
		const struct guarded_access *guarded = &unit->accesses.items[i];
		if (!guarded->site)
			continue;
		const struct guard_site *site = guard_set_site(set, guarded->site);
		weave->function = guarded->function;
		if (!site->any && !site->idle && !guarded->in_row)
			guard_access(weave, guarded->access, site, guarded->site);
		*nhooks += (!site->any && !site->idle) || set->rules.n;
		guard_rules_weave(weave, guarded);
	}
	guard_rows_weave(weave, unit);
	guard_ahead_weave(weave, unit);
	guard_rules_leave(weave, unit);
	weave_fresh(weave, nhooks);
}

struct error *guard_transform(LLVMModuleRef module, const struct transform_options *options, uint32_t *nhooks)
{
	struct weave weave = { .module = module,
			       .context = LLVMGetModuleContext(module),
			       .layout = LLVMGetModuleDataLayout(module),
			       .options = options };
	struct guarded_unit unit = { 0 };
	if (LLVMPointerSize(weave.layout) != 8)
		return error_new("%s: only programs for x86-64 can be guarded", options->source);
	source_start(&weave.source, module, options->source);
	library_inline(&weave.source, module);
	TRY(guard_inline_link(module));
	weave_start(&weave);
	LLVMDeleteGlobal(weave.descriptor);
	LLVMDeleteGlobal(weave.self_global);
	*nhooks = 0;
	guard_unit_collect(&weave, &unit);
	struct error *e = guard_unit_match(&weave, options->guard, &unit);
	if (!e) {
		guard_rows_find(&weave, &unit);
		weave_unit(&weave, &unit, nhooks);
		guard_refer(module, options->guard);
	}
	LLVMDisposeBuilder(weave.builder);
	source_free(&weave.source);
	table_free(&weave.table);
	VEC_FREE(&weave.accesses);
	VEC_FREE(&weave.allocs);
	VEC_FREE(&unit.accesses);
	VEC_FREE(&unit.loops);
	VEC_FREE(&unit.doors);
	return e;
}
