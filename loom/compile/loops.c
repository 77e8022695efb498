/* Natural loops of a function: reverse postorder, dominators by the iterative
 * algorithm of Cooper, Harvey and Kennedy, back edges, and for each block the
 * innermost loop that holds it. LLVM's C interface offers none of these. */
#include "loom/compile/transform.h"

#include <stdlib.h>

#define NONE UINT32_MAX

static unsigned successors(LLVMBasicBlockRef block)
{
	LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
	return terminator ? LLVMGetNumSuccessors(terminator) : 0;
}

static LLVMBasicBlockRef successor(LLVMBasicBlockRef block, unsigned i)
{
	return LLVMGetSuccessor(LLVMGetBasicBlockTerminator(block), i);
}

static uint32_t number_of(const struct loops *loops, LLVMBasicBlockRef block)
{
	const uint64_t *number = map_get(&loops->numbers, (uint64_t)(uintptr_t)block);
	return number ? (uint32_t)*number : NONE;
}

/* Depth-first with an explicit stack; fills blocks and numbers in reverse postorder. */
static void number_blocks(LLVMValueRef function, struct loops *loops)
{
	unsigned total = LLVMCountBasicBlocks(function);
	struct frame {
		LLVMBasicBlockRef block;
		unsigned next;
	} *stack = memory_alloc((total + 1) * sizeof *stack);
	struct map visited = { 0 };
	loops->blocks = memory_alloc(total * sizeof *loops->blocks);
	uint32_t at = total, depth = 0;
	stack[depth++] = (struct frame){ .block = LLVMGetEntryBasicBlock(function) };
	map_put(&visited, (uint64_t)(uintptr_t)stack[0].block, NULL);
	while (depth) {
		struct frame *top = &stack[depth - 1];
		if (top->next == successors(top->block)) {
			loops->blocks[--at] = top->block;
			depth--;
			continue;
		}
		LLVMBasicBlockRef next = successor(top->block, top->next++);
		bool fresh;
		map_put(&visited, (uint64_t)(uintptr_t)next, &fresh);
		if (fresh)
			stack[depth++] = (struct frame){ .block = next };
	}
	loops->nblocks = total - at;
	for (uint32_t i = 0; i < loops->nblocks; i++) {
		loops->blocks[i] = loops->blocks[at + i];
		*map_put(&loops->numbers, (uint64_t)(uintptr_t)loops->blocks[i], NULL) = i;
	}
	map_free(&visited);
	free(stack);
}

/* Edges as arrays: predecessors of block i are from[first[i] .. first[i + 1]). */
struct edges {
	uint32_t *first, *from;
};

static struct edges predecessors(const struct loops *loops)
{
	struct edges edges = { .first = memory_alloc((loops->nblocks + 2) * sizeof *edges.first) };
	for (uint32_t b = 0; b < loops->nblocks; b++)
		for (unsigned s = 0; s < successors(loops->blocks[b]); s++)
			edges.first[number_of(loops, successor(loops->blocks[b], s)) + 2]++;
	for (uint32_t b = 0; b < loops->nblocks; b++)
		edges.first[b + 2] += edges.first[b + 1];
	edges.from = memory_alloc((edges.first[loops->nblocks + 1] + 1u) * sizeof *edges.from);
	for (uint32_t b = 0; b < loops->nblocks; b++)
		for (unsigned s = 0; s < successors(loops->blocks[b]); s++)
			edges.from[edges.first[number_of(loops, successor(loops->blocks[b], s)) + 1]++] = b;
	return edges;
}

static uint32_t meet(const uint32_t *dominator, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (a > b)
			a = dominator[a];
		while (b > a)
			b = dominator[b];
	}
	return a;
}

static uint32_t *dominators(const struct loops *loops, const struct edges *edges)
{
	uint32_t *dominator = memory_alloc(loops->nblocks * sizeof *dominator);
	for (uint32_t b = 1; b < loops->nblocks; b++)
		dominator[b] = NONE;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = 1; b < loops->nblocks; b++) {
			uint32_t best = NONE;
			for (uint32_t e = edges->first[b]; e < edges->first[b + 1]; e++) {
				uint32_t from = edges->from[e];
				if (dominator[from] != NONE)
					best = best == NONE ? from : meet(dominator, best, from);
			}
			if (dominator[b] != best) {
				dominator[b] = best;
				changed = true;
			}
		}
	}
	return dominator;
}

static bool dominates(const uint32_t *dominator, uint32_t a, uint32_t b)
{
	while (b > a)
		b = dominator[b];
	return a == b;
}

/* Marks the body of the loop with this header: blocks that reach a back edge without
 * passing the header. Headers come innermost last, so later marks win. */
static void mark_body(struct loops *loops, const struct edges *edges, const uint32_t *dominator,
		      uint32_t header)
{
	uint32_t *stack = memory_alloc((loops->nblocks + 1) * sizeof *stack), n = 0;
	bool *in = memory_alloc(loops->nblocks);
	in[header] = true;
	for (uint32_t e = edges->first[header]; e < edges->first[header + 1]; e++)
		if (dominates(dominator, header, edges->from[e]) && !in[edges->from[e]]) {
			in[edges->from[e]] = true;
			stack[n++] = edges->from[e];
		}
	while (n) {
		uint32_t block = stack[--n];
		for (uint32_t e = edges->first[block]; e < edges->first[block + 1]; e++)
			if (!in[edges->from[e]]) {
				in[edges->from[e]] = true;
				stack[n++] = edges->from[e];
			}
	}
	int32_t parent = loops->inner[header];
	uint32_t depth = parent < 0 ? 1 : loops->items[parent].depth + 1;
	loops->items[loops->n] = (struct loop){ .header = header, .parent = parent, .depth = depth };
	for (uint32_t b = 0; b < loops->nblocks; b++)
		if (in[b])
			loops->inner[b] = (int32_t)loops->n;
	loops->n++;
	free(stack);
	free(in);
}

void loops_find(LLVMValueRef function, struct loops *out)
{
	*out = (struct loops){ 0 };
	number_blocks(function, out);
	struct edges edges = predecessors(out);
	uint32_t *dominator = dominators(out, &edges);
	out->inner = memory_alloc(out->nblocks * sizeof *out->inner);
	out->items = memory_alloc((out->nblocks + 1) * sizeof *out->items);
	for (uint32_t b = 0; b < out->nblocks; b++)
		out->inner[b] = -1;
	/* Reverse postorder visits outer headers before inner ones. */
	for (uint32_t b = 0; b < out->nblocks; b++)
		for (uint32_t e = edges.first[b]; e < edges.first[b + 1]; e++)
			if (dominates(dominator, b, edges.from[e])) {
				mark_body(out, &edges, dominator, b);
				break;
			}
	free(dominator);
	free(edges.first);
	free(edges.from);
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
