/* The locks that a thread holds while the calls of a traced run are walked through, in the
 * order in which it took them. What does not fit is forgotten: of more than so many locks
 * the first are known. */
#ifndef DIAGNOSE_LOCK_STACK_H
#define DIAGNOSE_LOCK_STACK_H

#include <stddef.h>

#include "model/run.h"

#define LOCK_STACK_MOST 8u

struct held_lock {
	uint64_t object;
	uint32_t site;
	size_t before; /* events of the run that came before it was taken */
};

struct lock_stack {
	struct held_lock held[LOCK_STACK_MOST]; /* outermost first */
	uint32_t n;
};

/* `call` is one of the stack's thread; what takes or gives back no lock changes nothing. */
static inline void lock_stack_follow(struct lock_stack *stack, const struct call *call)
{
	if (call->kind == CALL_ACQUIRE && stack->n < LOCK_STACK_MOST)
		stack->held[stack->n++] = (struct held_lock){ call->object, call->site, call->before };
	for (uint32_t i = stack->n; call->kind == CALL_RELEASE && i-- > 0;)
		if (stack->held[i].object == call->object) {
			for (stack->n--; i < stack->n; i++)
				stack->held[i] = stack->held[i + 1];
			return;
		}
}

#endif
