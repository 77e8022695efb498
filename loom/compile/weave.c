/* Hooks of accesses: the word of the event, its mark and memo, and the call that fits
 * size and alignment. */
#include "loom/compile/weave.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "loom/runtime/observe/layout.h"

#define PRESERVE_MOST 14 /* LLVM's number of the calling convention */

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
	LLVMTypeRef hook[] = { weave->pointer, weave->i64,     weave->i64, weave->i64, weave->i64, weave->i64,
			       weave->pointer, weave->pointer, weave->i64, weave->i64, weave->i64 };
	LLVMTypeRef numbers[] = { weave->i64, weave->i64, weave->i64 };
	LLVMTypeRef loop[] = { weave->pointer, weave->i64, weave->i64 };
	weave->hook_type = LLVMFunctionType(weave->nothing, hook, 8, 0);
	weave->called_type = LLVMFunctionType(weave->nothing, numbers, 2, 0);
	weave->range_type = LLVMFunctionType(weave->nothing, numbers, 3, 0);
	weave->fresh_type = LLVMFunctionType(weave->nothing, numbers, 2, 0);
	weave->loop_type = LLVMFunctionType(weave->nothing, loop, 3, 0);
	weave->group_type = LLVMFunctionType(weave->i64, hook, 11, 0);
	LLVMTypeRef alone[] = { weave->pointer, weave->i64, weave->i64, weave->i64, weave->i64, weave->i64 };
	weave->alone_type = LLVMFunctionType(weave->nothing, alone, 6, 0);
	weave->wait_type = LLVMFunctionType(weave->nothing, alone, 1, 0);

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
	LLVMValueRef index = weave_constant(weave, offset);
	return LLVMBuildInBoundsGEP2(weave->builder, weave->i8, base, &index, 1, "");
}

LLVMValueRef weave_field(struct weave *weave, LLVMTypeRef type, size_t offset, const char *name)
{
	return LLVMBuildLoad2(weave->builder, type, at_offset(weave, weave->self, offset), name);
}

/* What there is for each site, `size` bytes each, from the unit's first site on. */
static LLVMValueRef for_sites(struct weave *weave, LLVMValueRef all, size_t size, const char *name)
{
	LLVMValueRef distance = LLVMBuildMul(weave->builder, weave->first, weave_constant(weave, size), "");
	return LLVMBuildInBoundsGEP2(weave->builder, weave->i8, all, &distance, 1, name);
}

/* What cells of this form begin with that are private to the thread: the owner. */
static LLVMValueRef private_cells(struct weave *weave, uint64_t form, const char *name)
{
	return LLVMBuildOr(weave->builder, weave->tag, weave_constant(weave, (form | FORM_PRIVATE) << 50),
			   name);
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
	weave->first = LLVMBuildLShr(weave->builder, first_site, weave_constant(weave, WORD_SITE_SHIFT),
				     "unsnarl.first");
	weave->halves = private_cells(weave, FORM_HALF, "unsnarl.halves");
	weave->wholes = private_cells(weave, FORM_WHOLE, "unsnarl.wholes");
	LLVMValueRef marks = LLVMConstIntToPtr(weave_constant(weave, MARKS_START), weave->pointer);
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
	return LLVMBuildAdd(weave->builder, weave->order, weave_constant(weave, ++weave->order_used), "");
}

/* The next event word: thread, site, low half of the thread-local order. */
static LLVMValueRef event_word(struct weave *weave, uint32_t site)
{
	LLVMValueRef low =
		LLVMBuildAnd(weave->builder, next_order(weave), weave_constant(weave, 0xffffffffu), "");
	LLVMValueRef base = LLVMBuildAdd(weave->builder, weave->word,
					 weave_constant(weave, (uint64_t)site << WORD_SITE_SHIFT), "");
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
					  weave_constant(weave, orders_in_stretch(weave, access)), "");
	LLVMBuildStore(weave->builder, after, place);
}

LLVMValueRef weave_function_named(struct weave *weave, const char *name, LLVMTypeRef type)
{
	LLVMValueRef function = LLVMGetNamedFunction(weave->module, name);
	return function ? function : LLVMAddFunction(weave->module, name, type);
}

