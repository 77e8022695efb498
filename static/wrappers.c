/* Functions that return what an allocator gave them and show it to nobody else. A call
 * of one of them is a place of allocation of its own, else all lists and buffers of a
 * program that allocates through one function would be one object. */
#include "static/points.h"

#include <string.h>

#define STEPS_MOST 256

static bool is_allocation(const struct points *points, LLVMValueRef value)
{
	if (!LLVMIsAInstruction(value) || !whole_is_call(value))
		return false;
	LLVMValueRef callee = whole_callee(value);

	if (!callee)
		return false;
	if (!LLVMIsDeclaration(callee))
		return map_get(&points->wrappers, whole_key(callee)) != NULL;
	return library_find(whole_name(callee))->role == LIBRARY_ALLOCATE;
}

static bool is_harmless_call(LLVMValueRef call)
{
	LLVMValueRef callee = whole_callee(call);

	if (!callee || !LLVMIsDeclaration(callee))
		return false;
	const char *name = whole_name(callee);

	return strncmp(name, "llvm.", 5) == 0 || calls_find(call) != NULL ||
	       library_find(name)->role == LIBRARY_FREE;
}

/* Is the pointer used only as an address, in comparisons and on its way to the return? */
static bool stays_inside(LLVMValueRef pointer, struct map *visited)
{
	bool fresh;

	map_put(visited, whole_key(pointer), &fresh);
	if (!fresh)
		return true;
	if (visited->n > STEPS_MOST)
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsALoadInst(user) || LLVMIsAICmpInst(user) || LLVMIsAReturnInst(user))
			continue;
		if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != pointer)
			continue;
		if (LLVMIsAGetElementPtrInst(user) || LLVMIsAPHINode(user) || LLVMIsASelectInst(user)) {
			if (!stays_inside(user, visited))
				return false;
			continue;
		}
		if (!LLVMIsAInstruction(user) || !(LLVMIsACallInst(user) || LLVMIsAInvokeInst(user)) ||
		    !is_harmless_call(user))
			return false;
	}
	return true;
}

/* Does the value come from allocations alone? *found when there is one. */
static bool is_fresh(const struct points *points, LLVMValueRef value, struct map *visited, bool *found)
{
	bool fresh;

	if (LLVMIsAConstantPointerNull(value) || LLVMIsUndef(value))
		return true;
	map_put(visited, whole_key(value), &fresh);
	if (!fresh)
		return true;
	if (LLVMIsAPHINode(value)) {
		for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
			if (!is_fresh(points, LLVMGetIncomingValue(value, i), visited, found))
				return false;
		return true;
	}
	if (LLVMIsASelectInst(value))
		return is_fresh(points, LLVMGetOperand(value, 1), visited, found) &&
		       is_fresh(points, LLVMGetOperand(value, 2), visited, found);
	if (!is_allocation(points, value))
		return false;
	struct map uses = { 0 };
	bool inside = stays_inside(value, &uses);

	map_free(&uses);
	*found = true;
	return inside;
}

static bool is_wrapper(const struct points *points, LLVMValueRef function)
{
	struct map visited = { 0 };
	bool found = false, all = true;

	if (LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(function))) != LLVMPointerTypeKind)
		return false;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && all; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (end && LLVMIsAReturnInst(end))
			all = is_fresh(points, LLVMGetOperand(end, 0), &visited, &found);
	}
	map_free(&visited);
	return all && found;
}

void points_find_wrappers(struct points *points)
{
	const struct whole *whole = points->whole;

	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < whole->functions.n; i++) {
			LLVMValueRef function = whole->functions.items[i];

			if (map_get(&points->wrappers, whole_key(function)) || !is_wrapper(points, function))
				continue;
			map_put(&points->wrappers, whole_key(function), NULL);
			changed = true;
		}
	}
}
