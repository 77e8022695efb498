/* The end of a unit: its site table in a section of its own, its descriptor, and a
 * constructor that announces it before any other code of the image runs. */
#include "loom/compile/weave.h"

#include <stdlib.h>
#include <string.h>

#include "model/unit_format.h"

#define CONSTRUCTOR_PRIORITY 1

static LLVMValueRef add_table(struct weave *weave, uint64_t *hash)
{
	uint32_t size;
	char *bytes = table_bytes(&weave->table, &size, hash);
	LLVMValueRef data = LLVMConstStringInContext2(weave->context, bytes, size, 1);
	free(bytes);
	LLVMValueRef table = LLVMAddGlobal(weave->module, LLVMTypeOf(data), "unsnarl_table");
	LLVMSetInitializer(table, data);
	LLVMSetGlobalConstant(table, 1);
	LLVMSetLinkage(table, LLVMInternalLinkage);
	LLVMSetSection(table, UNIT_SECTION);
	LLVMSetAlignment(table, 16);
	return table;
}

/* Appends a function to the module's constructors. */
static void add_constructor(struct weave *weave, LLVMValueRef function)
{
	LLVMTypeRef fields[] = { weave->i32, weave->pointer, weave->pointer };
	LLVMTypeRef entry = LLVMStructTypeInContext(weave->context, fields, 3, 0);
	LLVMValueRef old = LLVMGetNamedGlobal(weave->module, "llvm.global_ctors");
	LLVMValueRef list = old ? LLVMGetInitializer(old) : NULL;
	unsigned n = list ? (unsigned)LLVMGetNumOperands(list) : 0;
	LLVMValueRef *all = memory_alloc((n + 1) * sizeof *all);
	for (unsigned i = 0; i < n; i++)
		all[i] = LLVMGetOperand(list, i);
	LLVMValueRef values[] = { LLVMConstInt(weave->i32, CONSTRUCTOR_PRIORITY, 0), function,
				  LLVMConstNull(weave->pointer) };
	all[n] = LLVMConstStructInContext(weave->context, values, 3, 0);
	LLVMValueRef data = LLVMConstArray2(entry, all, n + 1);
	free(all);
	if (old)
		LLVMDeleteGlobal(old);
	LLVMValueRef fresh = LLVMAddGlobal(weave->module, LLVMTypeOf(data), "llvm.global_ctors");
	LLVMSetInitializer(fresh, data);
	LLVMSetLinkage(fresh, LLVMAppendingLinkage);
}

static LLVMValueRef announcing_function(struct weave *weave)
{
	LLVMTypeRef none = LLVMFunctionType(weave->nothing, NULL, 0, 0);
	LLVMTypeRef one = LLVMFunctionType(weave->nothing, &weave->pointer, 1, 0);
	LLVMValueRef function = LLVMAddFunction(weave->module, "unsnarl_announce", none);
	LLVMSetLinkage(function, LLVMInternalLinkage);
	LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(weave->context, function, "");
	LLVMPositionBuilderAtEnd(weave->builder, block);
	LLVMSetCurrentDebugLocation2(weave->builder, NULL);
	LLVMValueRef runtime = LLVMAddFunction(weave->module, "unsnarl_unit", one);
	LLVMBuildCall2(weave->builder, one, runtime, &weave->descriptor, 1, "");
	LLVMBuildRetVoid(weave->builder);
	return function;
}

void weave_finish(struct weave *weave)
{
	LLVMDisposeBuilder(weave->builder);
	weave->builder = LLVMCreateBuilderInContext(weave->context);
	if (weave->table.sites.n) {
		uint64_t hash;
		LLVMValueRef table = add_table(weave, &hash);
		LLVMValueRef fields[] = { LLVMConstInt(weave->i64, hash, 0),
					  LLVMConstInt(weave->i64, weave->table.sites.n, 0),
					  LLVMConstInt(weave->i64, 0, 0), table };
		LLVMSetInitializer(weave->descriptor, LLVMConstStructInContext(weave->context, fields, 4, 0));
		add_constructor(weave, announcing_function(weave));
	}
	if (!weave->table.sites.n) {
		LLVMDeleteGlobal(weave->descriptor);
		LLVMDeleteGlobal(weave->self_global);
	}
	LLVMDisposeBuilder(weave->builder);
}
