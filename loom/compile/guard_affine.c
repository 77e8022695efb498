/* Loops of one block and what moves by constant steps in them, which LLVM's C
 * interface does not tell: how often such a loop still runs, and where an address
 * of it lies at the beginning of a turn.
 */
#include "loom/compile/guard_rows.h"

#define DEEPEST 12u /* operations between a turn's values and an address */
#define OPERANDS_MOST 8

static bool is_inside(LLVMBasicBlockRef loop, LLVMValueRef value)
{
	return LLVMIsAInstruction(value) && LLVMGetInstructionParent(value) == loop;
}

static bool constant(LLVMValueRef value, int64_t *out)
{
	if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
		return false;
	*out = LLVMConstIntGetSExtValue(value);
	return true;
}

static bool step_of(LLVMTargetDataRef layout, LLVMBasicBlockRef loop, LLVMValueRef value, unsigned depth,
		    int64_t *step);

/* May an addition, a subtraction, a product or a shift lose bits that an address would have kept? */
static bool may_wrap(LLVMValueRef value)
{
	return LLVMGetIntTypeWidth(LLVMTypeOf(value)) < 64 && !LLVMGetNUW(value) && !LLVMGetNSW(value);
}

/* A phi that a constant is added to in each turn, and that does not wrap where it is narrow. */
static bool step_of_phi(LLVMTargetDataRef layout, LLVMBasicBlockRef loop, LLVMValueRef phi, int64_t *step)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
		LLVMValueRef next = LLVMGetIncomingValue(phi, i);
		if (LLVMGetIncomingBlock(phi, i) != loop)
			continue;
		if (!is_inside(loop, next) || LLVMGetOperand(next, 0) != phi ||
		    LLVMGetNumOperands(next) != 2 || !constant(LLVMGetOperand(next, 1), step))
			return false;
		if (LLVMIsAGetElementPtrInst(next)) {
			*step *= (int64_t)LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(next));
			return true;
		}
		return LLVMGetInstructionOpcode(next) == LLVMAdd && !may_wrap(next);
	}
	return false;
}

static bool step_of_address(LLVMTargetDataRef layout, LLVMBasicBlockRef loop, LLVMValueRef address,
			    unsigned depth, int64_t *step)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
	int64_t index;
	if (LLVMGetNumOperands(address) > OPERANDS_MOST ||
	    LLVMGetTypeKind(LLVMTypeOf(address)) != LLVMPointerTypeKind ||
	    !step_of(layout, loop, LLVMGetOperand(address, 0), depth, step))
		return false;
	for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(address); i++) {
		if (i > 1 && LLVMGetTypeKind(type) == LLVMArrayTypeKind)
			type = LLVMGetElementType(type);
		else if (i > 1)
			return LLVMIsAConstantInt(LLVMGetOperand(address, i)) &&
			       i + 1 == (unsigned)LLVMGetNumOperands(address);
		if (!step_of(layout, loop, LLVMGetOperand(address, i), depth, &index))
			return false;
		*step += index * (int64_t)LLVMABISizeOfType(layout, type);
	}
	return true;
}

/* An operation without effects whose operands all stand still does so too. */
static bool stands_still(LLVMTargetDataRef layout, LLVMBasicBlockRef loop, LLVMValueRef value, unsigned depth)
{
	int64_t step;
	switch (LLVMGetInstructionOpcode(value)) {
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
	case LLVMLShr:
	case LLVMAShr:
	case LLVMShl:
	case LLVMMul:
	case LLVMTrunc:
		break;
	default:
		return false;
	}
	for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(value); i++)
		if (!step_of(layout, loop, LLVMGetOperand(value, i), depth, &step) || step)
			return false;
	return true;
}

/* One with a constant: a shift or a multiplication; an `or` that is an addition. */
static bool step_of_scaled(LLVMTargetDataRef layout, LLVMBasicBlockRef loop, LLVMValueRef value,
			   unsigned depth, int64_t *step)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
	int64_t by, other;
	if (opcode == LLVMOr)
		return LLVMGetIsDisjoint(value) &&
		       step_of(layout, loop, LLVMGetOperand(value, 0), depth, step) &&
		       step_of(layout, loop, LLVMGetOperand(value, 1), depth, &other) &&
		       !__builtin_add_overflow(*step, other, step);
	if ((opcode != LLVMMul && opcode != LLVMShl) || may_wrap(value) ||
	    !constant(LLVMGetOperand(value, 1), &by) ||
	    !step_of(layout, loop, LLVMGetOperand(value, 0), depth, step) ||
	    (opcode == LLVMShl && (by < 0 || by > 32)))
		return false;
	return !__builtin_mul_overflow(*step, opcode == LLVMShl ? (int64_t)1 << by : by, step);
}

