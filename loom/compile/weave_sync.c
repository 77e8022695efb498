/* Sites of synchronisation calls: while one goes on, its number is in the thread's
 * `sync`, so that the runtime's own pthread_mutex_lock knows where it was called.
 * The C++ library's headers make such calls for the program; a person looks for
 * the line of the program from which they came, so sites stand there, at the
 * outermost call into the headers that may synchronise, and not inside. */
#include "loom/compile/weave.h"

#include <llvm-c/DebugInfo.h> /* subprograms */
#include <stddef.h>

#include "loom/runtime/observe/layout.h"

static uint64_t key(const void *function)
{
	return (uint64_t)(uintptr_t)function;
}

/* The function that `instruction` calls by name, NULL when there is none. */
static LLVMValueRef called(LLVMValueRef instruction)
{
	if (!LLVMIsACallInst(instruction) && !LLVMIsAInvokeInst(instruction))
		return NULL;
	LLVMValueRef callee = LLVMGetCalledValue(instruction);
	return LLVMIsAFunction(callee) ? callee : NULL;
}

static bool in_library(const struct weave *weave, LLVMValueRef function)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	return subprogram && source_in_library(&weave->source, subprogram);
}

/* ---- which functions of the library's headers synchronise ---- */

struct call_edge {
	LLVMValueRef caller, callee;
};
struct call_edges {
	VEC(struct call_edge) list;
};

static void note_calls(struct weave *weave, LLVMValueRef function, struct call_edges *edges)
{
	char name[256];
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee = called(i);
			if (!callee)
				continue;
			if (syncs_find(callee, name))
				map_put(&weave->reaching, key(function), NULL);
			else if (!LLVMIsDeclaration(callee))
				*VEC_PUSH(&edges->list) = (struct call_edge){ function, callee };
		}
}

/* Functions of the headers that call one that synchronises, directly or through others of them. */
void weave_syncs_start(struct weave *weave)
{
	struct call_edges edges = { 0 };
	for (LLVMValueRef f = LLVMGetFirstFunction(weave->module); f; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f) && in_library(weave, f))
			note_calls(weave, f, &edges);
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < edges.list.n; i++)
			if (map_get(&weave->reaching, key(edges.list.items[i].callee))) {
				bool fresh;
				map_put(&weave->reaching, key(edges.list.items[i].caller), &fresh);
				more |= fresh;
			}
	}
	VEC_FREE(&edges.list);
}

/* ---- sites ---- */

/* What a person calls the function that `instruction` calls, if that synchronises. */
static bool synchronises(const struct weave *weave, LLVMValueRef instruction, char name[256])
{
	LLVMValueRef callee = called(instruction);
	if (!callee)
		return false;
	if (syncs_find(callee, name))
		return true;
	if (!map_get(&weave->reaching, key(callee)))
		return false;
	source_full_name(&weave->source, LLVMGetSubprogram(callee), name);
	return true;
}

void weave_syncs_collect(struct weave *weave)
{
	char name[256], inlined[256], scratch[4096];
	struct site site;
	weave->syncs.n = 0;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(weave->function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (synchronises(weave, i, name) &&
			    source_caller(&weave->source, i, &site, scratch, inlined))
				*VEC_PUSH(&weave->syncs) = i;
}

/* Ordinals of their own: the ids of accesses do not depend on the calls between them. */
static uint32_t add_site(struct weave *weave, LLVMValueRef call, uint32_t ordinal)
{
	char scratch[4096], name[256], inlined[256];
	struct site site = { .kind = SITE_SYNC };
	synchronises(weave, call, name);
	source_caller(&weave->source, call, &site, scratch, inlined);
	site.variable = inlined[0] ? inlined : name;
	size_t length;
	uint32_t identity[2] = { ordinal, SITE_SYNC };
	site.id = hash_string(weave->source.unit, LLVMGetValueName2(weave->function, &length));
	site.id = hash_bytes(site.id, identity, sizeof identity);
	return table_add(&weave->table, &site);
}

static LLVMValueRef field_place(struct weave *weave, size_t field)
{
	LLVMValueRef offset = LLVMConstInt(weave->i64, field, 0);
	return LLVMBuildInBoundsGEP2(weave->builder, weave->i8, weave->self, &offset, 1, "");
}

/* The number of the unit's first site is the upper half of a word in its descriptor. */
static void store_number(struct weave *weave, LLVMValueRef call, uint32_t index, size_t field)
{
	LLVMValueRef offset = LLVMConstInt(weave->i64, offsetof(struct unit_descriptor, first) + 4, 0);
	weave_before(weave, call);
	LLVMValueRef from =
		LLVMBuildInBoundsGEP2(weave->builder, weave->i8, weave->descriptor, &offset, 1, "");
	LLVMValueRef first = LLVMBuildLoad2(weave->builder, weave->i32, from, "");
	LLVMValueRef number = LLVMBuildAdd(weave->builder, first, LLVMConstInt(weave->i32, index, 0), "");
	LLVMBuildStore(weave->builder, number, field_place(weave, field));
}

LLVMValueRef weave_behind(LLVMValueRef call)
{
	if (!LLVMIsAInvokeInst(call))
		return LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail ? NULL
									     : LLVMGetNextInstruction(call);
	LLVMBasicBlockRef block = LLVMGetNormalDest(call);
	LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
	if (LLVMGetNextUse(use))
		return NULL;
	LLVMValueRef first = LLVMGetFirstInstruction(block);
	while (LLVMIsAPHINode(first))
		first = LLVMGetNextInstruction(first);
	return first;
}

/* What synchronises later without a site, in a library without hooks, must not be taken for this call. */
static void clear_number(struct weave *weave, LLVMValueRef call, size_t field)
{
	LLVMValueRef behind = weave_behind(call);
	if (!behind)
		return;
	weave_before(weave, behind);
	LLVMBuildStore(weave->builder, LLVMConstInt(weave->i32, 0, 0), field_place(weave, field));
}

void weave_number(struct weave *weave, LLVMValueRef call, uint32_t index, size_t field)
{
	store_number(weave, call, index, field);
	clear_number(weave, call, field);
}

void weave_syncs(struct weave *weave)
{
	for (uint32_t i = 0; i < weave->syncs.n; i++) {
		LLVMValueRef call = weave->syncs.items[i];
		weave_number(weave, call, add_site(weave, call, i), offsetof(struct thread, sync));
	}
}
