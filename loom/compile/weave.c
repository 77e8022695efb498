/* Hooks of accesses: the word of the event, its mark and memo, and the call that fits
 * size and alignment. */
#include "loom/compile/weave.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "loom/runtime/layout.h"

#define PRESERVE_MOST 14 /* LLVM's number of the calling convention */

static LLVMValueRef number64(const struct weave *weave, uint64_t value)
{
	return LLVMConstInt(weave->i64, value, 0);
}

void weave_before(struct weave *weave, LLVMValueRef instruction)
{
	LLVMPositionBuilderBefore(weave->builder, instruction);
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
	LLVMMetadataRef subprogram = LLVMGetSubprogram(weave->function);
	if (!location && subprogram)
		location = LLVMDIBuilderCreateDebugLocation(weave->context, 0, 0, subprogram, NULL);
	LLVMSetCurrentDebugLocation2(weave->builder, location);
}

void weave_start(struct weave *weave)
{
	LLVMContextRef context = weave->context;
	weave->builder = LLVMCreateBuilderInContext(context);
	weave->i8 = LLVMInt8TypeInContext(context);
	weave->i16 = LLVMInt16TypeInContext(context);
	weave->i32 = LLVMInt32TypeInContext(context);
	weave->i64 = LLVMInt64TypeInContext(context);
	weave->pointer = LLVMPointerTypeInContext(context, 0);
	weave->nothing = LLVMVoidTypeInContext(context);
	LLVMTypeRef hook[] = { weave->pointer, weave->i64, weave->i64,     weave->i64,
			       weave->i64,     weave->i64, weave->pointer, weave->pointer };
	LLVMTypeRef numbers[] = { weave->i64, weave->i64, weave->i64 };
	LLVMTypeRef loop[] = { weave->pointer, weave->i64, weave->i64 };
	weave->hook_type = LLVMFunctionType(weave->nothing, hook, 8, 0);
	weave->called_type = LLVMFunctionType(weave->nothing, numbers, 2, 0);
	weave->range_type = LLVMFunctionType(weave->nothing, numbers, 3, 0);
	weave->fresh_type = LLVMFunctionType(weave->nothing, numbers, 2, 0);
	weave->loop_type = LLVMFunctionType(weave->nothing, loop, 3, 0);

	weave->self_global = LLVMAddGlobal(weave->module, weave->pointer, "unsnarl_self");
	LLVMSetThreadLocalMode(weave->self_global, LLVMInitialExecTLSModel);
	LLVMTypeRef fields[] = { weave->i64, weave->i64, weave->i64, weave->pointer };
	LLVMTypeRef descriptor = LLVMStructTypeInContext(context, fields, 4, 0);
	weave->descriptor = LLVMAddGlobal(weave->module, descriptor, "unsnarl_descriptor");
	LLVMSetLinkage(weave->descriptor, LLVMInternalLinkage);
}

/* ---- once per function ---- */

static LLVMValueRef at_offset(struct weave *weave, LLVMValueRef base, size_t offset)
{
	LLVMValueRef index = number64(weave, offset);
	return LLVMBuildInBoundsGEP2(weave->builder, weave->i8, base, &index, 1, "");
}

LLVMValueRef weave_field(struct weave *weave, LLVMTypeRef type, size_t offset, const char *name)
{
	return LLVMBuildLoad2(weave->builder, type, at_offset(weave, weave->self, offset), name);
}

/* What there is for each site, `size` bytes each, from the unit's first site on. */
static LLVMValueRef for_sites(struct weave *weave, LLVMValueRef all, size_t size, const char *name)
{
	LLVMValueRef distance = LLVMBuildMul(weave->builder, weave->first, number64(weave, size), "");
	return LLVMBuildInBoundsGEP2(weave->builder, weave->i8, all, &distance, 1, name);
}

/* What cells of this form begin with that are private to the thread: the owner. */
static LLVMValueRef private_cells(struct weave *weave, uint64_t form, const char *name)
{
	return LLVMBuildOr(weave->builder, weave->tag, number64(weave, (form | FORM_PRIVATE) << 50), name);
}

