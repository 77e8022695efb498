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

/* Relaxed: events publish nothing, they only must not get lost. */
static void context_push(uint32_t *context, uint32_t events, uint32_t n)
{
	uint32_t old = RELAXED_GET(*context), fresh;
	do {
		fresh = last_events((uint64_t)old << 2 * n | events);
		if (fresh == old)
			return; /* full of this event already */
	} while (
		!__atomic_compare_exchange_n(context, &old, fresh, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* ---- events for others ---- */

/* A thread that has caused many events of another one since its last synchronisation call sends further
 * ones eight at a time: two cores that take a context from each other at every access do little else. Until
 * then they wait at most for the next call or the next access that is not known yet. */
#define POST_AT_ONCE 4096u
#define POST_TOGETHER 8u

static void post_send(struct thread *self, struct post *post)
{
	if (post->epoch == (uint16_t)RELAXED_GET(runtime.recycled)) /* else it may be another thread's slot */
		context_push(&runtime.threads[post->slot].context, post->events, post->n);
	self->posted -= post->n;
	post->events = post->n = 0;
}

static void post_event(struct thread *self, uint32_t slot, uint32_t event)
{
	struct post *post = &self->posts[slot % POSTS];
	if (post->slot != slot || post->epoch != (uint16_t)RELAXED_GET(runtime.recycled)) {
		if (post->n)
			post_send(self, post);
		*post = (struct post){ .slot = (uint16_t)slot,
				       .epoch = (uint16_t)RELAXED_GET(runtime.recycled) };
	}
	post->events = (uint16_t)((uint32_t)post->events << 2 | event);
	post->n++;
	self->posted++;
	self->posting = 1;
	if (post->sent < POST_AT_ONCE)
		post->sent++;
	else if (post->n < POST_TOGETHER)
		return;
	post_send(self, post);
}

void context_send(struct thread *self, bool synchronises)
{
	self->posting &= !synchronises;
	for (struct post *post = self->posts; post < self->posts + POSTS; post++) {
		if (post->n)
			post_send(self, post);
		if (synchronises)
			post->sent = 0;
	}
}

void context_meet(struct thread *self, uint32_t slot, enum access access)
{
	struct together *together = &self->together;
	uint32_t known = together->n < TOGETHER_MOST ? together->n : TOGETHER_MOST;
	uint32_t event = access == ACCESS_WRITE ? (uint32_t)EVENT_REMOTE_WRITE : EVENT_REMOTE_READ;
	for (uint32_t i = 0; i < known; i++)
		if (together->partners[i] == slot)
			return;
	together->partners[together->n++ % TOGETHER_MOST] = slot;
	if (self->owner == OWNER_NEVER) /* every access is seen, in one order */
		context_push(&runtime.threads[slot].context, event, 1);
	else
		post_event(self, slot, event);
}

void context_end(struct thread *self, enum access access)
{
	if (self->together.n)
		context_push(&self->context, access == ACCESS_WRITE ? EVENT_LOCAL_WRITE : EVENT_LOCAL_READ,
			     1);
	self->together.on = self->together.n = 0;
}

void context_once(struct thread *self, uint32_t slot, enum access access)
{
	post_event(self, slot, access == ACCESS_WRITE ? (uint32_t)EVENT_REMOTE_WRITE : EVENT_REMOTE_READ);
	context_push(&self->context, access == ACCESS_WRITE ? EVENT_LOCAL_WRITE : EVENT_LOCAL_READ, 1);
}
