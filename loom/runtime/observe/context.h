/* Communication events that change nothing but a count: where many are on their way
 * to another thread already and this one's context is full of the same (context.c has
 * the rest). */
#ifndef RUNTIME_CONTEXT_H
#define RUNTIME_CONTEXT_H

#include "loom/runtime/observe/cells.h"

#include "model/run.h" /* enum context_event */

/* The context after these events, of which only the last are kept; a busy thread stays busy. */
INLINE uint32_t context_next(uint32_t state, uint32_t events, uint32_t n)
{
	uint64_t all = (uint64_t)(uint16_t)state << 2 * n | events;
	if (all > runtime.context_most)
		all = (all & runtime.context_mask) | runtime.context_full;
	return (state & CONTEXT_BUSY) | (uint32_t)all;
}

/* This thread's own event. While it is busy nobody else changes its context: then no locked instruction,
 * which would wait for all stores before it, only one that no signal handler can divide. */
INLINE void context_own(struct thread *self, enum access access)
{
	uint32_t event = access == ACCESS_WRITE ? EVENT_LOCAL_WRITE : EVENT_LOCAL_READ;
	uint32_t now = RELAXED_GET(self->context_state), next = context_next(now, event, 1);
	if (UNLIKELY(!(now & CONTEXT_BUSY) || RELAXED_GET(self->inbox)))
		context_own_slowly(self, event);
	else if (next != now)
		__asm__("cmpxchg %2, %1" : "+a"(now), "+m"(self->context_state) : "r"(next) : "cc");
}

/* context_meet for one other thread, if the event may wait; else nothing, and false. */
INLINE bool context_meet_later(struct thread *self, uint32_t slot, enum access access)
{
	struct post *post = &self->posts[slot % POSTS];
	uint32_t n = post->n + 1u;
	if (post->slot != slot || n >= post->most || post->epoch != (uint16_t)RELAXED_GET(runtime.recycled) ||
	    self->together.on || self->together.n)
		return false;
	uint32_t event = access == ACCESS_WRITE ? (uint32_t)EVENT_REMOTE_WRITE : EVENT_REMOTE_READ;
	post->events = (uint16_t)((uint32_t)post->events << 2 | event);
	post->n = (uint16_t)n;
	self->posted++;
	return true;
}

#endif