void weave_entry(struct weave *weave)
{
	LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(weave->function));
	while (LLVMIsAAllocaInst(first))
		first = LLVMGetNextInstruction(first);
	weave_before(weave, first);
	weave->self = LLVMBuildLoad2(weave->builder, weave->pointer, weave->self_global, "unsnarl.self");
	weave->tag = weave_field(weave, weave->i64, offsetof(struct thread, tag), "unsnarl.tag");
	LLVMValueRef word = weave_field(weave, weave->i64, offsetof(struct thread, word), "");
	LLVMValueRef first_site = LLVMBuildLoad2(
		weave->builder, weave->i64,
		at_offset(weave, weave->descriptor, offsetof(struct unit_descriptor, first)), "");
	weave->word = LLVMBuildAdd(weave->builder, word, first_site, "unsnarl.word");
	weave->first =
		LLVMBuildLShr(weave->builder, first_site, number64(weave, WORD_SITE_SHIFT), "unsnarl.first");
	weave->halves = private_cells(weave, FORM_HALF, "unsnarl.halves");
	weave->wholes = private_cells(weave, FORM_WHOLE, "unsnarl.wholes");
	LLVMValueRef marks = LLVMConstIntToPtr(number64(weave, MARKS_START), weave->pointer);
	weave->marks = for_sites(weave, marks, 1, "unsnarl.marks");
	LLVMValueRef memos = weave_field(weave, weave->pointer, offsetof(struct thread, memos), "");
	weave->memos = for_sites(weave, memos, sizeof(struct memo) * MEMOS_PER_SITE, "unsnarl.memos");
}

/* ---- sites ---- */

static bool is_atomic(LLVMValueRef instruction)
{
	if (LLVMIsAAtomicRMWInst(instruction) || LLVMIsAAtomicCmpXchgInst(instruction))
		return true;
	return (LLVMIsALoadInst(instruction) || LLVMIsAStoreInst(instruction)) &&
	       LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
}

/* What frees a block is said, since nobody takes that for a write. */
static void name_freeing(LLVMValueRef instruction, char through[512])
{
	bool is_call = LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction);
	const struct known_call *call = is_call ? calls_find(instruction) : NULL;
	if (call && call->extents[0].kind == EXTENT_BLOCK && !through[0])
		snprintf(through, 512, "%s", call->name[0] == '_' ? "operator delete" : call->name);
}

uint32_t weave_site(struct weave *weave, LLVMValueRef instruction, enum site_kind kind, uint32_t size,
		    LLVMValueRef pointer)
{
	char scratch[4096], through[512], variable[256] = "";
	struct site site = {
		.kind = kind, .atomic = is_atomic(instruction), .size = size, .variable = variable
	};
	source_position(&weave->source, instruction, &site, scratch, through);
	name_freeing(instruction, through);
	if (pointer)
		source_variable(&weave->source, instruction, pointer, variable);
	size_t length;
	uint32_t identity[2] = { weave->ordinal++, kind };
	site.id = hash_string(weave->source.unit, LLVMGetValueName2(weave->function, &length));
	site.id = hash_bytes(site.id, identity, sizeof identity);
	return table_add(&weave->table, &site);
}

/* ---- one access ---- */

/* The thread-local order of the next access in the stretch. */
static LLVMValueRef next_order(struct weave *weave)
{
	return LLVMBuildAdd(weave->builder, weave->order, number64(weave, ++weave->order_used), "");
}

/* The next event word: thread, site, low half of the thread-local order. */
static LLVMValueRef event_word(struct weave *weave, uint32_t site)
{
	LLVMValueRef low = LLVMBuildAnd(weave->builder, next_order(weave), number64(weave, 0xffffffffu), "");
	LLVMValueRef base = LLVMBuildAdd(weave->builder, weave->word,
					 number64(weave, (uint64_t)site << WORD_SITE_SHIFT), "");
	return LLVMBuildAdd(weave->builder, base, low, "");
}

/* How many orders the accesses from `access` on use up to the next stretch. */
static uint32_t orders_in_stretch(const struct weave *weave, const struct access *access)
{
	uint32_t n = 0;
	const struct access *end = weave->accesses.items + weave->accesses.n;
	for (const struct access *a = access; a < end && !a->called && (a == access || !a->starts); a++)
		n += a->kind == SITE_UPDATE ? 2 : 1;
	return n;
}

