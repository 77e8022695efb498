/* Contexts (loom/runtime/observe/context.c) against a naive twin that keeps every event in lists:
 * threads that become busy, whose events wait in an inbox, and events that travel together.
 * Then two threads at once, step by step: whatever one does between a look of the other at
 * what they share and its next step, no event is lost, and nobody but the thread itself
 * touches the context of a busy one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "loom/runtime/observe/cells.h"

/* Every look may be followed by a moment in which another thread acts. */
static void (*meanwhile)(void);
static uint32_t moments_left;

static void moment(void)
{
	if (moments_left && !--moments_left)
		meanwhile();
}

#undef RELAXED_GET
#define RELAXED_GET(place)                                                       \
	({                                                                       \
		__auto_type there = __atomic_load_n(&(place), __ATOMIC_RELAXED); \
		moment();                                                        \
		there;                                                           \
	})
#include "loom/runtime/observe/context.c"

struct runtime runtime;

enum { THREADS = 12, STEPS = 300000 };

static uint64_t seed = 5;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- the twin ---- */

/* The last events of a sequence, the newest last. */
#define LAST 64u
struct sequence {
	uint32_t n;
	uint8_t events[LAST];
};

struct line {
	uint32_t slot, most, sent;
	struct sequence waiting;
};

struct twin {
	struct sequence context, inbox;
	bool busy;
	uint32_t events;
	struct line lines[POSTS];
};
static struct twin twins[THREADS];

static void append(struct sequence *to, uint32_t event)
{
	to->events[to->n++ % LAST] = (uint8_t)event;
}

static void move(struct sequence *from, struct sequence *to)
{
	for (uint32_t i = from->n < LAST ? 0 : from->n - LAST; i < from->n; i++)
		append(to, from->events[i % LAST]);
	from->n = 0;
}

static void twin_own(struct twin *twin, uint32_t event)
{
	if (!twin->busy || twin->inbox.n)
		twin->events++;
	move(&twin->inbox, &twin->context);
	append(&twin->context, event);
	twin->busy |= twin->events >= BUSY_FROM;
}

static void twin_deliver(struct line *line)
{
	struct twin *to = &twins[line->slot];
	line->sent += line->waiting.n;
	move(&line->waiting, to->busy ? &to->inbox : &to->context);
	line->most = line->sent < 4096 ? 0 : line->sent < 32768 ? 8 : 64;
}

static void twin_post(struct twin *twin, uint32_t slot, uint32_t event)
{
	struct line *line = &twin->lines[slot % POSTS];
	if (line->slot != slot) {
		twin_deliver(line);
		*line = (struct line){ .slot = slot };
	}
	append(&line->waiting, event);
	if (line->waiting.n >= line->most)
		twin_deliver(line);
}

static void twin_send(struct twin *twin, bool synchronises)
{
	if (synchronises) {
		twin->busy = false;
		twin->events = 0;
	}
	move(&twin->inbox, &twin->context);
	for (uint32_t i = 0; i < POSTS; i++) {
		twin_deliver(&twin->lines[i]);
		if (synchronises)
			twin->lines[i].sent = twin->lines[i].most = 0;
	}
}

/* As a context tells it when so many events are kept. */
static uint32_t told(const struct sequence *sequence, uint32_t kept)
{
	uint32_t n = sequence->n < kept ? sequence->n : kept, context = kept < 8 ? 1 : 0;
	for (uint32_t i = sequence->n - n; i < sequence->n; i++)
		context = context << 2 | sequence->events[i % LAST];
	return context;
}

static uint32_t count(const struct thread *thread, uint32_t kept, uint32_t event)
{
	uint32_t n = 0;
	for (uint32_t context = thread->context; context > 1 && kept--; context >>= 2)
		n += (context & 3) == event;
	return n;
}

/* ---- the world ---- */

static void begin(uint32_t kept)
{
	context_start(kept);
	memset(twins, 0, sizeof twins);
	memset(runtime.threads, 0, THREADS * sizeof *runtime.threads);
	for (uint32_t slot = 0; slot < THREADS; slot++) {
		runtime.threads[slot].slot = slot;
		runtime.threads[slot].context_state = context_empty();
	}
}

static int prepare(void **state)
{
	(void)state;
	runtime.threads = calloc(THREADS, sizeof *runtime.threads);
	return runtime.threads ? 0 : 1;
}

static int tidy(void **state)
{
	(void)state;
	free(runtime.threads);
	return 0;
}

static uint32_t own_event(enum access access)
{
	return access == ACCESS_WRITE ? (uint32_t)EVENT_LOCAL_WRITE : EVENT_LOCAL_READ;
}

static uint32_t remote_event(enum access access)
{
	return access == ACCESS_WRITE ? (uint32_t)EVENT_REMOTE_WRITE : EVENT_REMOTE_READ;
}

/* ---- one thread at a time ---- */

static uint32_t another(uint32_t slot, uint32_t others)
{
	return 1 + (slot + below(others)) % (THREADS - 1);
}

static void meet_some(uint32_t slot, uint32_t others, enum access access)
{
	uint32_t met[3] = { another(slot, 3), another(slot, 4 + others / 2), another(slot, 3) };
	for (uint32_t i = 0; i < 3; i++) {
		bool again = (i > 0 && met[0] == met[i]) || (i > 1 && met[1] == met[i]);
		context_meet(&runtime.threads[slot], met[i], access);
		if (!again)
			twin_post(&twins[slot], met[i], remote_event(access));
	}
	context_end(&runtime.threads[slot], access);
	twin_own(&twins[slot], own_event(access));
}

