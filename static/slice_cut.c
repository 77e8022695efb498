/* Takes what a slice does not need out of the module. A branch on which nothing kept
 * depends becomes a jump to where its ways meet again; kept values that depend on the
 * way taken keep the branches that choose it, so no such value loses a way. */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "static/slicer.h"

/* ---- where the ways of a branch meet again ---- */

static uint32_t number_of(const struct loops *loops, LLVMBasicBlockRef block)
{
	const uint64_t *number = map_get(&loops->numbers, whole_key(block));

	return number ? (uint32_t)*number : WHOLE_NONE;
}

/* Can the function's end be reached from `from` without passing `without`? */
static bool ends_without(const struct loops *loops, uint32_t from, uint32_t without)
{
	_cleanup_free_ bool *seen = memory_alloc(loops->nblocks + 1);
	_cleanup_free_ uint32_t *todo = memory_alloc((loops->nblocks + 1) * sizeof *todo);
	uint32_t n = 0;

	if (from == without)
		return false;
	seen[from] = true;
	todo[n++] = from;
	while (n) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(loops->blocks[todo[--n]]);
		unsigned ways = LLVMGetNumSuccessors(end);

		if (!ways)
			return true;
		for (unsigned s = 0; s < ways; s++) {
			uint32_t to = number_of(loops, LLVMGetSuccessor(end, s));

			if (to != without && !seen[to]) {
				seen[to] = true;
				todo[n++] = to;
			}
		}
	}
	return false;
}

/* The nearest block that every way from `branch` to the end passes; WHOLE_NONE when there is none. */
static uint32_t meeting_point(const struct loops *loops, uint32_t branch)
{
	_cleanup_free_ bool *seen = memory_alloc(loops->nblocks + 1);
	_cleanup_free_ uint32_t *todo = memory_alloc((loops->nblocks + 1) * sizeof *todo);
	uint32_t first = 0, n = 0;

	/* Breadth first: of the blocks that all ways pass, the first one met lies nearest. */
	seen[branch] = true;
	todo[n++] = branch;
	while (first < n) {
		uint32_t at = todo[first++];
		LLVMValueRef end = LLVMGetBasicBlockTerminator(loops->blocks[at]);

		if (at != branch && !ends_without(loops, branch, at))
			return at;
		for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
			uint32_t to = number_of(loops, LLVMGetSuccessor(end, s));

			if (!seen[to]) {
				seen[to] = true;
				todo[n++] = to;
			}
		}
	}
	return WHOLE_NONE;
}

/* ---- cutting ---- */

static bool is_branch(LLVMValueRef end)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(end);

	return (opcode == LLVMBr || opcode == LLVMSwitch) && LLVMGetNumSuccessors(end) > 1;
}

static void cut_branch(struct slicer *slicer, uint32_t function, uint32_t instruction, LLVMBuilderRef builder)
{
	const struct loops *loops = &slicer->threads->loops[function];
	LLVMValueRef end = slicer->whole->instructions.items[instruction];
	uint32_t block = number_of(loops, LLVMGetInstructionParent(end));

	if (block == WHOLE_NONE)
		return; /* nobody comes there */
	uint32_t to = meeting_point(loops, block);

	/* Its ways end the function apart, and nothing kept stands on either: any will do that ends at all. */
	for (unsigned s = 0; to == WHOLE_NONE && s < LLVMGetNumSuccessors(end); s++) {
		uint32_t way = number_of(loops, LLVMGetSuccessor(end, s));

		if (ends_without(loops, way, WHOLE_NONE) || s + 1 == LLVMGetNumSuccessors(end))
			to = way;
	}
	LLVMPositionBuilderAtEnd(builder, loops->blocks[block]);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(end));
	LLVMInstructionEraseFromParent(end);
	slicer->whole->instructions.items[instruction] = NULL;
	LLVMBuildBr(builder, loops->blocks[to]);
}

static void cut_instruction(struct slicer *slicer, uint32_t instruction)
{
	LLVMValueRef at = slicer->whole->instructions.items[instruction];

	if (LLVMGetTypeKind(LLVMTypeOf(at)) != LLVMVoidTypeKind)
		LLVMReplaceAllUsesWith(at, LLVMGetUndef(LLVMTypeOf(at)));
	LLVMInstructionEraseFromParent(at);
	slicer->whole->instructions.items[instruction] = NULL;
}

