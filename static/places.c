/* Addresses as base, constant offset and at most one variable index. */
#include "static/threads.h"

static bool take_step(const struct whole *whole, LLVMValueRef step, struct place *place)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(step);
	int n = LLVMGetNumOperands(step);

	for (int i = 1; i < n; i++) {
		LLVMValueRef index = LLVMGetOperand(step, (unsigned)i);
		uint64_t stride;

		if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);

			place->offset += (int64_t)LLVMOffsetOfElement(whole->layout, type, field);
			type = LLVMStructGetTypeAtIndex(type, field);
			continue;
		}
		if (i > 1)
			type = LLVMGetElementType(type);
		stride = LLVMABISizeOfType(whole->layout, type);
		if (LLVMIsAConstantInt(index)) {
			place->offset += LLVMConstIntGetSExtValue(index) * (int64_t)stride;
		} else if (place->index) {
			return false;
		} else {
			place->index = index;
			place->stride = stride;
		}
	}
	return true;
}

bool place_of(const struct whole *whole, LLVMValueRef pointer, struct place *out)
{
	*out = (struct place){ 0 };
	for (int depth = 0; depth < 32; depth++) {
		bool step =
			LLVMIsAGetElementPtrInst(pointer) ||
			(LLVMIsAConstantExpr(pointer) && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr);

		if (!step) {
			out->base = pointer;
			return true;
		}
		if (!take_step(whole, pointer, out))
			return false;
		pointer = LLVMGetOperand(pointer, 0);
	}
	return false;
}

uint32_t place_left_of_array(const struct whole *whole, const struct place *place)
{
	LLVMTypeRef type = LLVMIsAGlobalVariable(place->base) ? LLVMGlobalGetValueType(place->base)
			   : LLVMIsAAllocaInst(place->base)   ? LLVMGetAllocatedType(place->base)
							      : NULL;
	uint64_t offset = (uint64_t)place->offset;

	while (type && place->offset >= 0 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
		if (offset >= LLVMABISizeOfType(whole->layout, type))
			return 0;
		unsigned field = LLVMElementAtOffset(whole->layout, type, offset);

		offset -= LLVMOffsetOfElement(whole->layout, type, field);
		type = LLVMStructGetTypeAtIndex(type, field);
	}
	if (!type || place->offset < 0 || LLVMGetTypeKind(type) != LLVMArrayTypeKind)
		return 0;
	uint64_t size = LLVMABISizeOfType(whole->layout, type);

	return offset < size && size - offset < INT32_MAX ? (uint32_t)(size - offset) : 0;
}

/* What the creation of a root gives its function; NULL when it is not known. */
static LLVMValueRef given_to(const struct threads *threads, const struct root *root)
{
	const struct call *call =
		root->create == WHOLE_NONE ? NULL : points_call(threads->points, root->create);

	if (!call || call->library.n != 1 || call->library.items[0]->role != LIBRARY_CREATE)
		return NULL;
	return LLVMGetOperand(threads->points->whole->instructions.items[root->create],
			      (unsigned)call->library.items[0]->c);
}

bool place_in_root(const struct threads *threads, LLVMValueRef pointer, uint32_t function, uint32_t number,
		   struct place *out)
{
	const struct whole *whole = threads->points->whole;
	const struct root *root = &threads->roots[number];
	struct place given;

	if (!place_of(whole, pointer, out))
		return false;
	LLVMValueRef of = whole->functions.items[function], argument = given_to(threads, root);

	/* A function that is called besides gets other arguments as well. */
	if (function != root->function || !argument || !LLVMCountParams(of) ||
	    out->base != LLVMGetParam(of, 0) || threads->called[function])
		return true;
	if (!place_of(whole, argument, &given) || (given.index && out->index))
		return true;
	out->base = given.base;
	out->offset += given.offset;
	if (given.index) {
		out->index = given.index;
		out->stride = given.stride;
	}
	return true;
}

/* A variable of its own, which no other pointer's base can be. */
static bool is_variable(LLVMValueRef base)
{
	return LLVMIsAAllocaInst(base) || LLVMIsAGlobalVariable(base);
}

bool places_apart(const struct place *a, uint32_t a_size, const struct place *b, uint32_t b_size)
{
	if (a->base != b->base)
		return is_variable(a->base) && is_variable(b->base);
	if (a->index || b->index || a->offset == b->offset)
		return false;
	return a->offset < b->offset ? a_size && a->offset + a_size <= b->offset
				     : b_size && b->offset + b_size <= a->offset;
}
