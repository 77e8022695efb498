/* Natural loops of a graph of control flow. Both looms find loops with it, in a
 * compiler's blocks and in a program's instructions, so it asks nothing of libc:
 * memory comes from the caller. */
#ifndef BASE_NATURAL_LOOPS_H
#define BASE_NATURAL_LOOPS_H

#include <stddef.h>
#include <stdint.h>

/* Node 0 is where control begins; the successors of node i are to[first[i]] .. to[first[i + 1] - 1]. */
struct flow {
	uint32_t n;
	const uint32_t *first, *to;
};

struct natural_loop {
	uint32_t header; /* the node through which it is entered */
	int32_t parent;  /* innermost loop around it, -1 = none */
};

/* How many numbers `scratch` must have room for. */
size_t natural_loops_scratch(const struct flow *flow);
/* Fills `loops` (room for flow->n), outer ones before inner ones, and `inner` (likewise): the innermost loop of each
 * node, -1 = none or never reached. Returns the number of loops. */
uint32_t natural_loops_find(const struct flow *flow, uint32_t *scratch, struct natural_loop *loops,
			    int32_t *inner);

#endif
