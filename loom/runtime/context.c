/* Communication contexts (BUGABOO, section 3.3). An event enters the contexts of all
 * threads that take part at once, whoever causes it: the context of a write tells
 * what others did before it, also when the writer meets nobody there. A thread reads
 * its own context at every write; it changes only when threads communicate, which
 * moves cells from core to core as well. */
#include "loom/runtime/runtime.h"

#include "model/run.h" /* enum context_event */

/* A context is its events, the newest lowest, below a bit that tells how many there
 * are: a thread begins with none. Eight events leave no room for that bit; there a
 * thread begins as if it had read eight times. */
void context_start(uint32_t events)
{
	events = events > 8 ? 8 : events;
	runtime.context_mask = (uint32_t)((1ull << 2 * events) - 1);
	runtime.context_full = events < 8 ? 1u << 2 * events : 0;
	runtime.context_most = runtime.context_mask | runtime.context_full;
}

uint32_t context_empty(void)
{
	return runtime.context_full ? 1 : 0;
}

/* Only the last events are kept. */
static uint32_t last_events(uint64_t context)
{
	return (uint32_t)(context > runtime.context_most
				  ? (context & runtime.context_mask) | runtime.context_full
				  : context);
}

/* Relaxed: an event publishes nothing, it only must not get lost. */
static void context_push(uint32_t *context, uint32_t event)
{
	uint32_t old = RELAXED_GET(*context), fresh;
	do {
		fresh = last_events((uint64_t)old << 2 | event);
		if (fresh == old)
			return; /* full of this event already */
	} while (
		!__atomic_compare_exchange_n(context, &old, fresh, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

void context_meet(struct thread *self, uint32_t slot, enum access access)
{
	struct together *together = &self->together;
	uint32_t known = together->n < TOGETHER_MOST ? together->n : TOGETHER_MOST;
	for (uint32_t i = 0; i < known; i++)
		if (together->partners[i] == slot)
			return;
	together->partners[together->n++ % TOGETHER_MOST] = slot;
	context_push(&runtime.threads[slot].context,
		     access == ACCESS_WRITE ? EVENT_REMOTE_WRITE : EVENT_REMOTE_READ);
}

void context_end(struct thread *self, enum access access)
{
	if (self->together.n)
		context_push(&self->context, access == ACCESS_WRITE ? EVENT_LOCAL_WRITE : EVENT_LOCAL_READ);
	self->together.on = self->together.n = 0;
}
