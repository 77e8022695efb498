/* Condition variables under control. A waiter is an agent that waits for the
 * variable's address; the object itself is never touched. No spurious wake-ups
 * except by cancellation and time, and where a claim is forced (waking.c). */
#include "loom/runtime/sync/sync.h"

#include <errno.h>

/* Whether the wait ends or is cancelled, the mutex is taken again. */
int condition_wait(struct agent *me, pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline)
{
	control_call(me, condition);
	cancel_point(me);
	uint32_t site = me->site;
	enum wait_result woken;
	bool for_nothing = waking_at_once(me, (uint64_t)condition);
	object_awaited(me, condition, mutex);
	do {
		int result = mutex_release(me, mutex);
		if (result)
			return result;
		woken = for_nothing ? WAIT_WOKEN
				    : control_wait(me, WAIT_CONDITION, (uint64_t)condition, deadline);
		object_at((uint64_t)condition)->missed = false;
		me->site = site;
		result = mutex_acquire(me, mutex, NEVER);
		cancel_point(me);
		if (result)
			return result;
		me->site = site;
	} while (woken == WAIT_WOKEN && !for_nothing && waking_waits_on(me));
	return woken == WAIT_TIMED_OUT ? ETIMEDOUT : 0;
}

/* The clock that the condition variable was made with: libc keeps it in bit 1 of its flags. */
static clockid_t condition_clock(const pthread_cond_t *condition)
{
	return condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

INTERPOSE int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	struct agent *me = control_me();
	return me ? condition_wait(me, condition, mutex, NEVER) : REAL(pthread_cond_wait)(condition, mutex);
}

INTERPOSE int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
				     const struct timespec *when)
{
	struct agent *me = control_me();
	uint64_t deadline;
	if (!me)
		return REAL(pthread_cond_timedwait)(condition, mutex, when);
	if (!clock_deadline(condition_clock(condition), when, &deadline))
		return EINVAL;
	return condition_wait(me, condition, mutex, deadline);
}

INTERPOSE int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
				     const struct timespec *when)
{
	struct agent *me = control_me();
	uint64_t deadline;
	if (!me)
		return REAL(pthread_cond_clockwait)(condition, mutex, clock, when);
	if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || !clock_deadline(clock, when, &deadline))
		return EINVAL;
	return condition_wait(me, condition, mutex, deadline);
}

/* A signal that woke somebody was his. A broadcast was for everybody, also for who has looked and does not wait yet. */
static void condition_signalled(struct agent *me, const volatile void *condition, bool to_all, bool unheard)
{
	object_signalled(me, condition, to_all, unheard);
	if (to_all || unheard)
		waking_missed(me, (uint64_t)condition);
}

static void condition_wake_all(struct agent *me, const volatile void *condition)
{
	if (UNLIKELY(control.forked))
		REAL(pthread_cond_broadcast)((pthread_cond_t *)(uintptr_t)condition);
	uint32_t waiting = control.nblocked;
	control_wake(WAIT_CONDITION, (uint64_t)condition);
	condition_signalled(me, condition, true, waiting == control.nblocked);
}

void condition_signal(struct agent *me, const volatile void *condition)
{
	control_call(me, condition);
	if (UNLIKELY(waking_reaches_all(me))) {
		condition_wake_all(me, condition);
		return;
	}
	if (UNLIKELY(control.forked)) /* who waits in another process waits in reality */
		REAL(pthread_cond_signal)((pthread_cond_t *)(uintptr_t)condition);
	condition_signalled(me, condition, false, !control_wake_one(WAIT_CONDITION, (uint64_t)condition));
}

void condition_broadcast(struct agent *me, const volatile void *condition)
{
	control_call(me, condition);
	condition_wake_all(me, condition);
}

INTERPOSE int pthread_cond_signal(pthread_cond_t *condition)
{
	struct agent *me = control_me();
	if (!me) {
		jitter_at_call();
		return REAL(pthread_cond_signal)(condition);
	}
	condition_signal(me, condition);
	return 0;
}

INTERPOSE int pthread_cond_broadcast(pthread_cond_t *condition)
{
	struct agent *me = control_me();
	if (!me) {
		jitter_at_call();
		return REAL(pthread_cond_broadcast)(condition);
	}
	condition_broadcast(me, condition);
	return 0;
}
