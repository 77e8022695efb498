/* Address computations as constraints: constant parts are steps, variable indices are
 * walks that make the object repeat. LLVM's C interface gives no offsets, so the types
 * are walked here. */
#include "static/threads.h" /* places */

#define NEAR 64 /* values looked at to see whether a step goes in a circle */

#define MOST_PARTS 16u

/* In the order of the indices: a constant number of bytes, or a walk. */
struct part {
	int64_t bytes;
	uint32_t stride, extent; /* of a walk; stride 0 = none */
};

struct steps {
	struct part parts[MOST_PARTS];
	uint32_t n;
};

static void add_part(struct steps *steps, struct part part)
{
	struct part *last = steps->n ? &steps->parts[steps->n - 1] : NULL;

	if (last && !last->stride && !part.stride)
		last->bytes += part.bytes;
	else if (steps->n < MOST_PARTS)
		steps->parts[steps->n++] = part;
	else /* deeper than anybody nests arrays: anywhere in it */
		*last = (struct part){ .stride = 1 };
}

static void add_index(struct steps *steps, LLVMValueRef index, uint64_t stride, uint64_t count)
{
	if (LLVMIsAConstantInt(index)) {
		add_part(steps, (struct part){ .bytes = LLVMConstIntGetSExtValue(index) * (int64_t)stride });
	} else if (stride) {
		uint64_t extent = stride * count;

		add_part(steps, (struct part){ .stride = (uint32_t)stride,
					       .extent = extent < UINT32_MAX ? (uint32_t)extent : 0 });
	}
}

static void read_steps(const struct points *points, LLVMValueRef step, struct steps *steps)
{
	LLVMTargetDataRef layout = points->whole->layout;
	LLVMTypeRef type = LLVMGetGEPSourceElementType(step);
	int n = LLVMGetNumOperands(step);
	struct place from;

	if (n > 1)
		add_index(steps, LLVMGetOperand(step, 1), LLVMABISizeOfType(layout, type), 0);
	/* The optimiser forgets which array it steps through; the variable's declaration knows. */
	if (steps->n == 1 && steps->parts[0].stride &&
	    place_of(points->whole, LLVMGetOperand(step, 0), &from) && !from.index)
		steps->parts[0].extent = place_left_of_array(points->whole, &from);
	for (int i = 2; i < n; i++) {
		LLVMValueRef index = LLVMGetOperand(step, (unsigned)i);
		LLVMTypeKind kind = LLVMGetTypeKind(type);

		if (kind == LLVMStructTypeKind) {
			unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);

			add_part(steps,
				 (struct part){ .bytes = (int64_t)LLVMOffsetOfElement(layout, type, field) });
			type = LLVMStructGetTypeAtIndex(type, field);
		} else {
			uint64_t count = kind == LLVMArrayTypeKind ? LLVMGetArrayLength2(type) : 0;

			type = LLVMGetElementType(type);
			add_index(steps, index, LLVMABISizeOfType(layout, type), count);
		}
	}
}

/* Does the value come from `step` itself, round a loop? */
static bool comes_from(LLVMValueRef value, LLVMValueRef step, struct map *visited)
{
	bool fresh;

	if (value == step)
		return true;
	if (visited->n > NEAR || !LLVMIsAInstruction(value))
		return false;
	map_put(visited, whole_key(value), &fresh);
	if (!fresh)
		return false;
	if (LLVMIsAPHINode(value)) {
		for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
			if (comes_from(LLVMGetIncomingValue(value, i), step, visited))
				return true;
	} else if (LLVMIsAGetElementPtrInst(value)) {
		return comes_from(LLVMGetOperand(value, 0), step, visited);
	} else if (LLVMIsASelectInst(value)) {
		return comes_from(LLVMGetOperand(value, 1), step, visited) ||
		       comes_from(LLVMGetOperand(value, 2), step, visited);
	}
	return false;
}

static bool goes_in_a_circle(LLVMValueRef step)
{
	struct map visited = { 0 };
	bool found = LLVMIsAInstruction(step) && comes_from(LLVMGetOperand(step, 0), step, &visited);

	map_free(&visited);
	return found;
}

/* A step that a loop takes again and again is a walk. */
static void take_rounds(struct steps *steps, LLVMValueRef step)
{
	if (steps->n != 1 || steps->parts[0].stride || !steps->parts[0].bytes || !goes_in_a_circle(step))
		return;
	struct part *part = &steps->parts[0];

	part->stride = (uint32_t)(part->bytes < 0 ? -part->bytes : part->bytes);
	/* Downwards it has come from somewhere above. */
	part->bytes = part->bytes < 0 ? -1 : 0;
}

void points_step(struct points *points, LLVMValueRef step, uint32_t to)
{
	struct solver *solver = &points->solver;
	uint32_t from = points_variable(points, LLVMGetOperand(step, 0));
	struct steps steps = { 0 };

	if (from == SOLVER_NONE)
		return;
	read_steps(points, step, &steps);
	take_rounds(&steps, step);
	for (uint32_t i = 0; i < steps.n; i++) {
		const struct part *part = &steps.parts[i];
		uint32_t next = i + 1 < steps.n ? solver_variable(solver) : to;
		enum solver_act act = part->stride ? SOLVER_WALK : SOLVER_STEP;

		if (act == SOLVER_STEP && !part->bytes)
			solver_copy(solver, from, next);
		else
			solver_constrain(solver, from,
					 (struct solver_constraint){ .act = act,
								     .other = next,
								     .offset = (int32_t)part->bytes,
								     .stride = part->stride,
								     .extent = part->extent });
		from = next;
	}
	if (!steps.n)
		solver_copy(solver, from, to);
}