static void start_stretch(struct weave *weave, const struct access *access)
{
	LLVMValueRef place = at_offset(weave, weave->self, offsetof(struct thread, order));
	weave->order = LLVMBuildLoad2(weave->builder, weave->i64, place, "unsnarl.order");
	weave->order_used = 0;
	LLVMValueRef after = LLVMBuildAdd(weave->builder, weave->order,
					  number64(weave, orders_in_stretch(weave, access)), "");
	LLVMBuildStore(weave->builder, after, place);
}

static LLVMValueRef function_named(struct weave *weave, const char *name, LLVMTypeRef type)
{
	LLVMValueRef function = LLVMGetNamedFunction(weave->module, name);
	return function ? function : LLVMAddFunction(weave->module, name, type);
}

/* Calls a function of the runtime that spills no registers. */
static void call_cold(struct weave *weave, const char *name, LLVMTypeRef type, LLVMValueRef *arguments,
		      unsigned n)
{
	LLVMValueRef function = function_named(weave, name, type);
	LLVMSetFunctionCallConv(function, PRESERVE_MOST);
	LLVMValueRef call = LLVMBuildCall2(weave->builder, type, function, arguments, n, "");
	LLVMSetInstructionCallConv(call, PRESERVE_MOST);
}

/* An access of a size that no memo is for. */
static void call_range(struct weave *weave, const char *name, LLVMValueRef word, LLVMValueRef address,
		       LLVMValueRef size)
{
	call_cold(weave, name, weave->range_type, (LLVMValueRef[]){ word, address, size }, 3);
}

static void call_hook(struct weave *weave, bool write, uint32_t size, uint32_t site, LLVMValueRef order,
		      LLVMValueRef address)
{
	char name[64];
	snprintf(name, sizeof name, "unsnarl_hook_%s%u", write ? "write" : "read", size);
	LLVMValueRef arguments[] = {
		weave->self,
		weave->tag,
		size == 4 ? weave->halves : weave->wholes,
		LLVMBuildAdd(weave->builder, weave->first, number64(weave, site), ""),
		order,
		address,
		at_offset(weave, weave->marks, site),
		at_offset(weave, weave->memos, site * MEMOS_PER_SITE * sizeof(struct memo)),
	};
	LLVMBuildCall2(weave->builder, weave->hook_type, function_named(weave, name, weave->hook_type),
		       arguments, 8, "");
}

/* A call that does it all. */
static void call_unit(struct weave *weave, const struct access *access, uint32_t site, LLVMValueRef address)
{
	bool element = access->size <= 2 && element_is(weave->layout, access->pointer, 2);
	char name[64];
	snprintf(name, sizeof name, "unsnarl_%s%s%u", element ? "element_" : "",
		 access->kind == SITE_WRITE ? "write" : "read", access->size);
	LLVMValueRef number = LLVMBuildAdd(weave->builder, weave->first, number64(weave, site), "");
	call_cold(weave, name, weave->called_type, (LLVMValueRef[]){ address, number }, 2);
}

/* A read or a write of `size` bytes, known now. */
static void hook_plain(struct weave *weave, const struct access *access, bool write, uint32_t site,
		       LLVMValueRef address)
{
	uint32_t part = access->alignment >= 8 && access->size % 8 == 0 ? 8 : 4;
	if (access->size % part != 0 || access->size > 4 * part || access->alignment < part) {
		call_range(weave, write ? "unsnarl_write" : "unsnarl_read", event_word(weave, site), address,
			   number64(weave, access->size));
		return;
	}
	LLVMValueRef order = next_order(weave);
	for (uint32_t at = 0, length; at < access->size; at += length) {
		LLVMValueRef place =
			at ? LLVMBuildAdd(weave->builder, address, number64(weave, at), "") : address;
		length = part == 8 && access->size - at >= 16 ? 16 : part;
		call_hook(weave, write, length, site, order, place);
	}
}

