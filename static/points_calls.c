/* Calls as constraints: arguments go to parameters, results come back; what has no
 * body does what library.c says. */
#include "static/points.h"

#include <string.h>

static LLVMValueRef argument(LLVMValueRef call, int index)
{
	return index >= 0 && (unsigned)index < whole_arguments(call) ? LLVMGetOperand(call, (unsigned)index)
								     : NULL;
}

static uint32_t argument_variable(struct points *points, LLVMValueRef call, int index)
{
	LLVMValueRef value = argument(call, index);

	return value ? points_variable(points, value) : SOLVER_NONE;
}

static void copy(struct points *points, uint32_t from, uint32_t to)
{
	if (from != SOLVER_NONE && to != SOLVER_NONE)
		solver_copy(&points->solver, from, to);
}

static uint32_t load_from(struct points *points, uint32_t pointer, int32_t offset)
{
	struct solver *solver = &points->solver;
	uint32_t at = pointer, value = solver_variable(solver);

	if (offset) {
		at = solver_variable(solver);
		solver_constrain(
			solver, pointer,
			(struct solver_constraint){ .act = SOLVER_STEP, .other = at, .offset = offset });
	}
	solver_constrain(solver, at, (struct solver_constraint){ .act = SOLVER_LOAD, .other = value });
	return value;
}

/* ---- calls that functions of the library make ---- */

/* A function reached through the library gets these as its first parameters. What is called so is bound by
 * points_called through a call of its own. */
struct passed {
	uint32_t variables[2];
};

static void bind_extra(struct points *points, LLVMValueRef call, uint32_t function, unsigned fixed)
{
	struct solver *solver = &points->solver;

	if (points->extras[function] == SOLVER_NONE) {
		LLVMValueRef of = points->whole->functions.items[function];
		uint32_t object = solver_object(solver, 0);

		*VEC_PUSH(&points->objects) =
			(struct object){ .kind = OBJECT_EXTRA, .value = of, .own = true };
		points->extras[function] = object;
		solver_repeat(solver, object, 0, UINT32_MAX, 1);
	}
	for (unsigned i = fixed; call && i < whole_arguments(call); i++)
		copy(points, argument_variable(points, call, (int)i),
		     solver_content(solver, solver_location(solver, points->extras[function], 0)));
}

static void note_callee(struct points *points, uint32_t number, uint32_t function)
{
	*VEC_PUSH(&points->calls.items[number].callees) = function;
}

static bool first_time(struct points *points, uint32_t number, LLVMValueRef function)
{
	uint64_t key = hash_bytes(hash_bytes(HASH_START, &number, sizeof number), &function, sizeof function);

	return set_add(&points->bound, &key, 1) != 0;
}

/* The library calls `function` with what these variables hold. */
static void bind_passed(struct points *points, uint32_t number, LLVMValueRef function,
			const struct passed *passed)
{
	uint32_t callee = whole_function(points->whole, function);

	if (callee == WHOLE_NONE)
		return;
	for (unsigned i = 0; i < 2 && i < LLVMCountParams(function); i++)
		copy(points, passed->variables[i], points_variable(points, LLVMGetParam(function, i)));
	if (first_time(points, number, function))
		note_callee(points, number, callee);
}

/* Functions that the library will call with `passed`: those that are known by name are bound at once, those
 * behind pointers when the solver finds them. */
static void bind_later(struct points *points, uint32_t number, uint32_t pointer)
{
	if (pointer != SOLVER_NONE)
		solver_constrain(&points->solver, pointer,
				 (struct solver_constraint){ .act = SOLVER_CALL, .other = number });
}

/* ---- the library's functions ---- */

static void allocate(struct points *points, LLVMValueRef call, int size_argument, uint32_t into)
{
	LLVMValueRef size = argument(call, size_argument);
	uint64_t bytes = size && LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
	uint32_t object = points_object(points, call, OBJECT_HEAP, bytes < INT32_MAX ? (uint32_t)bytes : 0);

	if (into != SOLVER_NONE)
		solver_points(&points->solver, into, solver_location(&points->solver, object, 0));
}

static void copy_memory(struct points *points, LLVMValueRef call, const struct library_function *function)
{
	LLVMValueRef size = argument(call, function->c);
	uint32_t to = argument_variable(points, call, function->a),
		 from = argument_variable(points, call, function->b);
	uint64_t bytes = size && LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;

	if (to != SOLVER_NONE && from != SOLVER_NONE)
		solver_block_copy(&points->solver, from, to, bytes < INT32_MAX ? (uint32_t)bytes : 0);
	copy(points, to, points_variable(points, call));
}

static void store_new(struct points *points, LLVMValueRef call, int where)
{
	uint32_t block = solver_variable(&points->solver), at = argument_variable(points, call, where);

	allocate(points, call, -1, block);
	if (at != SOLVER_NONE)
		solver_constrain(&points->solver, at,
				 (struct solver_constraint){ .act = SOLVER_STORE, .other = block });
}

