/* Control dependence: which branches decide whether a block runs (Ferrante, Ottenstein
 * and Warren), by post-dominators. Blocks that never come back to the function's end,
 * as calls of abort, may be left out, so that a check that ends the program does not
 * decide over everything behind it. */
#include <stdlib.h>

#include "static/scanner.h"

#define NONE UINT32_MAX

struct post {
	const struct loops *loops;
	uint32_t exit;   /* the number of the virtual end */
	uint32_t *order; /* blocks in an order that visits successors early */
	uint32_t norder;
	uint32_t *rank;  /* place in that order */
	uint32_t *above; /* immediate post-dominator */
	bool *ends;      /* reaches the end */
	bool ignore;
};

static uint32_t successor(const struct loops *loops, uint32_t block, unsigned index)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(loops->blocks[block]);
	const uint64_t *number = map_get(&loops->numbers, whole_key(LLVMGetSuccessor(end, index)));

	return number ? (uint32_t)*number : NONE;
}

static unsigned successors(const struct loops *loops, uint32_t block)
{
	return LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(loops->blocks[block]));
}

/* Leaves the function here, in the sense of `ignore`. */
static bool leaves(const struct post *post, uint32_t block)
{
	if (successors(post->loops, block))
		return false;
	LLVMValueRef end = LLVMGetBasicBlockTerminator(post->loops->blocks[block]);

	return LLVMIsAReturnInst(end) || !post->ignore;
}

static void find_ends(struct post *post)
{
	uint32_t n = post->loops->nblocks;
	bool any = false;

	for (uint32_t b = 0; b < n; b++)
		any |= post->ends[b] = leaves(post, b);
	/* Without an end of its own a function ends where its last block does. */
	if (!any && n)
		post->ends[n - 1] = true;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = n; b-- > 0;)
			for (unsigned s = 0; !post->ends[b] && s < successors(post->loops, b); s++) {
				uint32_t to = successor(post->loops, b, s);

				if (to != NONE && post->ends[to])
					changed = post->ends[b] = true;
			}
	}
}

static uint32_t meet(const struct post *post, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (post->rank[a] > post->rank[b])
			a = post->above[a];
		while (post->rank[b] > post->rank[a])
			b = post->above[b];
	}
	return a;
}

/* Reverse postorder of the turned graph: the end first. */
static void find_order(struct post *post)
{
	uint32_t n = post->loops->nblocks, depth = 0, at = n + 1;
	VEC(uint32_t) *before = memory_alloc((n + 1) * sizeof *before);
	uint32_t *stack = memory_alloc((n + 2) * sizeof *stack), *next = memory_alloc((n + 1) * sizeof *next);
	bool *seen = memory_alloc(n + 1);

	for (uint32_t b = 0; b < n; b++) {
		if (!post->ends[b])
			continue;
		bool last = !successors(post->loops, b);

		for (unsigned s = 0; s < successors(post->loops, b); s++) {
			uint32_t to = successor(post->loops, b, s);

			if (to != NONE && post->ends[to])
				*VEC_PUSH(&before[to]) = b;
		}
		if (last)
			*VEC_PUSH(&before[n]) = b;
	}
	if (!before[n].n && n)
		*VEC_PUSH(&before[n]) = n - 1;
	seen[n] = true;
	stack[depth++] = n;
	while (depth) {
		uint32_t top = stack[depth - 1];

		if (next[top] == before[top].n) {
			post->order[--at] = top;
			depth--;
			continue;
		}
		uint32_t b = before[top].items[next[top]++];

		if (!seen[b]) {
			seen[b] = true;
			stack[depth++] = b;
		}
	}
	post->norder = n + 1 - at;
	for (uint32_t i = 0; i < post->norder; i++) {
		post->order[i] = post->order[at + i];
		post->rank[post->order[i]] = i;
	}
	for (uint32_t b = 0; b <= n; b++)
		VEC_FREE(&before[b]);
	free(before);
	free(stack);
	free(next);
	free(seen);
}

static void find_above(struct post *post)
{
	uint32_t n = post->loops->nblocks;

	for (uint32_t b = 0; b <= n; b++)
		post->above[b] = NONE;
	post->above[n] = n;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 1; i < post->norder; i++) {
			uint32_t b = post->order[i], found = successors(post->loops, b) ? NONE : n;

			for (unsigned s = 0; s < successors(post->loops, b); s++) {
				uint32_t to = successor(post->loops, b, s);

				if (to == NONE || !post->ends[to] || post->above[to] == NONE)
					continue;
				found = found == NONE ? to : meet(post, found, to);
			}
			if (found == NONE)
				found = n;
			if (post->above[b] != found) {
				post->above[b] = found;
				changed = true;
			}
		}
	}
}

static void add_decider(struct control *out, uint32_t block, uint32_t decider)
{
	for (size_t i = 0; i < out->deciders[block].n; i++)
		if (out->deciders[block].items[i] == decider)
			return;
	*VEC_PUSH(&out->deciders[block]) = decider;
}

/* From a branch's successor up to what runs whichever way it takes. */
static void decide(const struct post *post, uint32_t branch, struct control *out)
{
	uint32_t n = post->loops->nblocks, stop = post->above[branch];

	for (unsigned s = 0; s < successors(post->loops, branch); s++) {
		uint32_t at = successor(post->loops, branch, s);

		if (at != NONE && !post->ends[at])
			add_decider(out, at, branch);
		for (uint32_t steps = 0; at != NONE && at < n && post->ends[at] && at != stop && steps <= n;
		     steps++) {
			add_decider(out, at, branch);
			at = post->above[at];
		}
	}
}

void control_find(const struct loops *loops, bool ignore_error_exits, struct control *out)
{
	uint32_t n = loops->nblocks;
	struct post post = { .loops = loops,
			     .exit = n,
			     .order = memory_alloc((n + 2) * sizeof(uint32_t)),
			     .rank = memory_alloc((n + 2) * sizeof(uint32_t)),
			     .above = memory_alloc((n + 2) * sizeof(uint32_t)),
			     .ends = memory_alloc(n + 1),
			     .ignore = ignore_error_exits };

	*out = (struct control){ .loops = loops, .deciders = memory_alloc((n + 1) * sizeof *out->deciders) };
	find_ends(&post);
	find_order(&post);
	find_above(&post);
	for (uint32_t b = 0; b < n; b++)
		if (successors(loops, b) > 1)
			decide(&post, b, out);
	/* A block that leads to no end is decided by whoever decides the block before it. */
	for (uint32_t b = 0; b < n; b++)
		for (unsigned s = 0; !post.ends[b] && s < successors(loops, b); s++) {
			uint32_t to = successor(loops, b, s);

			for (size_t d = 0; to != NONE && to != b && d < out->deciders[b].n; d++)
				add_decider(out, to, out->deciders[b].items[d]);
		}
	free(post.order);
	free(post.rank);
	free(post.above);
	free(post.ends);
}

void control_free(struct control *control)
{
	for (uint32_t b = 0; control->deciders && b < control->loops->nblocks; b++)
		VEC_FREE(&control->deciders[b]);
	free(control->deciders);
	*control = (struct control){ 0 };
}
