/* Natural loops: reverse postorder, dominators by the iterative algorithm of
 * Cooper, Harvey and Kennedy, back edges, and for each node the innermost loop
 * that holds it. */
#include "base/natural_loops.h"

#include <stdbool.h>

#define NONE UINT32_MAX

/* Nodes by their place in reverse postorder; predecessors of place i are from[first[i]] .. from[first[i + 1] - 1], also
 * places. */
struct search {
	const struct flow *flow;
	uint32_t *node;  /* by place */
	uint32_t *place; /* by node, NONE = never reached */
	uint32_t *stack, *next;
	uint32_t *first, *from;
	uint32_t *dominator;
	uint32_t n;
};

size_t natural_loops_scratch(const struct flow *flow)
{
	return 6 * (size_t)flow->n + 2 + flow->first[flow->n];
}

static struct search arrange(const struct flow *flow, uint32_t *scratch)
{
	struct search s = { .flow = flow };

	s.node = scratch;
	s.place = s.node + flow->n;
	s.stack = s.place + flow->n;
	s.next = s.stack + flow->n;
	s.dominator = s.next + flow->n;
	s.first = s.dominator + flow->n;
	s.from = s.first + flow->n + 2;
	return s;
}

/* Depth-first with a stack of its own. Places are counted from the end, then moved to the start. */
static void order_nodes(struct search *s)
{
	const struct flow *flow = s->flow;
	uint32_t at = flow->n, depth = 0;

	for (uint32_t i = 0; i < flow->n; i++)
		s->place[i] = NONE;
	s->stack[depth] = 0;
	s->next[depth++] = flow->first[0];
	s->place[0] = 0;
	while (depth) {
		uint32_t top = s->stack[depth - 1], edge = s->next[depth - 1]++;

		if (edge == flow->first[top + 1]) {
			s->node[--at] = top;
			depth--;
		} else if (s->place[flow->to[edge]] == NONE) {
			s->place[flow->to[edge]] = 0;
			s->stack[depth] = flow->to[edge];
			s->next[depth++] = flow->first[flow->to[edge]];
		}
	}
	s->n = flow->n - at;
	for (uint32_t i = 0; i < s->n; i++) {
		s->node[i] = s->node[at + i];
		s->place[s->node[i]] = i;
	}
}

static void find_predecessors(struct search *s)
{
	const struct flow *flow = s->flow;

	for (uint32_t i = 0; i < s->n + 2; i++)
		s->first[i] = 0;
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t e = flow->first[s->node[i]]; e < flow->first[s->node[i] + 1]; e++)
			s->first[s->place[flow->to[e]] + 2]++;
	for (uint32_t i = 0; i < s->n; i++)
		s->first[i + 2] += s->first[i + 1];
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t e = flow->first[s->node[i]]; e < flow->first[s->node[i] + 1]; e++)
			s->from[s->first[s->place[flow->to[e]] + 1]++] = i;
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

static void find_dominators(struct search *s)
{
	s->dominator[0] = 0;
	for (uint32_t i = 1; i < s->n; i++)
		s->dominator[i] = NONE;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 1; i < s->n; i++) {
			uint32_t best = NONE;

			for (uint32_t e = s->first[i]; e < s->first[i + 1]; e++)
				if (s->dominator[s->from[e]] != NONE)
					best = best == NONE ? s->from[e]
							    : meet(s->dominator, best, s->from[e]);
			changed |= s->dominator[i] != best;
			s->dominator[i] = best;
		}
	}
}

static bool dominates(const struct search *s, uint32_t a, uint32_t b)
{
	while (b > a)
		b = s->dominator[b];
	return a == b;
}

/* The body of the loop with this header: what reaches a back edge without passing the header. Outer loops come first,
 * so later marks win. */
static void mark_body(struct search *s, uint32_t header, int32_t number, int32_t *inner)
{
	uint32_t n = 0;

	inner[s->node[header]] = number;
	for (uint32_t e = s->first[header]; e < s->first[header + 1]; e++)
		if (dominates(s, header, s->from[e]) && inner[s->node[s->from[e]]] != number) {
			inner[s->node[s->from[e]]] = number;
			s->stack[n++] = s->from[e];
		}
	while (n) {
		uint32_t at = s->stack[--n];

		for (uint32_t e = s->first[at]; e < s->first[at + 1]; e++)
			if (inner[s->node[s->from[e]]] != number) {
				inner[s->node[s->from[e]]] = number;
				s->stack[n++] = s->from[e];
			}
	}
}

uint32_t natural_loops_find(const struct flow *flow, uint32_t *scratch, struct natural_loop *loops,
			    int32_t *inner)
{
	struct search s = arrange(flow, scratch);
	uint32_t n = 0;

	order_nodes(&s);
	find_predecessors(&s);
	find_dominators(&s);
	for (uint32_t i = 0; i < flow->n; i++)
		inner[i] = -1;
	/* Reverse postorder visits outer headers before inner ones. */
	for (uint32_t i = 0; i < s.n; i++)
		for (uint32_t e = s.first[i]; e < s.first[i + 1]; e++)
			if (dominates(&s, i, s.from[e])) {
				loops[n] = (struct natural_loop){ s.node[i], inner[s.node[i]] };
				mark_body(&s, i, (int32_t)n++, inner);
				break;
			}
	return n;
}
