/* Backward closure over a program: from the candidate's accesses, all that threads and
 * locks do, and what decides how the program ends, to what these use: operands, the
 * writes that a read may see, the branches that decide, the calls that lead there.
 * What is not reached is not needed; whatever is not understood is needed. */
#include "static/slicer.h"

#include <stdlib.h>
#include <string.h>

void slicer_keep(struct slicer *slicer, uint32_t instruction)
{
	if (instruction == WHOLE_NONE || slicer->kept[instruction])
		return;
	slicer->kept[instruction] = true;
	*VEC_PUSH(&slicer->todo) = instruction;
}

static void keep_value(struct slicer *slicer, LLVMValueRef value)
{
	if (value && LLVMIsAInstruction(value))
		slicer_keep(slicer, whole_instruction(slicer->whole, value));
}

/* ---- memory ---- */

static bool overlaps(uint32_t a, uint32_t a_size, uint32_t b, uint32_t b_size)
{
	return a == b || (a < b ? !a_size || b - a < a_size : !b_size || a - b < b_size);
}

static void need(struct slicer *slicer, uint32_t object, uint32_t offset, uint32_t size);

/* A block that came from a wrapper of an allocator was filled there under the wrapper's own name for it. */
static void need_in_wrapper(struct slicer *slicer, uint32_t object, uint32_t offset, uint32_t size)
{
	const struct object *of = &slicer->points->objects.items[object];
	LLVMValueRef callee =
		of->kind == OBJECT_HEAP && whole_is_call(of->value) ? whole_callee(of->value) : NULL;
	uint32_t function = callee ? whole_function(slicer->whole, callee) : WHOLE_NONE;

	if (function == WHOLE_NONE)
		return;
	const roaring_bitmap_t *inside =
		solver_answer(&slicer->points->solver, slicer->points->returns[function]);
	roaring_uint32_iterator_t *at = roaring_create_iterator(inside);

	for (; at->has_value; roaring_advance_uint32_iterator(at)) {
		struct solver_location place = slicer->points->solver.locations.items[at->current_value];

		need(slicer, place.object, place.offset + offset, size);
	}
	roaring_free_uint32_iterator(at);
}

static void need(struct slicer *slicer, uint32_t object, uint32_t offset, uint32_t size)
{
	for (size_t i = 0; i < slicer->needs[object].n; i++)
		if (slicer->needs[object].items[i].offset == offset &&
		    (slicer->needs[object].items[i].size == size || !slicer->needs[object].items[i].size))
			return;
	*VEC_PUSH(&slicer->needs[object]) = (struct need){ offset, size };
	for (size_t i = 0; i < slicer->writers[object].n; i++) {
		const struct writer *writer = &slicer->writers[object].items[i];

		if (overlaps(offset, size, writer->offset, writer->size))
			slicer_keep(slicer, writer->instruction);
	}
	need_in_wrapper(slicer, object, offset, size);
}

/* What was read through a pointer of which nothing is known may have been written through any other such one: the
 * program's arguments, what a library gave. */
static void need_unknown(struct slicer *slicer)
{
	if (slicer->unknown_needed)
		return;
	slicer->unknown_needed = true;
	for (size_t i = 0; i < slicer->unknown_writers.n; i++)
		slicer_keep(slicer, slicer->unknown_writers.items[i]);
}

static void need_pointed(struct slicer *slicer, LLVMValueRef pointer, uint32_t size)
{
	const roaring_bitmap_t *set = points_to(slicer->points, pointer);

	if (roaring_bitmap_is_empty(set))
		need_unknown(slicer);
	roaring_uint32_iterator_t *at = roaring_create_iterator(set);

	for (; at->has_value; roaring_advance_uint32_iterator(at)) {
		struct solver_location place = slicer->points->solver.locations.items[at->current_value];

		need(slicer, place.object, place.offset, size);
	}
	roaring_free_uint32_iterator(at);
}

