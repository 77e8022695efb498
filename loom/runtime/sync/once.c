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

/* Also when the routine left by an exception or by cancellation. */
static void once_over(int **state)
{
	object_released(*state);
	control_wake(WAIT_ONCE, (uint64_t)*state);
}

INTERPOSE int pthread_once(pthread_once_t *once, void (*routine)(void))
{
	struct agent *me = control_me();
	if (!me)
		return REAL(pthread_once)(once, routine);
	if (once_waits(me, once, ONCE_RUNS, ONCE_DONE))
		return 0;
	__attribute__((cleanup(once_over))) int *state = once;
	return REAL(pthread_once)(once, routine);
}

INTERPOSE void call_once(once_flag *once, void (*routine)(void))
{
	struct agent *me = control_me();
	if (!me) {
		REAL(call_once)(once, routine);
		return;
	}
	if (once_waits(me, (const int *)once, ONCE_RUNS, ONCE_DONE))
		return;
	__attribute__((cleanup(once_over))) int *state = (int *)once;
	REAL(call_once)(once, routine);
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
		once_over((int **)&guard);
}

INTERPOSE void __cxa_guard_abort(int64_t *guard)
{
	struct agent *me = control_me();
	REAL(__cxa_guard_abort)(guard);
	if (me)
		once_over((int **)&guard);
}
