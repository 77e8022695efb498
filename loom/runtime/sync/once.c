/* Initialisation that happens once, under control: pthread_once, call_once and the
 * guards of C++ static variables. The real functions do it; who comes meanwhile
 * waits with us. */
#include "loom/runtime/sync/sync.h"

#include <threads.h>

/* libc's states of a once_control, in its low bits. */
#define ONCE_RUNS 1
#define ONCE_DONE 2
/* libstdc++'s states of a guard: its first byte, its second one. */
#define GUARD_DONE 1
#define GUARD_RUNS 256

/* Waits while somebody else initialises; true when it is done. */
static bool once_waits(struct agent *me, const int *state, int runs, int done)
{
	control_call(me, state);
	uint32_t site = me->site;
	for (;;) {
		int now = __atomic_load_n(state, __ATOMIC_ACQUIRE); /* as the real one would look */
		if (now & done)
			return true;
		if (!(now & runs)) {
			me->site = site;
			object_held(me, state);
			return false;
		}
		object_at((uint64_t)state);
		control_wait(me, WAIT_ONCE, (uint64_t)state, NEVER);
	}
}

static void once_over(const void *state)
{
	object_released(state);
	control_wake(WAIT_ONCE, (uint64_t)state);
}

/* Its own routines that go on, each inside of the one before; of many the last are not known when they are left. */
static uint32_t begin_once(struct agent *me, const void *state)
{
	uint32_t depth = me->nonces++;
	if (depth < ONCES_KNOWN)
		me->onces[depth] = state;
	return depth;
}

static void end_once(struct agent *me, uint32_t depth, const void *state)
{
	me->nonces = depth; /* a jump may have left others */
	once_over(state);
}

/* What the unwinder calls when an exception, cancellation or the end of the thread leaves a frame of run_once or
 * run_call_once. A cleanup written in C would have each program linked with libgcc_s. */
#define UNWIND_CLEANUP 2
#define UNWIND_GO_ON 8
static int left_once(int version, int actions, uint64_t class, void *exception, void *context)
{
	(void)version;
	(void)class;
	(void)exception;
	(void)context;
	struct agent *me = &control.agents[unsnarl_self->slot];
	if (actions & UNWIND_CLEANUP && me->nonces && --me->nonces < ONCES_KNOWN)
		once_over(me->onces[me->nonces]);
	return UNWIND_GO_ON;
}
#define TELLS_WHEN_LEFT() \
	__asm__ volatile(".cfi_personality 0x1b, %c0" : : "i"(left_once)) /* 4 bytes, relative */

static __attribute__((noinline)) int run_once(struct agent *me, pthread_once_t *once, void (*routine)(void))
{
	TELLS_WHEN_LEFT();
	uint32_t depth = begin_once(me, once);
	int result = REAL(pthread_once)(once, routine);
	end_once(me, depth, once);
	return result;
}

INTERPOSE int pthread_once(pthread_once_t *once, void (*routine)(void))
{
	struct agent *me = control_me();
	if (!me)
		return REAL(pthread_once)(once, routine);
	return once_waits(me, once, ONCE_RUNS, ONCE_DONE) ? 0 : run_once(me, once, routine);
}

static __attribute__((noinline)) void run_call_once(struct agent *me, once_flag *once, void (*routine)(void))
{
	TELLS_WHEN_LEFT();
	uint32_t depth = begin_once(me, once);
	REAL(call_once)(once, routine);
	end_once(me, depth, once);
}

INTERPOSE void call_once(once_flag *once, void (*routine)(void))
{
	struct agent *me = control_me();
	if (!me)
		REAL(call_once)(once, routine);
	else if (!once_waits(me, (const int *)once, ONCE_RUNS, ONCE_DONE))
		run_call_once(me, once, routine);
}

extern int __cxa_guard_acquire(int64_t *guard);
extern void __cxa_guard_release(int64_t *guard);
extern void __cxa_guard_abort(int64_t *guard);

INTERPOSE int __cxa_guard_acquire(int64_t *guard)
{
	struct agent *me = control_me();
	if (me && once_waits(me, (const int *)guard, GUARD_RUNS, GUARD_DONE))
		return 0;
	return REAL(__cxa_guard_acquire)(guard);
}

INTERPOSE void __cxa_guard_release(int64_t *guard)
{
	struct agent *me = control_me();
	REAL(__cxa_guard_release)(guard);
	if (me)
		once_over(guard);
}

INTERPOSE void __cxa_guard_abort(int64_t *guard)
{
	struct agent *me = control_me();
	REAL(__cxa_guard_abort)(guard);
	if (me)
		once_over(guard);
}