static void one_step(uint32_t others)
{
	uint32_t slot = below(4) ? 1 + below(2) : 1 + below(THREADS - 1), what = below(16);
	struct thread *self = &runtime.threads[slot];
	enum access access = below(2) ? ACCESS_WRITE : ACCESS_READ;
	uint32_t other = another(slot, others);
	const struct line *line = &twins[slot].lines[other % POSTS];
	if (what == 0 && below(6000) == 0) {
		context_send(self, true);
		twin_send(&twins[slot], true);
	} else if (what == 0 && below(4) == 0) {
		context_send(self, false);
		twin_send(&twins[slot], false);
	} else if (what == 1) {
		meet_some(slot, others, access);
	} else if (line->slot == other && line->waiting.n + 1 < line->most) {
		assert_true(context_meet_later(self, other, access));
		context_own(self, access);
		twin_post(&twins[slot], other, remote_event(access));
		twin_own(&twins[slot], own_event(access));
	} else {
		assert_false(context_meet_later(self, other, access));
		context_once(self, other, access);
		twin_post(&twins[slot], other, remote_event(access));
		twin_own(&twins[slot], own_event(access));
	}
}

static void test_in_turns(void **state)
{
	(void)state;
	for (uint32_t kept = 0; kept <= 8; kept++) {
		uint32_t busy = 0, waited = 0, together = 0;
		begin(kept);
		for (uint32_t step = 0; step < STEPS; step++) {
			one_step(step >= STEPS / 2 ? 10 : 1);
			for (uint32_t slot = 1; slot < THREADS; slot++) {
				assert_int_equal(runtime.threads[slot].context,
						 told(&twins[slot].context, kept));
				waited += twins[slot].inbox.n > 0;
			}
			busy += twins[1].busy;
			together += twins[1].lines[2].waiting.n > 7;
		}
		assert_true(busy > 1000 && waited > 1000 && together > 1000);
	}
}

/* ---- two at once ---- */

enum { SENDER = 1, RECEIVER = 2, KEPT = 8 };
static uint32_t state_then; /* of the receiver, when it had done its part */

static struct thread *receiver(void)
{
	return &runtime.threads[RECEIVER];
}

static void receiver_has_event(void)
{
	context_own(receiver(), ACCESS_WRITE);
	state_then = receiver()->context_state;
}

static void receiver_calls(void)
{
	context_send(receiver(), true);
	state_then = receiver()->context_state;
}

static void receiver_waits_no_more(void)
{
	context_send(receiver(), false);
	state_then = receiver()->context_state;
}

static void sender_sends(void)
{
	context_once(&runtime.threads[SENDER], RECEIVER, ACCESS_READ);
}

static void receiver_is_not_busy(void)
{
	begin(KEPT);
}

static void receiver_becomes_busy(void)
{
	begin(KEPT);
	receiver()->events = BUSY_FROM - 1;
}

static void receiver_is_busy(void)
{
	receiver_becomes_busy();
	context_own(receiver(), ACCESS_WRITE);
	assert_true(receiver()->context_state & CONTEXT_BUSY);
}

static void receiver_has_mail(void)
{
	receiver_is_busy();
	context_give(receiver(), EVENT_REMOTE_READ, 1);
}

/* All that was sent is there, once, and waits only where it will be looked for. */
static void check(uint32_t sent, bool received)
{
	const struct thread *thread = receiver();
	uint32_t waits = thread->inbox >> 16;
	assert_int_equal(count(thread, KEPT, EVENT_REMOTE_READ) + waits, sent);
	if (received && thread->context_state & CONTEXT_BUSY)
		assert_int_equal(thread->context_state, state_then);
	if (!(thread->context_state & CONTEXT_BUSY))
		assert_int_equal(waits, 0);
	context_own(receiver(), ACCESS_WRITE);
	assert_int_equal(count(thread, KEPT, EVENT_REMOTE_READ), sent);
	assert_int_equal(thread->inbox, 0);
}

/* `other` comes in at the first moment of `one`, at its second, and so on. */
static void at_every_moment(void (*prepared)(void), void (*one)(void), void (*other)(void), uint32_t sent)
{
	uint32_t moments = 0;
	for (bool came = true; came; moments += came) {
		prepared();
		meanwhile = other;
		moments_left = moments + 1;
		one();
		came = !moments_left;
		moments_left = 0;
		if (came)
			check(sent, other != sender_sends);
	}
	assert_true(moments > 0);
}

static void test_at_once(void **state)
{
	(void)state;
	void (*const receives[])(void) = { receiver_has_event, receiver_calls, receiver_waits_no_more };
	for (int i = 0; i < 3; i++) {
		void (*const receive)(void) = receives[i];
		at_every_moment(receiver_is_not_busy, sender_sends, receive, 1);
		at_every_moment(receiver_becomes_busy, sender_sends, receive, 1);
		at_every_moment(receiver_is_busy, sender_sends, receive, 1);
		at_every_moment(receiver_has_mail, sender_sends, receive, 2);
		at_every_moment(receiver_is_not_busy, receive, sender_sends, 1);
		at_every_moment(receiver_becomes_busy, receive, sender_sends, 1);
		at_every_moment(receiver_is_busy, receive, sender_sends, 1);
		at_every_moment(receiver_has_mail, receive, sender_sends, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_turns),
		cmocka_unit_test(test_at_once),
	};
	return cmocka_run_group_tests(tests, prepare, tidy);
}