/* A function by its name, or a choice of such. */
static bool is_function_value(LLVMValueRef value, int depth)
{
	if (LLVMIsAFunction(value))
		return true;
	if (depth == 0)
		return false;
	if (LLVMIsASelectInst(value))
		return is_function_value(LLVMGetOperand(value, 1), depth - 1) ||
		       is_function_value(LLVMGetOperand(value, 2), depth - 1);
	for (unsigned i = 0; LLVMIsAPHINode(value) && i < LLVMCountIncoming(value); i++)
		if (is_function_value(LLVMGetIncomingValue(value, i), depth - 1))
			return true;
	return false;
}

/* Returns what it was given, calls what it was given. */
static void call_unknown(struct points *points, LLVMValueRef call, uint32_t number)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
	bool pointer = LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind;
	uint32_t result = pointer ? points_variable(points, call) : SOLVER_NONE;
	LLVMValueRef callee = whole_callee(call);

	points->calls.items[number].foreign = true;
	if (callee && LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeReturnIndex, kind)) {
		allocate(points, call, -1, result);
		return;
	}
	for (unsigned i = 0; i < whole_arguments(call); i++) {
		copy(points, argument_variable(points, call, (int)i), result);
		if (is_function_value(LLVMGetOperand(call, i), 3))
			bind_later(points, number, argument_variable(points, call, (int)i));
	}
}

static void call_library(struct points *points, LLVMValueRef call, uint32_t number,
			 const struct library_function *function)
{
	uint32_t result = points_variable(points, call);

	*VEC_PUSH(&points->calls.items[number].library) = function;
	switch (function->role) {
	case LIBRARY_UNKNOWN:
		call_unknown(points, call, number);
		break;
	case LIBRARY_ALLOCATE:
		allocate(points, call, function->a, result);
		break;
	case LIBRARY_REALLOCATE:
		allocate(points, call, function->a, result);
		/* A block may stay where it is: the old name goes on too. */
		copy(points, argument_variable(points, call, 0), result);
		break;
	case LIBRARY_STORE_NEW:
		store_new(points, call, function->a);
		break;
	case LIBRARY_RETURN:
		copy(points, argument_variable(points, call, function->a), result);
		break;
	case LIBRARY_COPY:
		copy_memory(points, call, function);
		break;
	case LIBRARY_CALL:
	case LIBRARY_SORT:
	case LIBRARY_HANDLER:
		bind_later(points, number, argument_variable(points, call, function->a));
		break;
	case LIBRARY_CREATE:
	case LIBRARY_ONCE:
		bind_later(points, number, argument_variable(points, call, function->b));
		break;
	case LIBRARY_CREATE_CXX: {
		uint32_t box = argument_variable(points, call, function->b);
		/* A state's third virtual function is the thread's. */
		if (box != SOLVER_NONE)
			bind_later(points, number,
				   load_from(points, load_from(points, load_from(points, box, 0), 0), 16));
		break;
	}
	case LIBRARY_SET_OWN:
		copy(points, argument_variable(points, call, function->b), points->own_values);
		break;
	case LIBRARY_GET_OWN:
		copy(points, points->own_values, result);
		break;
	default:
		break;
	}
}

/* What a function that the library calls gets as its parameters. */
static void pass(struct points *points, LLVMValueRef call, const struct library_function *function,
		 struct passed *passed)
{
	int first = -1, second = -1;

	*passed = (struct passed){ { SOLVER_NONE, SOLVER_NONE } };
	switch (function->role) {
	case LIBRARY_CREATE:
		first = function->c;
		break;
	case LIBRARY_CREATE_CXX: {
		uint32_t box = argument_variable(points, call, function->b);
		if (box != SOLVER_NONE)
			passed->variables[0] = load_from(points, box, 0);
		return;
	}
	case LIBRARY_SORT:
	case LIBRARY_CALL:
		first = function->b;
		second = function->c;
		break;
	default:
		break;
	}
	passed->variables[0] = argument_variable(points, call, first);
	passed->variables[1] = argument_variable(points, call, second);
}

static void pass_unknown(struct points *points, LLVMValueRef call, struct passed *passed)
{
	uint32_t any = solver_variable(&points->solver);

	for (unsigned i = 0; i < whole_arguments(call); i++)
		copy(points, argument_variable(points, call, (int)i), any);
	*passed = (struct passed){ { any, any } };
}

/* ---- functions of the program ---- */