static bool step_of(LLVMTargetDataRef layout, LLVMBasicBlockRef loop, LLVMValueRef value, unsigned depth,
		    int64_t *step)
{
	int64_t other;
	*step = 0;
	if (!is_inside(loop, value))
		return true;
	if (depth-- == 0)
		return false;
	switch (LLVMGetInstructionOpcode(value)) {
	case LLVMPHI:
		return step_of_phi(layout, loop, value, step);
	case LLVMGetElementPtr:
		return step_of_address(layout, loop, value, depth, step);
	case LLVMZExt:
	case LLVMSExt:
		return step_of(layout, loop, LLVMGetOperand(value, 0), depth, step);
	case LLVMAdd:
	case LLVMSub:
		return !may_wrap(value) && step_of(layout, loop, LLVMGetOperand(value, 0), depth, step) &&
		       step_of(layout, loop, LLVMGetOperand(value, 1), depth, &other) &&
		       !(LLVMGetInstructionOpcode(value) == LLVMAdd
				 ? __builtin_add_overflow(*step, other, step)
				 : __builtin_sub_overflow(*step, other, step));
	default:
		if (step_of_scaled(layout, loop, value, depth, step))
			return true;
		*step = 0;
		return stands_still(layout, loop, value, depth);
	}
}

bool affine_step(LLVMTargetDataRef layout, LLVMBasicBlockRef loop, LLVMValueRef value, int64_t *step)
{
	return step_of(layout, loop, value, DEEPEST, step);
}

/* ---- the loop ---- */

/* May it wait for others, or say to them how far it is? */
bool affine_may_synchronise(LLVMValueRef instruction)
{
	if (LLVMIsACallInst(instruction)) {
		LLVMValueRef callee = LLVMGetCalledValue(instruction);
		return !LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee);
	}
	if (LLVMIsALoadInst(instruction) || LLVMIsAStoreInst(instruction))
		return LLVMGetVolatile(instruction) ||
		       LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
	return LLVMIsAAtomicRMWInst(instruction) || LLVMIsAAtomicCmpXchgInst(instruction) ||
	       LLVMIsAFenceInst(instruction);
}

static LLVMIntPredicate turned(LLVMIntPredicate predicate)
{
	switch (predicate) {
	case LLVMIntUGT:
		return LLVMIntULT;
	case LLVMIntSGT:
		return LLVMIntSLT;
	case LLVMIntULE:
		return LLVMIntUGE;
	case LLVMIntSLE:
		return LLVMIntSGE;
	default: /* the others are none that a loop is understood by, either way round */
		return predicate == LLVMIntEQ || predicate == LLVMIntNE ? predicate : LLVMIntUGT;
	}
}

static bool find_end(LLVMTargetDataRef layout, LLVMBasicBlockRef block, LLVMValueRef branch,
		     struct row_loop *out)
{
	LLVMValueRef condition = LLVMGetCondition(branch);
	if (!LLVMIsAICmpInst(condition))
		return false;
	LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
	out->moving = LLVMGetOperand(condition, 0);
	out->limit = LLVMGetOperand(condition, 1);
	if (!is_inside(block, out->moving) && is_inside(block, out->limit)) {
		LLVMValueRef limit = out->moving;
		out->moving = out->limit;
		out->limit = limit;
		predicate = turned(predicate);
	}
	bool on_true = LLVMGetSuccessor(branch, 0) == block;
	out->until_equal = predicate == (on_true ? LLVMIntNE : LLVMIntEQ);
	out->is_signed = predicate == (on_true ? LLVMIntSLT : LLVMIntSGE);
	bool is_below = out->is_signed || predicate == (on_true ? LLVMIntULT : LLVMIntUGE);
	return (out->until_equal || is_below) && !is_inside(block, out->limit) &&
	       LLVMGetTypeKind(LLVMTypeOf(out->limit)) == LLVMIntegerTypeKind &&
	       LLVMGetIntTypeWidth(LLVMTypeOf(out->limit)) <= 64 &&
	       affine_step(layout, block, out->moving, &out->stride) && out->stride > 0;
}

bool affine_loop(LLVMTargetDataRef layout, LLVMBasicBlockRef block, struct row_loop *out)
{
	LLVMValueRef branch = LLVMGetBasicBlockTerminator(block);
	*out = (struct row_loop){ .block = block };
	if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch) ||
	    (LLVMGetSuccessor(branch, 0) == block) == (LLVMGetSuccessor(branch, 1) == block) ||
	    !LLVMIsAPHINode(LLVMGetFirstInstruction(block)))
		return false;
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
		if (affine_may_synchronise(i))
			return false;
	return find_end(layout, block, branch, out);
}

/* ---- a value again ---- */

LLVMValueRef affine_build(struct weave *weave, LLVMBasicBlockRef loop, LLVMValueRef value)
{
	if (!is_inside(loop, value))
		return value;
	if (LLVMIsAPHINode(value))
		return LLVMGetIncomingValue(value, LLVMGetIncomingBlock(value, 0) == loop);
	LLVMValueRef operands[OPERANDS_MOST];
	unsigned n = (unsigned)LLVMGetNumOperands(value);
	for (unsigned i = 0; i < n; i++)
		operands[i] = affine_build(weave, loop, LLVMGetOperand(value, i));
	LLVMValueRef again = LLVMInstructionClone(value);
	for (unsigned i = 0; i < n; i++)
		LLVMSetOperand(again, i, operands[i]);
	LLVMInsertIntoBuilder(weave->builder, again);
	return again;
}