/* Calls a function of the runtime that spills no registers. */
static void call_cold(struct weave *weave, const char *name, LLVMTypeRef type, LLVMValueRef *arguments,
		      unsigned n)
{
	LLVMValueRef function = weave_function_named(weave, name, type);
	LLVMSetFunctionCallConv(function, PRESERVE_MOST);
	LLVMValueRef call = LLVMBuildCall2(weave->builder, type, function, arguments, n, "");
	LLVMSetInstructionCallConv(call, PRESERVE_MOST);
}

/* An access of a size that no memo is for. */
void weave_range(struct weave *weave, const char *name, LLVMValueRef word, LLVMValueRef address,
		 LLVMValueRef size)
{
	call_cold(weave, name, weave->range_type, (LLVMValueRef[]){ word, address, size }, 3);
}

static LLVMValueRef number_of(struct weave *weave, uint32_t site)
{
	return LLVMBuildAdd(weave->builder, weave->first, weave_constant(weave, site), "");
}

static LLVMValueRef memo_of(struct weave *weave, uint32_t site)
{
	return at_offset(weave, weave->memos, site * MEMOS_PER_SITE * sizeof(struct memo));
}

static void call_hook(struct weave *weave, bool write, uint32_t size, uint32_t site, LLVMValueRef order,
		      LLVMValueRef address)
{
	char name[64];
	snprintf(name, sizeof name, "unsnarl_hook_%s%u", write ? "write" : "read", size);
	LLVMValueRef arguments[] = {
		weave->self, weave->tag, size == 4 ? weave->halves : weave->wholes, number_of(weave, site),
		order,       address,    at_offset(weave, weave->marks, site),      memo_of(weave, site),
	};
	LLVMBuildCall2(weave->builder, weave->hook_type, weave_function_named(weave, name, weave->hook_type),
		       arguments, 8, "");
}

/* A call that does it all. */
static void call_unit(struct weave *weave, const struct access *access, uint32_t site, LLVMValueRef address)
{
	bool element = access->size <= 2 && element_is(weave->layout, access->pointer, 2);
	char name[64];
	snprintf(name, sizeof name, "unsnarl_%s%s%u", element ? "element_" : "",
		 access->kind == SITE_WRITE ? "write" : "read", access->size);
	call_cold(weave, name, weave->called_type, (LLVMValueRef[]){ address, number_of(weave, site) }, 2);
}

/* A read or a write of `size` bytes, known now. */
static void hook_plain(struct weave *weave, const struct access *access, bool write, uint32_t site,
		       LLVMValueRef address)
{
	uint32_t part = access->alignment >= 8 && access->size % 8 == 0 ? 8 : 4;
	if (access->size % part != 0 || access->size > 4 * part || access->alignment < part) {
		weave_range(weave, write ? "unsnarl_write" : "unsnarl_read", event_word(weave, site), address,
			    weave_constant(weave, access->size));
		return;
	}
	LLVMValueRef order = next_order(weave);
	for (uint32_t at = 0, length; at < access->size; at += length) {
		LLVMValueRef place =
			at ? LLVMBuildAdd(weave->builder, address, weave_constant(weave, at), "") : address;
		uint32_t left = access->size - at;
		length = part == 4 ? 4 : left >= 32 ? 32 : left >= 16 ? 16 : 8;
		call_hook(weave, write, length, site, order, place);
	}
}

/* An atomic read-modify-write: the read before it, the write after it, and only if it took place. */
static void hook_update(struct weave *weave, const struct access *access, uint32_t site, LLVMValueRef address)
{
	hook_plain(weave, access, false, site, address);
	LLVMValueRef word = event_word(weave, site), size = weave_constant(weave, access->size);
	LLVMValueRef next = LLVMGetNextInstruction(access->instruction);
	weave_before(weave, next);
	LLVMSetCurrentDebugLocation2(weave->builder, LLVMInstructionGetDebugLoc(access->instruction));
	if (LLVMIsAAtomicCmpXchgInst(access->instruction)) {
		LLVMValueRef done = LLVMBuildExtractValue(weave->builder, access->instruction, 1, "");
		size = LLVMBuildSelect(weave->builder, done, size, weave_constant(weave, 0), "");
	}
	weave_range(weave, "unsnarl_write", word, address, size); /* mark and memo are the read's */
}

/* ---- groups ---- */

static LLVMValueRef address_of(struct weave *weave, const struct access *access)
{
	LLVMValueRef base = LLVMBuildPtrToInt(weave->builder, access->base, weave->i64, "");
	return LLVMBuildAdd(weave->builder, base, weave_constant(weave, (uint64_t)access->offset), "");
}

