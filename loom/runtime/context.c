/* Communication contexts (BUGABOO, section 3.3). A thread's own events enter its
 * context at once. Those that other threads cause wait in its mailbox until the
 * thread itself meets another one's trace: a first access to what another thread
 * touched last. Its accesses in between find only its own traces, and need not
 * look at memory that others keep writing. */
#include "loom/runtime/runtime.h"

#include "model/run.h" /* enum context_event */

void context_push(struct thread *self, uint32_t event)
{
	self->context = (self->context << 2 | event) & runtime.context_mask;
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
	uint64_t context = (uint64_t)self->context << 2 * (mail >> 16) | (mail & 0xffff);
	self->context = (uint32_t)context & runtime.context_mask;
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