/* What is written does not matter, but that it is written there. */
static void cut_value(LLVMValueRef access)
{
	if (LLVMIsAStoreInst(access))
		LLVMSetOperand(access, 0, LLVMConstNull(LLVMTypeOf(LLVMGetOperand(access, 0))));
}

/* The exit status does not matter: it is that of success. */
static void cut_status(const struct slicer *slicer)
{
	const struct whole *whole = slicer->whole;
	uint32_t function = slicer->threads->n ? slicer->threads->roots[0].function : WHOLE_NONE;

	if (!slicer->meeting || function == WHOLE_NONE || !slicer->entered[function])
		return;
	for (uint32_t i = whole->first[function]; i < whole->first[function + 1]; i++) {
		LLVMValueRef at = whole->instructions.items[i];

		if (at && LLVMIsAReturnInst(at) && !slicer->kept[i] && LLVMGetNumOperands(at))
			LLVMSetOperand(at, 0, LLVMConstNull(LLVMTypeOf(LLVMGetOperand(at, 0))));
	}
}

/* Branches are cut while the blocks still are as the analysis saw them, all meeting points first. */
void slicer_cut(struct slicer *slicer)
{
	const struct whole *whole = slicer->whole;
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(whole->context);

	for (uint32_t f = 0; f < whole->functions.n; f++) {
		if (!slicer->entered[f])
			continue;
		for (uint32_t i = whole->first[f]; i < whole->first[f + 1]; i++) {
			LLVMValueRef at = whole->instructions.items[i];

			if (slicer->touched[i] && !slicer->kept[i])
				cut_value(at);
			else if (!slicer->kept[i] && !LLVMIsATerminatorInst(at) && !LLVMIsAAllocaInst(at))
				cut_instruction(slicer, i);
		}
		/* Later branches first: what they jump to does not change where earlier ones meet. */
		for (uint32_t i = whole->first[f + 1]; i-- > whole->first[f];) {
			LLVMValueRef at = whole->instructions.items[i];

			if (at && !slicer->kept[i] && is_branch(at))
				cut_branch(slicer, f, i, builder);
		}
	}
	cut_status(slicer);
	LLVMDisposeBuilder(builder);
}

/* ---- what is left, by lines ---- */

static struct slice_line *line_at(struct slice_report *out, struct map *numbers, const char *file,
				  uint32_t line)
{
	bool fresh;
	uint64_t key = hash_bytes(hash_string(HASH_START, file), &line, sizeof line);
	uint64_t *number = map_put(numbers, key, &fresh);

	if (fresh) {
		*number = out->lines.n;
		*VEC_PUSH(&out->lines) = (struct slice_line){ .file = memory_string(file), .line = line };
	}
	return &out->lines.items[*number];
}

/* What was put into a caller belongs to the caller's line as well. */
static void report_callers(struct slice_report *out, struct map *numbers, LLVMMetadataRef location, bool kept)
{
	char path[4096];

	while ((location = LLVMDILocationGetInlinedAt(location))) {
		if (source_in_system_file(LLVMDILocationGetScope(location)))
			continue;
		source_file(location, path);
		line_at(out, numbers, path, LLVMDILocationGetLine(location))->kept |= kept;
	}
}

void slicer_report(const struct slicer *slicer, struct slice_report *out)
{
	const struct whole *whole = slicer->whole;
	struct map numbers = { 0 };

	for (uint32_t f = 0; f < whole->functions.n; f++) {
		out->functions++;
		out->functions_kept += slicer->entered[f];
		for (uint32_t i = whole->first[f]; i < whole->first[f + 1]; i++) {
			struct site site = { 0 };
			char scratch[4096], through[512];

			out->instructions++;
			out->instructions_kept += slicer->kept[i] || slicer->touched[i];
			LLVMMetadataRef location = LLVMInstructionGetDebugLoc(whole->instructions.items[i]);

			if (!location)
				continue;
			source_position(&whole->source, whole->instructions.items[i], &site, scratch,
					through);
			struct slice_line *line = line_at(out, &numbers, site.file, site.line);

			line->kept |= slicer->kept[i] || slicer->touched[i];
			line->criterion |= slicer->criterion[i];
			report_callers(out, &numbers, location, slicer->kept[i]);
		}
	}
	map_free(&numbers);
}