/* An atomic read-modify-write: the read before it, the write after it, and only if it took place. */
static void hook_update(struct weave *weave, const struct access *access, uint32_t site, LLVMValueRef address)
{
	hook_plain(weave, access, false, site, address);
	LLVMValueRef word = event_word(weave, site), size = number64(weave, access->size);
	LLVMValueRef next = LLVMGetNextInstruction(access->instruction);
	weave_before(weave, next);
	LLVMSetCurrentDebugLocation2(weave->builder, LLVMInstructionGetDebugLoc(access->instruction));
	if (LLVMIsAAtomicCmpXchgInst(access->instruction)) {
		LLVMValueRef done = LLVMBuildExtractValue(weave->builder, access->instruction, 1, "");
		size = LLVMBuildSelect(weave->builder, done, size, number64(weave, 0), "");
	}
	call_range(weave, "unsnarl_write", word, address, size); /* mark and memo are the read's */
}

static LLVMValueRef argument64(struct weave *weave, LLVMValueRef call, uint8_t index)
{
	LLVMValueRef value = LLVMGetOperand(call, index);
	if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(weave->builder, value, weave->i64, "");
	return LLVMBuildZExtOrBitCast(weave->builder, value, weave->i64, "");
}

/* Puts the builder behind a call. */
static void weave_after(struct weave *weave, LLVMValueRef call)
{
	weave_before(weave, LLVMGetNextInstruction(call));
	LLVMSetCurrentDebugLocation2(weave->builder, LLVMInstructionGetDebugLoc(call));
}

/* Bytes from `address` up to and with the one that `call` points to, or `most` when it found none. */
static LLVMValueRef found_size(struct weave *weave, LLVMValueRef call, LLVMValueRef address,
			       LLVMValueRef most)
{
	LLVMValueRef result = LLVMBuildPtrToInt(weave->builder, call, weave->i64, "");
	LLVMValueRef up_to = LLVMBuildSub(weave->builder, result, address, "");
	LLVMValueRef size = LLVMBuildAdd(weave->builder, up_to, number64(weave, 1), "");
	LLVMValueRef none = LLVMBuildIsNull(weave->builder, call, "");
	return LLVMBuildSelect(weave->builder, none, most, size, "");
}

/* How many characters a call of the printf family wrote, its result and its limit being known. */
static LLVMValueRef printed_size(struct weave *weave, LLVMValueRef call, LLVMValueRef most)
{
	LLVMValueRef count = LLVMBuildSExtOrBitCast(weave->builder, call, weave->i64, "");
	LLVMValueRef size = LLVMBuildAdd(weave->builder, count, number64(weave, 1), "");
	LLVMValueRef fits = LLVMBuildICmp(weave->builder, LLVMIntULT, size, most, "");
	LLVMValueRef good = LLVMBuildICmp(weave->builder, LLVMIntSGE, count, number64(weave, 0), "");
	size = LLVMBuildSelect(weave->builder, fits, size, most, "");
	return LLVMBuildSelect(weave->builder, good, size, number64(weave, 0), "");
}

/* How many bytes a call of the read family wrote. */
static LLVMValueRef counted_size(struct weave *weave, LLVMValueRef call, LLVMValueRef unit)
{
	LLVMValueRef count = LLVMBuildSExtOrBitCast(weave->builder, call, weave->i64, "");
	LLVMValueRef some = LLVMBuildICmp(weave->builder, LLVMIntSGT, count, number64(weave, 0), "");
	count = LLVMBuildSelect(weave->builder, some, count, number64(weave, 0), "");
	return LLVMBuildMul(weave->builder, count, unit, "");
}

/* An access whose size only the result of the call tells. */
static void hook_afterwards(struct weave *weave, const struct access *access, LLVMValueRef word,
			    LLVMValueRef address)
{
	const struct extent *extent = access->extent;
	LLVMValueRef call = access->instruction, size;
	bool limited = extent->size != EXTENT_NO_ARGUMENT;
	LLVMValueRef argument = limited ? argument64(weave, call, extent->size) : NULL;
	if (!LLVMIsACallInst(call))
		return; /* an invoke has no place behind it; none of these functions throws */
	weave_after(weave, call);
	if (extent->kind == EXTENT_FOUND)
		size = found_size(weave, call, address, argument);
	else if (extent->kind == EXTENT_PRINTED)
		size = printed_size(weave, call, limited ? argument : number64(weave, UINT64_MAX));
	else
		size = counted_size(weave, call, limited ? argument : number64(weave, 1));
	call_range(weave, extent->access == SITE_WRITE ? "unsnarl_write" : "unsnarl_read", word, address,
		   size);
}

