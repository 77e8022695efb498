/* Is an access one to an element of a buffer, one of many alike, rather than to a
 * variable or a member of its own? Then the runtime need not keep the granule's bytes
 * apart from the start. Only a hint: what is observed is the same either way, but
 * for the orders within one granule. */
#include "loom/compile/transform.h"

#define MOST_STEPS 16

/* How far apart neighbours lie that the last index of this address tells apart; 0 = it is constant. */
static uint64_t stride_of(LLVMTargetDataRef layout, LLVMValueRef address)
{
	unsigned last = (unsigned)LLVMGetNumOperands(address) - 1;
	if (LLVMIsAConstantInt(LLVMGetOperand(address, last)))
		return 0;
	LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
	for (unsigned i = 2; i <= last; i++) {
		if (LLVMGetTypeKind(type) != LLVMArrayTypeKind)
			return UINT64_MAX; /* a structure on the way */
		type = LLVMGetElementType(type);
	}
	return LLVMABISizeOfType(layout, type);
}

/* A pointer that moves on by small steps from turn to turn. */
static bool walks(LLVMTargetDataRef layout, LLVMValueRef phi, uint64_t most)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
		LLVMValueRef next = LLVMGetIncomingValue(phi, i);
		for (int steps = 0; steps < MOST_STEPS && LLVMIsAGetElementPtrInst(next); steps++) {
			uint64_t size = LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(next));
			if (LLVMGetOperand(next, 0) == phi && LLVMGetNumOperands(next) == 2 && size <= most)
				return true;
			next = LLVMGetOperand(next, 0);
		}
	}
	return false;
}

bool element_is(LLVMTargetDataRef layout, LLVMValueRef pointer, uint64_t most)
{
	for (int steps = 0; steps < MOST_STEPS; steps++) {
		if (LLVMIsAPHINode(pointer))
			return walks(layout, pointer, most);
		if (!LLVMIsAGetElementPtrInst(pointer))
			return false;
		uint64_t stride = stride_of(layout, pointer);
		if (stride)
			return stride <= most;
		pointer = LLVMGetOperand(pointer, 0);
	}
	return false;
}