/* Do two accesses or groups not overlap? */
static LLVMValueRef are_apart(struct weave *weave, const struct access *a, const struct access *b)
{
	LLVMBuilderRef builder = weave->builder;
	uint64_t size = (uint64_t)a->size * a->members, other = (uint64_t)b->size * b->members;
	LLVMValueRef distance = LLVMBuildSub(builder, address_of(weave, a), address_of(weave, b), "");
	LLVMValueRef moved = LLVMBuildAdd(builder, distance, weave_constant(weave, size - 1), "");
	return LLVMBuildICmp(builder, LLVMIntUGE, moved, weave_constant(weave, size + other - 1), "");
}

/* Before the first group of a stretch. */
static void start_groups(struct weave *weave, const struct stretch *stretch)
{
	const struct access *items = weave->accesses.items;
	weave->together = weave_constant(weave, 1);
	for (uint32_t i = 0; i < stretch->napart; i++) {
		LLVMValueRef apart =
			are_apart(weave, &items[stretch->apart[i].a], &items[stretch->apart[i].b]);
		weave->together =
			LLVMBuildSelect(weave->builder, apart, weave->together, weave_constant(weave, 0), "");
	}
	weave->next_grouped++;
}

/* The hook of a group, before its first access. */
static void call_group(struct weave *weave, const struct access *head, LLVMValueRef order)
{
	char name[64];
	snprintf(name, sizeof name, "unsnarl_hook_%ss%u", head->kind == SITE_WRITE ? "write" : "read",
		 head->size * head->members);
	LLVMValueRef arguments[] = { weave->self,
				     weave->tag,
				     weave->wholes,
				     number_of(weave, head->site),
				     order,
				     address_of(weave, head),
				     at_offset(weave, weave->marks, head->site),
				     memo_of(weave, head->site),
				     weave_constant(weave, head->size),
				     weave_constant(weave, head->step),
				     weave->together };
	weave->together =
		LLVMBuildCall2(weave->builder, weave->group_type,
			       weave_function_named(weave, name, weave->group_type), arguments, 11, "");
}

/* One access of a group. Where a later group is not quiet, what is left of this one is done once more: in the
 * context that is then. */
static void hook_member(struct weave *weave, uint32_t index, uint32_t site, LLVMValueRef address)
{
	const struct access *access = &weave->accesses.items[index];
	LLVMValueRef order = next_order(weave);
	if (weave->next_grouped < weave->grouped.n &&
	    index == weave->grouped.items[weave->next_grouped].first_head)
		start_groups(weave, &weave->grouped.items[weave->next_grouped]);
	if (access->members > 1)
		call_group(weave, access, order);
	LLVMValueRef arguments[] = { weave->self, weave->together, number_of(weave, site),
				     order,       address,         weave_constant(weave, access->size) };
	const char *name =
		access->kind == SITE_WRITE ? "unsnarl_hook_alone_write" : "unsnarl_hook_alone_read";
	LLVMBuildCall2(weave->builder, weave->alone_type,
		       weave_function_named(weave, name, weave->alone_type), arguments, 6, "");
}

void weave_access(struct weave *weave, uint32_t index)
{
	struct access *access = &weave->accesses.items[index], *head = &weave->accesses.items[access->head];
	if (access == head)
		head->site =
			weave_site(weave, access->instruction, access->kind, access->size, access->pointer);
	uint32_t site = head->site;
	weave_before(weave, access->instruction);
	LLVMValueRef address = LLVMBuildPtrToInt(weave->builder, access->pointer, weave->i64, "");
	if (access->called) {
		call_unit(weave, access, site, address);
		return;
	}
	if (access->starts)
		start_stretch(weave, access);
	if (head->members > 1) {
		hook_member(weave, index, site, address);
		return;
	}
	struct access fixed = *access;
	if (access->kind == SITE_UPDATE)
		hook_update(weave, access, site, address);
	else if (access->extent && weave_extent_is_fixed(&fixed))
		hook_plain(weave, &fixed, access->kind == SITE_WRITE, site, address);
	else if (access->extent)
		weave_extent(weave, access, event_word(weave, site), address);
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
					     weave_constant(weave, size) };
		call_cold(weave, "unsnarl_fresh", weave->fresh_type, arguments, 2);
	}
}