/* Where the string at `address` ends. */
static LLVMValueRef string_end(struct weave *weave, LLVMValueRef pointer, LLVMValueRef address)
{
	LLVMTypeRef type = LLVMFunctionType(weave->i64, &weave->pointer, 1, 0);
	LLVMValueRef length =
		LLVMBuildCall2(weave->builder, type, function_named(weave, "strlen", type), &pointer, 1, "");
	return LLVMBuildAdd(weave->builder, address, length, "");
}

/* The access of a library call; its size may depend on strings or on the result. */
static void hook_extent(struct weave *weave, const struct access *access, uint32_t site, LLVMValueRef address)
{
	const struct extent *extent = access->extent;
	LLVMValueRef call = access->instruction, word = event_word(weave, site);
	bool write = extent->access == SITE_WRITE;
	switch (extent->kind) {
	case EXTENT_ARGUMENT:
		call_range(weave, write ? "unsnarl_write" : "unsnarl_read", word, address,
			   argument64(weave, call, extent->size));
		break;
	case EXTENT_PRODUCT:
		call_range(weave, "unsnarl_read", word, address,
			   LLVMBuildMul(weave->builder, argument64(weave, call, extent->size),
					argument64(weave, call, extent->second), ""));
		break;
	case EXTENT_STRING:
		call_range(weave, "unsnarl_read_string", word, address, number64(weave, UINT64_MAX));
		break;
	case EXTENT_STRING_MOST:
		call_range(weave, "unsnarl_read_string", word, address,
			   argument64(weave, call, extent->size));
		break;
	case EXTENT_APPENDED:
		address = string_end(weave, access->pointer, address);
		/* fall through */
	case EXTENT_AS_STRING:
		call_range(weave, "unsnarl_write_string", word, address,
			   argument64(weave, call, extent->size));
		break;
	case EXTENT_FIXED:
		call_range(weave, write ? "unsnarl_write" : "unsnarl_read", word, address,
			   number64(weave, extent->size));
		break;
	case EXTENT_BLOCK:
		call_range(weave, "unsnarl_free", word, address, number64(weave, 0));
		break;
	case EXTENT_RESULT:
	case EXTENT_FOUND:
	case EXTENT_PRINTED:
		hook_afterwards(weave, access, word, address);
		break;
	}
}

/* A memory intrinsic of a small constant size is as good as a load or store. */
static bool fixed_extent(struct access *access)
{
	const struct extent *extent = access->extent;
	if (extent->kind != EXTENT_ARGUMENT || !LLVMIsAMemIntrinsic(access->instruction))
		return false;
	LLVMValueRef size = LLVMGetOperand(access->instruction, extent->size);
	if (!LLVMIsAConstantInt(size) || LLVMConstIntGetZExtValue(size) > 32)
		return false;
	static unsigned align;
	if (!align)
		align = LLVMGetEnumAttributeKindForName("align", 5);
	LLVMAttributeRef known =
		LLVMGetCallSiteEnumAttribute(access->instruction, extent->pointer + 1u, align);
	access->size = (uint32_t)LLVMConstIntGetZExtValue(size);
	access->alignment = known ? (uint32_t)LLVMGetEnumAttributeValue(known) : 1;
	return access->size > 0;
}

void weave_access(struct weave *weave, const struct access *access)
{
	uint32_t site = weave_site(weave, access->instruction, access->kind, access->size, access->pointer);
	weave_before(weave, access->instruction);
	LLVMValueRef address = LLVMBuildPtrToInt(weave->builder, access->pointer, weave->i64, "");
	if (access->called) {
		call_unit(weave, access, site, address);
		return;
	}
	if (access->starts)
		start_stretch(weave, access);
	struct access fixed = *access;
	if (access->extent && fixed_extent(&fixed))
		hook_plain(weave, &fixed, access->kind == SITE_WRITE, site, address);
	else if (access->extent)
		hook_extent(weave, access, site, address);
	else if (access->kind == SITE_UPDATE)
		hook_update(weave, access, site, address);
	else
		hook_plain(weave, access, access->kind == SITE_WRITE, site, address);
}

/* ---- stack variables ---- */

void weave_variables(struct weave *weave)
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
					     number64(weave, size) };
		call_cold(weave, "unsnarl_fresh", weave->fresh_type, arguments, 2);
	}
}
