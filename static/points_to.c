/* Makes constraints of a program's instructions and constants, and solves them. What
 * is taken for granted: integers that are pointers are only copied and shifted within
 * the field that they lead to, and functions that nobody knows return one of their
 * arguments, call the functions among them and keep nothing. */
#include "static/points.h"

#include <stdlib.h>
#include <string.h>

bool points_carries(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMPointerTypeKind:
		return true;
	case LLVMIntegerTypeKind:
		return LLVMGetIntTypeWidth(type) >= 64;
	case LLVMVectorTypeKind:
	case LLVMArrayTypeKind:
		return points_carries(LLVMGetElementType(type));
	case LLVMStructTypeKind:
		for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
			if (points_carries(LLVMStructGetTypeAtIndex(type, i)))
				return true;
		return false;
	default:
		return false;
	}
}

uint32_t points_size(const struct points *points, LLVMTypeRef type)
{
	uint64_t size = LLVMTypeIsSized(type) ? LLVMABISizeOfType(points->whole->layout, type) : 0;

	return size < INT32_MAX ? (uint32_t)size : 0;
}

uint32_t points_object(struct points *points, LLVMValueRef value, enum object_kind kind, uint32_t size)
{
	bool fresh;
	uint64_t *number = map_put(&points->object_numbers, whole_key(value), &fresh);

	if (!fresh)
		return (uint32_t)*number;
	uint32_t made = solver_object(&points->solver, size);

	*number = made;
	*VEC_PUSH(&points->objects) = (struct object){ .kind = kind, .value = value };
	return made;
}

/* ---- constants ---- */

static uint32_t global_object(struct points *points, LLVMValueRef global)
{
	if (LLVMIsAFunction(global))
		return points_object(points, global, OBJECT_FUNCTION, 1);
	uint32_t number = points_object(points, global, OBJECT_GLOBAL,
					points_size(points, LLVMGlobalGetValueType(global)));

	points->objects.items[number].own = LLVMIsThreadLocal(global);
	points->objects.items[number].constant = LLVMIsGlobalConstant(global);
	return number;
}

static void constant_into(struct points *points, LLVMValueRef constant, uint32_t variable)
{
	if (LLVMIsAFunction(constant) || LLVMIsAGlobalVariable(constant)) {
		solver_points(&points->solver, variable,
			      solver_location(&points->solver, global_object(points, constant), 0));
		return;
	}
	if (LLVMIsAGlobalAlias(constant)) {
		constant_into(points, LLVMAliasGetAliasee(constant), variable);
		return;
	}
	if (LLVMIsAConstantExpr(constant) && LLVMGetConstOpcode(constant) == LLVMGetElementPtr) {
		points_step(points, constant, variable);
		return;
	}
	int n = LLVMIsAConstantExpr(constant) || LLVMIsAConstantAggregateZero(constant) == NULL
			? LLVMGetNumOperands(constant)
			: 0;

	for (int i = 0; i < n; i++) {
		LLVMValueRef part = LLVMGetOperand(constant, (unsigned)i);
		uint32_t from = LLVMIsConstant(part) ? points_variable(points, part) : SOLVER_NONE;

		if (from != SOLVER_NONE)
			solver_copy(&points->solver, from, variable);
	}
}

static bool leads_nowhere(LLVMValueRef value)
{
	return LLVMIsAConstantInt(value) || LLVMIsAConstantPointerNull(value) || LLVMIsUndef(value) ||
	       LLVMIsAConstantFP(value) || LLVMIsAConstantAggregateZero(value) || LLVMIsAInlineAsm(value) ||
	       LLVMIsAConstantDataSequential(value) || LLVMIsPoison(value) || LLVMValueIsBasicBlock(value) ||
	       LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMMetadataTypeKind || LLVMIsABlockAddress(value);
}

uint32_t points_variable(struct points *points, LLVMValueRef value)
{
	bool fresh;

	if (leads_nowhere(value) || !points_carries(LLVMTypeOf(value)))
		return SOLVER_NONE;
	uint64_t *number = map_put(&points->variables, whole_key(value), &fresh);

	if (!fresh)
		return (uint32_t)*number;
	uint32_t made = solver_variable(&points->solver);

	*number = made;
	if (LLVMIsConstant(value))
		constant_into(points, value, made);
	return made;
}

