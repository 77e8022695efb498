/* What a candidate's reads find is used: an address that is wrong makes the program crash
 * where it is followed, which a slice must not lose. Uses are followed forward, through
 * arithmetic and into functions, to the accesses and calls that follow an address. */
#include "static/slicer.h"

#define DEPTH 4 /* addresses read through addresses, and functions in functions */

struct uses {
	struct slicer *slicer;
	struct map seen; /* values that were followed */
};

static void follow(struct uses *uses, LLVMValueRef value, int depth);

/* Into the function that is called, by the parameter that gets the value; what has no body looks at it itself. */
static void follow_call(struct uses *uses, LLVMValueRef call, LLVMValueRef value, int depth)
{
	uint32_t number = whole_instruction(uses->slicer->whole, call);
	const struct call *known = points_call(uses->slicer->points, number);

	if (LLVMGetCalledValue(call) == value || !known || !known->callees.n) {
		if (slicer_weigh(uses->slicer, call) != CALL_PRINTS)
			slicer_keep(uses->slicer, number);
		return;
	}
	for (size_t c = 0; depth && c < known->callees.n; c++) {
		LLVMValueRef callee = uses->slicer->whole->functions.items[known->callees.items[c]];

		for (unsigned a = 0; a < whole_arguments(call) && a < LLVMCountParams(callee); a++)
			if (LLVMGetOperand(call, a) == value)
				follow(uses, LLVMGetParam(callee, a), depth - 1);
	}
}

static void follow_user(struct uses *uses, LLVMValueRef user, LLVMValueRef value, int depth)
{
	uint32_t number = whole_instruction(uses->slicer->whole, user);

	switch (LLVMGetInstructionOpcode(user)) {
	case LLVMLoad:
		slicer_keep(uses->slicer, number);
		if (depth)
			follow(uses, user, depth - 1);
		break;
	case LLVMStore: /* elsewhere it is only a value */
		if (LLVMGetOperand(user, 1) == value)
			slicer_keep(uses->slicer, number);
		break;
	case LLVMUDiv:
	case LLVMSDiv:
	case LLVMURem:
	case LLVMSRem:
		slicer_keep(uses->slicer, number);
		break;
	case LLVMICmp:
	case LLVMFCmp:
	case LLVMRet:
	case LLVMBr:
	case LLVMSwitch:
		break;
	default:
		if (whole_is_call(user))
			follow_call(uses, user, value, depth);
		else
			follow(uses, user, depth);
	}
}

static void follow(struct uses *uses, LLVMValueRef value, int depth)
{
	bool fresh;

	map_put(&uses->seen, whole_key(value), &fresh);
	if (!fresh)
		return;
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsAInstruction(user) && whole_instruction(uses->slicer->whole, user) != WHOLE_NONE)
			follow_user(uses, user, value, depth);
	}
}

void slicer_keep_uses(struct slicer *slicer, LLVMValueRef read)
{
	struct uses uses = { .slicer = slicer };

	follow(&uses, read, DEPTH);
	map_free(&uses.seen);
}