/* All that can be reached from a pointer: a function that nobody knows may look at it. */
static void need_reachable(struct slicer *slicer, const roaring_bitmap_t *set)
{
	struct solver *solver = &slicer->points->solver;
	uint64_t n = roaring_bitmap_get_cardinality(set);
	uint32_t *all = memory_alloc((n + 1) * sizeof *all);

	if (!n)
		need_unknown(slicer);
	roaring_bitmap_to_uint32_array(set, all);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t object = solver->locations.items[all[i]].object;

		if (slicer->all_of[object])
			continue;
		slicer->all_of[object] = true;
		need(slicer, object, 0, 0);
		for (size_t l = 0; l < solver->objects.items[object].locations.n; l++) {
			uint32_t content =
				solver->locations.items[solver->objects.items[object].locations.items[l]]
					.content;

			if (content != SOLVER_NONE)
				need_reachable(slicer, solver_answer(solver, content));
		}
	}
	free(all);
}

static void add_writer(struct slicer *slicer, LLVMValueRef pointer, uint32_t instruction, uint32_t size)
{
	const roaring_bitmap_t *set = points_to(slicer->points, pointer);

	if (roaring_bitmap_is_empty(set) && !LLVMIsAConstantPointerNull(pointer))
		*VEC_PUSH(&slicer->unknown_writers) = instruction;
	roaring_uint32_iterator_t *at = roaring_create_iterator(set);

	for (; at->has_value; roaring_advance_uint32_iterator(at)) {
		struct solver_location place = slicer->points->solver.locations.items[at->current_value];

		*VEC_PUSH(&slicer->writers[place.object]) =
			(struct writer){ instruction, place.offset, size };
	}
	roaring_free_uint32_iterator(at);
}

static bool is_lifetime(LLVMValueRef call);

/* Every instruction that may write, by what it may write to. A call may write to whatever it is given. */
static void find_writers(struct slicer *slicer)
{
	for (uint32_t i = 0; i < slicer->whole->instructions.n; i++) {
		LLVMValueRef at = slicer->whole->instructions.items[i];

		if (LLVMIsAStoreInst(at)) {
			LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(at, 0));

			add_writer(slicer, LLVMGetOperand(at, 1), i, points_size(slicer->points, type));
		} else if (LLVMIsAAtomicRMWInst(at) || LLVMIsAAtomicCmpXchgInst(at)) {
			add_writer(slicer, LLVMGetOperand(at, 0), i, 0);
		} else if (whole_is_call(at) && !is_lifetime(at) &&
			   !(whole_callee(at) && !LLVMIsDeclaration(whole_callee(at)))) {
			for (unsigned a = 0; a < whole_arguments(at); a++)
				if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(at, a))) == LLVMPointerTypeKind)
					add_writer(slicer, LLVMGetOperand(at, a), i, 0);
		}
	}
}

/* ---- control ---- */

static void keep_deciders(struct slicer *slicer, uint32_t function, LLVMBasicBlockRef block)
{
	const struct loops *loops = &slicer->threads->loops[function];
	struct control *control = &slicer->controls[function];
	const uint64_t *number = map_get(&loops->numbers, whole_key(block));

	if (!control->deciders)
		control_find(loops, false, control);
	for (size_t i = 0; number && i < control->deciders[*number].n; i++)
		keep_value(slicer,
			   LLVMGetBasicBlockTerminator(loops->blocks[control->deciders[*number].items[i]]));
}

/* A value that depends on the way taken: the ways are kept. */
static void keep_ways(struct slicer *slicer, uint32_t function, LLVMValueRef phi)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
		LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
		LLVMValueRef end = LLVMGetBasicBlockTerminator(from);

		keep_value(slicer, LLVMGetIncomingValue(phi, i));
		keep_deciders(slicer, function, from);
		if (LLVMGetNumSuccessors(end) > 1)
			keep_value(slicer, end);
	}
}

/* The first thing kept in a function: its calls lead there. */
static void enter(struct slicer *slicer, uint32_t function)
{
	if (slicer->entered[function])
		return;
	slicer->entered[function] = true;
	for (size_t i = 0; i < slicer->threads->callers[function].n; i++)
		slicer_keep(
			slicer,
			slicer->points->calls.items[slicer->threads->callers[function].items[i]].instruction);
}

/* ---- calls ---- */

static void keep_returns(struct slicer *slicer, uint32_t function)
{
	const struct whole *whole = slicer->whole;

	for (uint32_t i = whole->first[function]; i < whole->first[function + 1]; i++)
		if (LLVMIsAReturnInst(whole->instructions.items[i]))
			slicer_keep(slicer, i);
}