/* What a global holds from the start. */
static void initial_values(struct points *points, uint32_t object, LLVMValueRef value, uint64_t offset)
{
	LLVMTypeRef type = LLVMTypeOf(value);
	LLVMTypeKind kind = LLVMGetTypeKind(type);

	if (leads_nowhere(value) || !points_carries(type))
		return;
	if (kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind) {
		uint32_t location = solver_location(&points->solver, object, (int64_t)offset);
		uint32_t from = points_variable(points, value);

		if (location != SOLVER_NONE && from != SOLVER_NONE)
			solver_copy(&points->solver, from, solver_content(&points->solver, location));
		return;
	}
	for (int i = 0; i < LLVMGetNumOperands(value); i++) {
		LLVMValueRef part = LLVMGetOperand(value, (unsigned)i);
		uint64_t at = kind == LLVMStructTypeKind
				      ? LLVMOffsetOfElement(points->whole->layout, type, (unsigned)i)
				      : (uint64_t)i * points_size(points, LLVMTypeOf(part));

		initial_values(points, object, part, offset + at);
	}
}

/* ---- instructions ---- */

static void copy_operand(struct points *points, LLVMValueRef value, uint32_t to)
{
	uint32_t from = points_variable(points, value);

	if (from != SOLVER_NONE && to != SOLVER_NONE)
		solver_copy(&points->solver, from, to);
}

/* A load or store of several words touches each of them. */
static void move_words(struct points *points, enum solver_act act, LLVMValueRef pointer, uint32_t other,
		       uint32_t size)
{
	uint32_t at = points_variable(points, pointer);

	if (at == SOLVER_NONE || other == SOLVER_NONE)
		return;
	for (uint32_t word = 0; word < 16 && word * 8 < (size ? size : 1); word++) {
		uint32_t place = at;

		if (word) {
			place = solver_variable(&points->solver);
			solver_constrain(&points->solver, at,
					 (struct solver_constraint){ .act = SOLVER_STEP,
								     .other = place,
								     .offset = (int32_t)(word * 8) });
		}
		solver_constrain(&points->solver, place,
				 (struct solver_constraint){ .act = act, .other = other });
	}
}

static void add_swap(struct points *points, LLVMValueRef at, unsigned value_operand)
{
	LLVMValueRef value = LLVMGetOperand(at, value_operand);

	move_words(points, SOLVER_STORE, LLVMGetOperand(at, 0), points_variable(points, value), 8);
	if (points_carries(LLVMTypeOf(at)))
		move_words(points, SOLVER_LOAD, LLVMGetOperand(at, 0), points_variable(points, at), 8);
}

static void add_stack(struct points *points, LLVMValueRef at)
{
	LLVMValueRef count = LLVMGetOperand(at, 0);
	uint32_t size = points_size(points, LLVMGetAllocatedType(at));

	size = LLVMIsAConstantInt(count) ? (uint32_t)(size * LLVMConstIntGetZExtValue(count)) : 0;
	uint32_t object = points_object(points, at, OBJECT_STACK, size);

	solver_points(&points->solver, points_variable(points, at),
		      solver_location(&points->solver, object, 0));
}

static void add_copies(struct points *points, LLVMValueRef at)
{
	uint32_t to = points_variable(points, at);

	if (to == SOLVER_NONE)
		return;
	if (LLVMIsAPHINode(at)) {
		for (unsigned i = 0; i < LLVMCountIncoming(at); i++)
			copy_operand(points, LLVMGetIncomingValue(at, i), to);
		return;
	}
	for (int i = 0; i < LLVMGetNumOperands(at); i++)
		copy_operand(points, LLVMGetOperand(at, (unsigned)i), to);
}

static void add_memory(struct points *points, LLVMValueRef at)
{
	if (LLVMIsALoadInst(at)) {
		if (points_carries(LLVMTypeOf(at)))
			move_words(points, SOLVER_LOAD, LLVMGetOperand(at, 0), points_variable(points, at),
				   points_size(points, LLVMTypeOf(at)));
	} else {
		LLVMValueRef value = LLVMGetOperand(at, 0);

		if (points_carries(LLVMTypeOf(value)))
			move_words(points, SOLVER_STORE, LLVMGetOperand(at, 1),
				   points_variable(points, value), points_size(points, LLVMTypeOf(value)));
	}
}

/* Everything that may be asked for later has its variable before the constraints are solved, constants too. */
static void know_operands(struct points *points, LLVMValueRef at)
{
	for (int i = 0; i < LLVMGetNumOperands(at); i++) {
		LLVMValueRef operand = LLVMGetOperand(at, (unsigned)i);

		if (LLVMIsConstant(operand) && LLVMGetTypeKind(LLVMTypeOf(operand)) == LLVMPointerTypeKind)
			points_variable(points, operand);
	}
}

