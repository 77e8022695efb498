/* Accesses that library calls make: of a size that an argument, a string or the result
 * of the call tells. */
#include "loom/compile/weave.h"

#include <llvm-c/DebugInfo.h>

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

/* How many characters a call of the printf family wrote, its result and its limit being known. */
static LLVMValueRef printed_size(struct weave *weave, LLVMValueRef call, LLVMValueRef most)
{
	LLVMValueRef count = LLVMBuildSExtOrBitCast(weave->builder, call, weave->i64, "");
	LLVMValueRef size = LLVMBuildAdd(weave->builder, count, weave_constant(weave, 1), "");
	LLVMValueRef fits = LLVMBuildICmp(weave->builder, LLVMIntULT, size, most, "");
	LLVMValueRef good = LLVMBuildICmp(weave->builder, LLVMIntSGE, count, weave_constant(weave, 0), "");
	size = LLVMBuildSelect(weave->builder, fits, size, most, "");
	return LLVMBuildSelect(weave->builder, good, size, weave_constant(weave, 0), "");
}

/* How many bytes a call of the read family wrote. */
static LLVMValueRef counted_size(struct weave *weave, LLVMValueRef call, LLVMValueRef unit)
{
	LLVMValueRef count = LLVMBuildSExtOrBitCast(weave->builder, call, weave->i64, "");
	LLVMValueRef some = LLVMBuildICmp(weave->builder, LLVMIntSGT, count, weave_constant(weave, 0), "");
	count = LLVMBuildSelect(weave->builder, some, count, weave_constant(weave, 0), "");
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
	if (extent->kind == EXTENT_PRINTED)
		size = printed_size(weave, call, limited ? argument : weave_constant(weave, UINT64_MAX));
	else
		size = counted_size(weave, call, limited ? argument : weave_constant(weave, 1));
	weave_range(weave, extent->access == SITE_WRITE ? "unsnarl_write" : "unsnarl_read", word, address,
		    size);
}

/* Where the string at `address` ends. */
static LLVMValueRef string_end(struct weave *weave, LLVMValueRef pointer, LLVMValueRef address)
{
	LLVMTypeRef type = LLVMFunctionType(weave->i64, &weave->pointer, 1, 0);
	LLVMValueRef length = LLVMBuildCall2(weave->builder, type,
					     weave_function_named(weave, "strlen", type), &pointer, 1, "");
	return LLVMBuildAdd(weave->builder, address, length, "");
}

/* How many bytes the call has to read for its answer. The runtime looks for the same before the call does, so
 * that the access is seen before it is made. */
static LLVMValueRef reach_size(struct weave *weave, LLVMValueRef call, enum extent_reach reach)
{
	static const char *const names[] = {
		[REACH_CHARACTER] = "unsnarl_reach_character",
		[REACH_BYTE] = "unsnarl_reach_byte",
		[REACH_SURE_BYTE] = "unsnarl_reach_sure_byte",
		[REACH_BLOCK] = "unsnarl_reach_block",
		[REACH_WORD] = "unsnarl_reach_word",
		[REACH_CASE_WORD] = "unsnarl_reach_case_word",
		[REACH_ANY_OF] = "unsnarl_reach_any_of",
		[REACH_NONE_OF] = "unsnarl_reach_none_of",
		[REACH_DIFFERENCE] = "unsnarl_reach_difference",
		[REACH_DIFFERENCE_MOST] = "unsnarl_reach_difference_most",
		[REACH_CASE_DIFFERENCE] = "unsnarl_reach_case_difference",
		[REACH_CASE_DIFFERENCE_MOST] = "unsnarl_reach_case_difference_most",
		[REACH_DECIMAL] = "unsnarl_reach_decimal",
		[REACH_NUMBER] = "unsnarl_reach_number",
		[REACH_REAL] = "unsnarl_reach_real",
	};
	LLVMValueRef arguments[4];
	LLVMTypeRef types[4];
	unsigned n = LLVMGetNumArgOperands(call) < 4 ? LLVMGetNumArgOperands(call) : 4;

	for (unsigned i = 0; i < n; i++) {
		arguments[i] = argument64(weave, call, (uint8_t)i);
		types[i] = weave->i64;
	}
	LLVMTypeRef type = LLVMFunctionType(weave->i64, types, n, 0);
	return LLVMBuildCall2(weave->builder, type, weave_function_named(weave, names[reach], type),
			      arguments, n, "");
}

/* The access of a library call; its size may depend on strings or on the result. */
void weave_extent(struct weave *weave, const struct access *access, LLVMValueRef word, LLVMValueRef address)
{
	const struct extent *extent = access->extent;
	LLVMValueRef call = access->instruction;
	bool write = extent->access == SITE_WRITE;
	switch (extent->kind) {
	case EXTENT_ARGUMENT:
		weave_range(weave, write ? "unsnarl_write" : "unsnarl_read", word, address,
			    argument64(weave, call, extent->size));
		break;
	case EXTENT_PRODUCT:
		weave_range(weave, "unsnarl_read", word, address,
			    LLVMBuildMul(weave->builder, argument64(weave, call, extent->size),
					 argument64(weave, call, extent->second), ""));
		break;
	case EXTENT_STRING:
		weave_range(weave, "unsnarl_read_string", word, address, weave_constant(weave, UINT64_MAX));
		break;
	case EXTENT_STRING_MOST:
		weave_range(weave, "unsnarl_read_string", word, address,
			    argument64(weave, call, extent->size));
		break;
	case EXTENT_START:
		weave_range(weave, "unsnarl_read_start", word, address,
			    extent->size == EXTENT_NO_ARGUMENT ? weave_constant(weave, UINT64_MAX)
							       : argument64(weave, call, extent->size));
		break;
	case EXTENT_REACH:
		weave_range(weave, "unsnarl_read", word, address,
			    reach_size(weave, call, (enum extent_reach)extent->size));
		break;
	case EXTENT_APPENDED:
		address = string_end(weave, access->pointer, address);
		/* fall through */
	case EXTENT_AS_STRING:
		weave_range(weave, "unsnarl_write_string", word, address,
			    argument64(weave, call, extent->size));
		break;
	case EXTENT_FIXED:
		weave_range(weave, write ? "unsnarl_write" : "unsnarl_read", word, address,
			    weave_constant(weave, extent->size));
		break;
	case EXTENT_BLOCK:
		weave_range(weave, "unsnarl_free", word, address, weave_constant(weave, 0));
		break;
	case EXTENT_RESULT:
	case EXTENT_PRINTED:
		hook_afterwards(weave, access, word, address);
		break;
	}
}

/* A memory intrinsic of a small constant size is as good as a load or store. */
bool weave_extent_is_fixed(struct access *access)
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
