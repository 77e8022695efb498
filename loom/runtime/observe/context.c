/* Communication contexts (BUGABOO, section 3.3). An event enters the contexts of all
 * threads that take part at once, whoever causes it: the context of a write tells
 * what others did before it, also when the writer meets nobody there. A thread reads
 * its own context at every write; it changes only when threads communicate, which
 * moves cells from core to core as well. */
#include "loom/runtime/observe/context.h"
#include "loom/runtime/observe/cells.h"

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

/* ---- events of a busy thread ---- */

/* A thread that has caused many events since its last synchronisation call is busy: it alone changes its
 * context then, and takes in what others have sent it at its next event, its next call, or its next access
 * that is not known yet. Its writes to what is its own do not look into the inbox: that would be one more load
 * and branch in every hook of a write, and a busy thread soon has its next event. */
#define BUSY_FROM 4096u

/* False when only the thread itself may: it says so in the context, so that whoever has not seen it does not
 * succeed either. Relaxed: events publish nothing, they only must not get lost. */
static bool context_push(struct thread *thread, uint32_t events, uint32_t n, bool own)
{
	uint32_t old = RELAXED_GET(thread->context_state), fresh;
	do {
		if (old & CONTEXT_BUSY && !own)
			return false;
		fresh = context_next(old, events, n);
		if (fresh == old)
			return true; /* full of this event already */
	} while (!__atomic_compare_exchange_n(&thread->context_state, &old, fresh, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return true;
}

/* Sequentially consistent, and before a look at who is busy: of a sender and a thread that ceases to be busy
 * one sees what the other did. */
static void inbox_add(struct thread *thread, uint32_t events, uint32_t n)
{
	uint32_t old = RELAXED_GET(thread->inbox), fresh;
	do {
		uint32_t all = (old >> 16) + n;
		fresh = (all < CONTEXT_MOST ? all : CONTEXT_MOST) << 16 | (uint16_t)(old << 2 * n | events);
	} while (!__atomic_compare_exchange_n(&thread->inbox, &old, fresh, true, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
}

static uint32_t inbox_empty(struct thread *thread)
{
	return RELAXED_GET(thread->inbox) ? __atomic_exchange_n(&thread->inbox, 0, __ATOMIC_SEQ_CST) : 0;
}

static void inbox_take(struct thread *self)
{
	uint32_t all = inbox_empty(self);
	if (all)
		context_push(self, (uint16_t)all, all >> 16, true);
}

/* Events of another thread. Should it not be busy any more, it may not look into its inbox for long. */
static void context_give(struct thread *thread, uint32_t events, uint32_t n)
{
	while (n && !context_push(thread, events, n, false)) {
		inbox_add(thread, events, n);
		if (RELAXED_GET(thread->context_state) & CONTEXT_BUSY)
			return;
		uint32_t all = inbox_empty(thread);
		events = (uint16_t)all;
		n = all >> 16;
	}
}

static void context_set_busy(struct thread *self, bool busy)
{
	if (busy)
		__atomic_fetch_or(&self->context_state, CONTEXT_BUSY, __ATOMIC_SEQ_CST);
	else if (RELAXED_GET(self->context_state) & CONTEXT_BUSY)
		__atomic_fetch_and(&self->context_state, ~CONTEXT_BUSY, __ATOMIC_SEQ_CST); /* inbox_add */
}

void context_own_slowly(struct thread *self, uint32_t event)
{
	inbox_take(self);
	context_push(self, event, 1, true);
	if (self->owner != OWNER_NEVER && !runtime.controlled && ++self->events == BUSY_FROM)
		context_set_busy(self, true);
}

/* ---- events for others ---- */

/* A thread that has caused many events of another one since its last synchronisation call sends further
 * ones eight at a time, and after many more 64 at a time, of which the context keeps the last: two cores
 * that take a context from each other at every access do little else. Until then they wait at most for
 * the next call or the next access that is not known yet. */
#define POST_AT_ONCE 4096u
#define POST_FEW 8u
#define POST_BY_FEW 32768u
#define POST_MANY 64u

static void post_send(struct thread *self, struct post *post)
{
	struct thread *thread = &runtime.threads[post->slot];
	uint32_t n = post->n < CONTEXT_MOST ? post->n : CONTEXT_MOST;
	if (post->epoch == (uint16_t)RELAXED_GET(runtime.recycled)) /* else it may be another thread's slot */
		context_give(thread, post->events, n);
	self->posted -= post->n;
	post->sent += post->n;
	bool at_once = runtime.controlled || post->sent < POST_AT_ONCE; /* under control no cores compete */
	post->most = at_once ? 0 : post->sent < POST_BY_FEW ? POST_FEW : POST_MANY;
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
	if (post->n >= post->most)
		post_send(self, post);
}

void context_send(struct thread *self, bool synchronises)
{
	self->posting &= !synchronises;
	if (synchronises) {
		context_set_busy(self, false);
		self->events = 0;
	}
	inbox_take(self);
	for (struct post *post = self->posts; post < self->posts + POSTS; post++) {
		if (post->n)
			post_send(self, post);
		if (synchronises)
			post->sent = post->most = 0;
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
		context_give(&runtime.threads[slot], event, 1);
	else
		post_event(self, slot, event);
}

void context_end(struct thread *self, enum access access)
{
	if (self->together.n)
		context_own(self, access);
	self->together.on = self->together.n = 0;
}

void context_once(struct thread *self, uint32_t slot, enum access access)
{
	post_event(self, slot, access == ACCESS_WRITE ? (uint32_t)EVENT_REMOTE_WRITE : EVENT_REMOTE_READ);
	context_own(self, access);
}