static void add_instruction(struct points *points, LLVMValueRef at, uint32_t function)
{
	know_operands(points, at);
	switch (LLVMGetInstructionOpcode(at)) {
	case LLVMAlloca:
		add_stack(points, at);
		break;
	case LLVMLoad:
	case LLVMStore:
		add_memory(points, at);
		break;
	case LLVMAtomicCmpXchg:
		add_swap(points, at, 2);
		break;
	case LLVMAtomicRMW:
		add_swap(points, at, 1);
		break;
	case LLVMGetElementPtr:
		if (points_variable(points, at) != SOLVER_NONE)
			points_step(points, at, points_variable(points, at));
		break;
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		points_add_call(points, at, function);
		break;
	case LLVMRet:
		if (LLVMGetNumOperands(at))
			copy_operand(points, LLVMGetOperand(at, 0), points->returns[function]);
		break;
	case LLVMSub: /* a pointer less a number is a pointer, less a pointer it is none */
		if (LLVMIsAConstantInt(LLVMGetOperand(at, 1)))
			add_copies(points, at);
		break;
	case LLVMICmp:
	case LLVMFCmp:
	case LLVMLShr:
	case LLVMAShr:
	case LLVMMul:
	case LLVMUDiv:
	case LLVMSDiv:
	case LLVMURem:
	case LLVMSRem:
	case LLVMShl:
	case LLVMXor:
		break;
	default:
		add_copies(points, at);
	}
}

/* ---- the whole ---- */

static void add_globals(struct points *points)
{
	for (LLVMValueRef g = LLVMGetFirstGlobal(points->whole->module); g; g = LLVMGetNextGlobal(g)) {
		uint32_t object = global_object(points, g);
		LLVMValueRef value = LLVMGetInitializer(g);

		if (value)
			initial_values(points, object, value, 0);
	}
}

static void tell_wave(void *context, uint32_t waves, size_t variables)
{
	const struct points *points = context;

	(void)variables;
	if (points->told)
		points->told(points->told_context, waves);
}

void points_start(struct points *points, struct whole *whole, points_told *told, void *context)
{
	*points = (struct points){ .whole = whole, .told = told, .told_context = context };
	points->solver.progress = tell_wave;
	points->solver.called = points_called;
	points->solver.context = points;
	points->own_values = solver_variable(&points->solver);
	points->nowhere = solver_variable(&points->solver);
	points->returns = memory_alloc((whole->functions.n + 1) * sizeof *points->returns);
	points->extras = memory_alloc((whole->functions.n + 1) * sizeof *points->extras);
	for (size_t i = 0; i < whole->functions.n; i++) {
		points->returns[i] = solver_variable(&points->solver);
		points->extras[i] = SOLVER_NONE;
	}
	points_find_wrappers(points);
	add_globals(points);
	for (uint32_t i = 0; i < whole->functions.n; i++)
		for (uint32_t at = whole->first[i]; at < whole->first[i + 1]; at++)
			add_instruction(points, whole->instructions.items[at], i);
	solver_solve(&points->solver);
}

const roaring_bitmap_t *points_to(struct points *points, LLVMValueRef pointer)
{
	uint32_t variable = points_variable(points, pointer);

	if (variable == SOLVER_NONE)
		return solver_answer(&points->solver, points->nowhere);
	/* A constant that no instruction has: its constraints are new. */
	if (points->solver.debts.n)
		solver_solve(&points->solver);
	return solver_answer(&points->solver, variable);
}

const struct call *points_call(const struct points *points, uint32_t instruction)
{
	const uint64_t *number = map_get(&points->call_numbers, instruction);

	return number ? &points->calls.items[*number] : NULL;
}

void points_free(struct points *points)
{
	for (size_t i = 0; i < points->calls.n; i++) {
		VEC_FREE(&points->calls.items[i].callees);
		VEC_FREE(&points->calls.items[i].library);
	}
	solver_free(&points->solver);
	VEC_FREE(&points->objects);
	VEC_FREE(&points->calls);
	map_free(&points->call_numbers);
	map_free(&points->variables);
	map_free(&points->object_numbers);
	map_free(&points->wrappers);
	set_free(&points->bound);
	free(points->returns);
	free(points->extras);
	*points = (struct points){ 0 };
}