static bool is_lifetime(LLVMValueRef call)
{
	LLVMValueRef callee = whole_callee(call);

	return callee && (strncmp(whole_name(callee), "llvm.lifetime", 13) == 0 ||
			  strncmp(whole_name(callee), "llvm.assume", 11) == 0);
}

/* Does the call only write through this argument? */
static bool only_writes(const struct slicer *slicer, LLVMValueRef call, unsigned argument)
{
	const struct known_call *known = calls_find(call);
	bool writes = false;

	for (unsigned i = 0; known && i < 3 && known->extents[i].access; i++)
		if (known->extents[i].pointer == argument) {
			bool frees = known->extents[i].kind == EXTENT_BLOCK;

			/* Who frees a block reads nothing of it, but what was written beyond its end fails there. */
			if (known->extents[i].access != SITE_WRITE || (frees && !slicer->meeting))
				return false;
			writes = true;
		}
	return writes;
}

/* Does the function look at nothing but the state of locks, barriers and threads, which is the library's own? Where
 * a failure is asked for, what stands beside a lock that is made or destroyed is kept all the same: without it
 * net-endpoint lost the division that fails. */
static bool is_of_threads(const struct slicer *slicer, const char *name)
{
	enum library_role role = library_find(name)->role;

	if (slicer->meeting && (strncmp(name, "pthread_", 8) == 0 || strncmp(name, "sem_", 4) == 0) &&
	    (strstr(name, "_init") || strstr(name, "_destroy") || strstr(name, "attr_")))
		return true;
	return role >= LIBRARY_CREATE && role != LIBRARY_HANDLER;
}

static void keep_call(struct slicer *slicer, uint32_t instruction, LLVMValueRef at)
{
	const struct call *call = points_call(slicer->points, instruction);
	LLVMValueRef callee = whole_callee(at);
	bool known = callee && (calls_find(at) || strncmp(whole_name(callee), "llvm.", 5) == 0);

	for (size_t c = 0; call && c < call->callees.n; c++) {
		if (LLVMGetFirstUse(at) || threads_creates(call))
			keep_returns(slicer, call->callees.items[c]);
	}
	/* What threads are given they read themselves; the state of locks is the library's own. */
	if (is_lifetime(at))
		return;
	if (callee && (!LLVMIsDeclaration(callee) || is_of_threads(slicer, whole_name(callee))))
		return;
	for (unsigned a = 0; a < whole_arguments(at); a++) {
		LLVMValueRef argument = LLVMGetOperand(at, a);

		if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind ||
		    only_writes(slicer, at, a))
			continue;
		if (known)
			need_pointed(slicer, argument, 0);
		else
			need_reachable(slicer, points_to(slicer->points, argument));
	}
}

/* ---- closure ---- */

static void visit(struct slicer *slicer, uint32_t instruction)
{
	LLVMValueRef at = slicer->whole->instructions.items[instruction];
	uint32_t function = whole_function_of(slicer->whole, instruction);

	enter(slicer, function);
	keep_deciders(slicer, function, LLVMGetInstructionParent(at));
	if (LLVMIsAPHINode(at)) {
		keep_ways(slicer, function, at);
		return;
	}
	for (int i = 0; i < LLVMGetNumOperands(at); i++)
		keep_value(slicer, LLVMGetOperand(at, (unsigned)i));
	if (LLVMIsALoadInst(at))
		need_pointed(slicer, LLVMGetOperand(at, 0), points_size(slicer->points, LLVMTypeOf(at)));
	else if (LLVMIsAAtomicRMWInst(at) || LLVMIsAAtomicCmpXchgInst(at))
		need_pointed(slicer, LLVMGetOperand(at, 0), 0);
	else if (whole_is_call(at))
		keep_call(slicer, instruction, at);
}

/* What no slice may be without, whatever the candidate. */
static bool is_needed_anyway(const struct slicer *slicer, LLVMValueRef at)
{
	switch (LLVMGetInstructionOpcode(at)) {
	case LLVMCall: {
		enum call_weight weight = slicer_weigh(slicer, at);

		return weight == CALL_KEPT || (weight == CALL_PRINTS && slicer->output);
	}
	case LLVMInvoke:
	case LLVMCallBr:
	case LLVMIndirectBr:
	case LLVMResume:
	case LLVMLandingPad:
	case LLVMUnreachable:
	case LLVMFence:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		return true;
	case LLVMLoad:
	case LLVMStore:
		return LLVMGetOrdering(at) != LLVMAtomicOrderingNotAtomic || LLVMGetVolatile(at);
	default:
		return false;
	}
}