static void bind(struct points *points, LLVMValueRef call, uint32_t number, LLVMValueRef function)
{
	uint32_t callee = whole_function(points->whole, function), result = points_variable(points, call);
	unsigned fixed = LLVMCountParams(function);

	if (!first_time(points, number, function))
		return;
	note_callee(points, number, callee);
	for (unsigned i = 0; i < fixed && i < whole_arguments(call); i++)
		copy(points, argument_variable(points, call, (int)i),
		     points_variable(points, LLVMGetParam(function, i)));
	if (LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)))
		bind_extra(points, call, callee, fixed);
	if (!map_get(&points->wrappers, whole_key(function))) {
		copy(points, points->returns[callee], result);
		return;
	}
	/* A wrapper's call is an allocation; the block holds what the wrapper put in. */
	allocate(points, call, -1, result);
	if (result != SOLVER_NONE)
		solver_block_copy(&points->solver, points->returns[callee], result, 0);
}

static bool calls_for(const struct call *call, enum library_role role)
{
	for (size_t i = 0; i < call->library.n; i++)
		if (call->library.items[i]->role == role)
			return true;
	return false;
}

/* Can a call through a pointer be meant for this function? Pointers that are analysed into one lead to functions
 * of all kinds; a call with other arguments than the function takes would be undefined. */
static bool fits(LLVMValueRef call, LLVMValueRef function)
{
	unsigned given = whole_arguments(call), taken = LLVMCountParams(function);
	LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(function));
	bool more = LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function));

	if (given < taken || (given > taken && !more))
		return false;
	for (unsigned i = 0; i < taken; i++)
		if (LLVMTypeOf(LLVMGetOperand(call, i)) != LLVMTypeOf(LLVMGetParam(function, i)))
			return false;
	return LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind || LLVMTypeOf(call) == result;
}

/* A function that is reached through a pointer: either the call's own, or one that the library will call. */
void points_called(void *context, uint32_t number, uint32_t location)
{
	struct points *points = context;
	const struct object *object = &points->objects.items[points->solver.locations.items[location].object];
	LLVMValueRef call = points->whole->instructions.items[points->calls.items[number].instruction];
	struct passed passed;

	if (object->kind != OBJECT_FUNCTION)
		return;
	if (!whole_callee(call)) {
		if (!fits(call, object->value))
			return;
		if (!LLVMIsDeclaration(object->value))
			bind(points, call, number, object->value);
		else if (first_time(points, number, object->value))
			call_library(points, call, number, library_find(whole_name(object->value)));
		return;
	}
	const struct call *at = &points->calls.items[number];

	if (LLVMIsDeclaration(object->value) || !at->library.n)
		return;
	if (calls_for(at, LIBRARY_UNKNOWN))
		pass_unknown(points, call, &passed);
	else
		pass(points, call, at->library.items[0], &passed);
	bind_passed(points, number, object->value, &passed);
}

static void add_intrinsic(struct points *points, LLVMValueRef call, uint32_t function, const char *name)
{
	struct solver *solver = &points->solver;

	if (strncmp(name, "llvm.memcpy", 11) == 0 || strncmp(name, "llvm.memmove", 12) == 0) {
		copy_memory(points, call, library_find("memcpy"));
	} else if (strncmp(name, "llvm.va_start", 13) == 0) {
		uint32_t list = argument_variable(points, call, 0), area = solver_variable(solver);

		bind_extra(points, NULL, function, 0);
		solver_points(solver, area, solver_location(solver, points->extras[function], 0));
		for (int32_t offset = 8; list != SOLVER_NONE && offset <= 16; offset += 8) {
			uint32_t at = solver_variable(solver);

			solver_constrain(solver, list,
					 (struct solver_constraint){
						 .act = SOLVER_STEP, .other = at, .offset = offset });
			solver_constrain(solver, at,
					 (struct solver_constraint){ .act = SOLVER_STORE, .other = area });
		}
	} else if (strncmp(name, "llvm.va_copy", 12) == 0) {
		uint32_t to = argument_variable(points, call, 0), from = argument_variable(points, call, 1);

		if (to != SOLVER_NONE && from != SOLVER_NONE)
			solver_block_copy(solver, from, to, 24);
	} else {
		for (unsigned i = 0; i < whole_arguments(call); i++)
			copy(points, argument_variable(points, call, (int)i), points_variable(points, call));
	}
}

void points_add_call(struct points *points, LLVMValueRef instruction, uint32_t caller)
{
	LLVMValueRef callee = whole_callee(instruction), called = LLVMGetCalledValue(instruction);

	if (callee && LLVMGetIntrinsicID(callee)) {
		add_intrinsic(points, instruction, caller, whole_name(callee));
		return;
	}
	uint32_t number = (uint32_t)points->calls.n, at = whole_instruction(points->whole, instruction);

	*VEC_PUSH(&points->calls) = (struct call){ .instruction = at, .caller = caller };
	*map_put(&points->call_numbers, at, NULL) = number;
	if (LLVMIsAInlineAsm(called))
		call_unknown(points, instruction, number);
	else if (!callee)
		bind_later(points, number, points_variable(points, called));
	else if (LLVMIsDeclaration(callee))
		call_library(points, instruction, number, library_find(whole_name(callee)));
	else
		bind(points, instruction, number, callee);
}
