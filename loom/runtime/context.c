/* Communication contexts (BUGABOO, section 3.3). A thread's own events enter its
 * context at once. Those that other threads cause wait in its mailbox until the
 * thread itself meets another one's trace: a first access to what another thread
 * touched last. Its accesses in between find only its own traces, and need not
 * look at memory that others keep writing. */
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

void context_push(struct thread *self, uint32_t event)
{
	self->context = last_events((uint64_t)self->context << 2 | event);
}

void context_send(uint32_t slot, uint32_t event)
{
	uint32_t *mailbox = &runtime.threads[slot].mailbox;
	uint32_t old = RELAXED_GET(*mailbox), fresh, count;
	do {
		count = old >> 16;
		fresh = (count < 8 ? count + 1 : 8) << 16 | ((old << 2 | event) & 0xffff);
		if (fresh == old)
			return; /* full of this event already */
				/* Relaxed: an event publishes nothing, it only must not get lost. */
	} while (
		!__atomic_compare_exchange_n(mailbox, &old, fresh, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

void context_notice(struct thread *self)
{
	if (self->together.on || !RELAXED_GET(self->mailbox))
		return;
	uint32_t mail = __atomic_exchange_n(&self->mailbox, 0, __ATOMIC_RELAXED); /* as in context_send */
	self->context = last_events((uint64_t)self->context << 2 * (mail >> 16) | (mail & 0xffff));
}

void context_exchange(struct thread *self, uint32_t writer, enum access access)
{
	struct together *together = &self->together;
	if (together->on) {
		for (uint32_t i = 0; i < together->n; i++)
			if (together->writers[i] == writer)
				return;
		together->writers[together->n++] = writer;
		return;
	}
	context_push(self, access == ACCESS_WRITE ? EVENT_LOCAL_WRITE : EVENT_LOCAL_READ);
	context_send(writer, access == ACCESS_WRITE ? EVENT_REMOTE_WRITE : EVENT_REMOTE_READ);
}
