/* Natural loops of a function, which LLVM's C interface does not offer: its blocks
 * as a graph for base/natural_loops.c. */
#include <stdlib.h>

#include "loom/compile/transform.h"
#include "base/natural_loops.h"

static unsigned successors(LLVMBasicBlockRef block)
{
	LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
	return terminator ? LLVMGetNumSuccessors(terminator) : 0;
}

static void number_blocks(LLVMValueRef function, struct loops *loops)
{
	loops->blocks = memory_alloc((LLVMCountBasicBlocks(function) + 1) * sizeof *loops->blocks);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		*map_put(&loops->numbers, (uint64_t)(uintptr_t)b, NULL) = loops->nblocks;
		loops->blocks[loops->nblocks++] = b;
	}
}

/* The caller frees first and to. */
static struct flow graph_of(const struct loops *loops)
{
	uint32_t *first = memory_alloc((loops->nblocks + 1) * sizeof *first), edges = 0;

	for (uint32_t b = 0; b < loops->nblocks; b++) {
		first[b] = edges;
		edges += successors(loops->blocks[b]);
	}
	first[loops->nblocks] = edges;
	uint32_t *to = memory_alloc((edges + 1) * sizeof *to);

	for (uint32_t b = 0; b < loops->nblocks; b++)
		for (uint32_t e = first[b]; e < first[b + 1]; e++) {
			LLVMBasicBlockRef next =
				LLVMGetSuccessor(LLVMGetBasicBlockTerminator(loops->blocks[b]), e - first[b]);

			to[e] = (uint32_t)*map_get(&loops->numbers, (uint64_t)(uintptr_t)next);
		}
	return (struct flow){ .n = loops->nblocks, .first = first, .to = to };
}

void loops_find(LLVMValueRef function, struct loops *out)
{
	*out = (struct loops){ 0 };
	number_blocks(function, out);
	struct flow flow = graph_of(out);
	uint32_t *scratch = memory_alloc(natural_loops_scratch(&flow) * sizeof *scratch);
	struct natural_loop *found = memory_alloc((flow.n + 1) * sizeof *found);

	out->inner = memory_alloc((flow.n + 1) * sizeof *out->inner);
	out->n = natural_loops_find(&flow, scratch, found, out->inner);
	out->items = memory_alloc((out->n + 1) * sizeof *out->items);
	for (uint32_t i = 0; i < out->n; i++)
		out->items[i] = (struct loop){ .header = found[i].header, .parent = found[i].parent };
	free(found);
	free(scratch);
	free((uint32_t *)(uintptr_t)flow.first);
	free((uint32_t *)(uintptr_t)flow.to);
}

bool loops_contain(const struct loops *loops, int32_t loop, uint32_t block)
{
	for (int32_t inner = loops->inner[block]; inner >= 0; inner = loops->items[inner].parent)
		if (inner == loop)
			return true;
	return false;
}

void loops_free(struct loops *loops)
{
	free(loops->blocks);
	free(loops->inner);
	free(loops->items);
	map_free(&loops->numbers);
}