/* Threads meet at an address, whatever is read or written there. */
static void keep_address(struct slicer *slicer, uint32_t instruction)
{
	LLVMValueRef at = slicer->whole->instructions.items[instruction];

	if (!LLVMIsALoadInst(at) && !LLVMIsAStoreInst(at)) {
		slicer_keep(slicer, instruction);
		return;
	}
	uint32_t function = whole_function_of(slicer->whole, instruction);

	slicer->touched[instruction] = true;
	enter(slicer, function);
	keep_deciders(slicer, function, LLVMGetInstructionParent(at));
	keep_value(slicer, LLVMGetOperand(at, LLVMIsAStoreInst(at) ? 1 : 0));
}

static void keep_criterion(struct slicer *slicer, const struct build_sites *sites)
{
	const struct whole *whole = slicer->whole;

	for (size_t s = 0; s < sites->n; s++)
		for (size_t i = 0; i < sites->items[s].parts.n; i++) {
			const struct build_part *part = &sites->items[s].parts.items[i];

			slicer->criterion[part->instruction] = true;
			if (slicer->meeting) {
				keep_address(slicer, part->instruction);
			} else {
				slicer_keep(slicer, part->instruction);
				slicer_keep_uses(slicer, whole->instructions.items[part->instruction]);
			}
			if (part->hoisted < whole->instructions.n)
				slicer_keep(slicer, part->hoisted);
		}
}

static void seed(struct slicer *slicer, const struct build_sites *sites)
{
	const struct whole *whole = slicer->whole;

	keep_criterion(slicer, sites);
	/* Root 0 is the program's start: what it returns is the exit status. */
	for (uint32_t r = slicer->meeting; r < slicer->threads->n; r++)
		keep_returns(slicer, slicer->threads->roots[r].function);
	for (uint32_t f = 0; f < whole->functions.n; f++)
		for (uint32_t i = whole->first[f];
		     threads_running(slicer->threads, f) && i < whole->first[f + 1]; i++)
			if (is_needed_anyway(slicer, whole->instructions.items[i]))
				slicer_keep(slicer, i);
}

void slicer_start(struct slicer *slicer, struct scanner *scanner, const struct build_options *options)
{
	size_t n = scanner->whole.instructions.n, functions = scanner->whole.functions.n;
	size_t objects = scanner->points.objects.n;

	*slicer = (struct slicer){ .whole = &scanner->whole,
				   .points = &scanner->points,
				   .threads = &scanner->threads,
				   .output = options->prints && !options->meeting,
				   .meeting = options->meeting,
				   .kept = memory_alloc(n + 1),
				   .touched = memory_alloc(n + 1),
				   .criterion = memory_alloc(n + 1),
				   .writers = memory_alloc((objects + 1) * sizeof *slicer->writers),
				   .needs = memory_alloc((objects + 1) * sizeof *slicer->needs),
				   .all_of = memory_alloc(objects + 1),
				   .controls = memory_alloc((functions + 1) * sizeof *slicer->controls),
				   .entered = memory_alloc(functions + 1) };
	find_writers(slicer);
	seed(slicer, options->sites);
	while (slicer->todo.n)
		visit(slicer, slicer->todo.items[--slicer->todo.n]);
}

void slicer_free(struct slicer *slicer)
{
	for (size_t i = 0; slicer->points && i < slicer->points->objects.n; i++) {
		VEC_FREE(&slicer->writers[i]);
		VEC_FREE(&slicer->needs[i]);
	}
	for (size_t i = 0; slicer->whole && i < slicer->whole->functions.n; i++)
		if (slicer->controls[i].deciders)
			control_free(&slicer->controls[i]);
	VEC_FREE(&slicer->todo);
	VEC_FREE(&slicer->unknown_writers);
	free(slicer->kept);
	free(slicer->touched);
	free(slicer->criterion);
	free(slicer->writers);
	free(slicer->needs);
	free(slicer->all_of);
	free(slicer->controls);
	free(slicer->entered);
	*slicer = (struct slicer){ 0 };
}
