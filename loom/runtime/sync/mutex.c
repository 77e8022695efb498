/* Mutexes and spin locks under control. The state is in the object itself: a lock
 * is taken by the real trylock, so that every kind of mutex does what libc says;
 * only waiting is ours. Whoever waits competes again when the lock is given back. */
#include "loom/runtime/sync/sync.h"

#include <errno.h>
#include <limits.h>

/* libc's kinds of mutexes: the type in the low two bits, then flags. */
#define MUTEX_TYPE 3
#define MUTEX_ROBUST 16

static bool owned_by(const struct agent *me, const pthread_mutex_t *mutex)
{
	return mutex->__data.__owner == me->tid;
}

/* libc's trylock would leave a mutex that can never be had again locked. */
static bool is_beyond_recovery(const pthread_mutex_t *mutex)
{
	return (mutex->__data.__kind & MUTEX_ROBUST) && mutex->__data.__owner == INT_MAX - 1;
}

/* The real trylock; notes who has it. */
static int mutex_take(struct agent *me, pthread_mutex_t *mutex)
{
	if (is_beyond_recovery(mutex))
		return ENOTRECOVERABLE;
	int result = REAL(pthread_mutex_trylock)(mutex);
	if (result == 0 || result == EOWNERDEAD) {
		object_entered(me, mutex);
		control_retract(WAIT_MUTEX, (uint64_t)mutex);
	}
	return result;
}

int mutex_acquire(struct agent *me, pthread_mutex_t *mutex, uint64_t deadline)
{
	for (;;) {
		int result = mutex_take(me, mutex);
		if (result != EBUSY)
			return result;
		int type = mutex->__data.__kind & MUTEX_TYPE;
		if (type == PTHREAD_MUTEX_ERRORCHECK_NP && owned_by(me, mutex))
			return EDEADLK;
		object_at((uint64_t)mutex);
		if (control_wait(me, WAIT_MUTEX, (uint64_t)mutex, deadline) == WAIT_TIMED_OUT)
			return ETIMEDOUT;
	}
}

int mutex_release(struct agent *me, pthread_mutex_t *mutex)
{
	int result = REAL(pthread_mutex_unlock)(mutex);
	if (result == 0)
		object_left(me, mutex);
	if (result == 0 && !owned_by(me, mutex)) {
		object_released(mutex);
		control_wake(WAIT_MUTEX, (uint64_t)mutex);
	}
	return result;
}

void mutex_abandon(const struct agent *ended)
{
	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];
		const pthread_mutex_t *mutex = (const pthread_mutex_t *)agent->object;
		if (agent->wait == WAIT_MUTEX && (mutex->__data.__kind & MUTEX_ROBUST) &&
		    owned_by(ended, mutex))
			control_unblock(agent, WAIT_WOKEN);
		else
			i++;
	}
}

/* A lock of the program that libc comes to while it works for us: that of a program's own malloc. */
static int lock_in_library(struct agent *me, pthread_mutex_t *mutex)
{
	me->inside = false;
	int result = mutex_acquire(me, mutex, NEVER);
	me->inside = true;
	return result;
}

INTERPOSE int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct agent *me = control_me();
	if (me) {
		control_call(me, mutex);
		return mutex_acquire(me, mutex, NEVER);
	}
	if (UNLIKELY(runtime.controlled) && (me = control_in_library()))
		return lock_in_library(me, mutex);
	jitter_at_call();
	if (UNLIKELY(control.is_child))
		forked_locks(mutex);
	if (UNLIKELY(runtime.armed))
		armed_lock((uint64_t)mutex);
	return REAL(pthread_mutex_lock)(mutex);
}

int mutex_try(struct agent *me, pthread_mutex_t *mutex)
{
	control_call(me, mutex);
	return mutex_take(me, mutex);
}

INTERPOSE int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	struct agent *me = control_me();
	if (me)
		return mutex_try(me, mutex);
	jitter_at_call();
	return REAL(pthread_mutex_trylock)(mutex);
}

int mutex_lock_until(struct agent *me, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *when)
{
	uint64_t deadline;
	control_call(me, mutex);
	bool valid = clock_deadline(clock, when, &deadline);
	int result = mutex_acquire(me, mutex, valid ? deadline : 0);
	return result == ETIMEDOUT && !valid ? EINVAL : result;
}

INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *when)
{
	struct agent *me = control_me();
	if (me)
		return mutex_lock_until(me, mutex, CLOCK_REALTIME, when);
	return REAL(pthread_mutex_timedlock)(mutex, when);
}

INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *when)
{
	struct agent *me = control_me();
	if (me && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC))
		return mutex_lock_until(me, mutex, clock, when);
	return REAL(pthread_mutex_clocklock)(mutex, clock, when);
}

INTERPOSE int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	struct agent *me = control_me();
	if (me) {
		control_call(me, mutex);
		return mutex_release(me, mutex);
	}
	if (UNLIKELY(runtime.controlled) && (me = control_in_library()))
		return mutex_release(me, mutex);
	if (UNLIKELY(runtime.armed))
		armed_unlock((uint64_t)mutex);
	int result = REAL(pthread_mutex_unlock)(mutex);
	jitter_at_call(); /* after it: the others' chance */
	return result;
}

/* ---- spin locks ---- */

INTERPOSE int pthread_spin_lock(pthread_spinlock_t *lock)
{
	struct agent *me = control_me();
	if (!me) {
		jitter_at_call();
		return REAL(pthread_spin_lock)(lock);
	}
	control_call(me, lock);
	while (REAL(pthread_spin_trylock)(lock) != 0) {
		object_at((uint64_t)lock);
		control_wait(me, WAIT_SPINLOCK, (uint64_t)lock, NEVER);
	}
	object_entered(me, lock);
	control_retract(WAIT_SPINLOCK, (uint64_t)lock);
	return 0;
}

INTERPOSE int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	struct agent *me = control_me();
	if (me)
		control_call(me, lock);
	int result = REAL(pthread_spin_trylock)(lock);
	if (me && result == 0) {
		object_entered(me, lock);
		control_retract(WAIT_SPINLOCK, (uint64_t)lock);
	}
	return result;
}

INTERPOSE int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	struct agent *me = control_me();
	if (me)
		control_call(me, lock);
	int result = REAL(pthread_spin_unlock)(lock);
	if (me) {
		object_left(me, lock);
		object_released(lock);
		control_wake(WAIT_SPINLOCK, (uint64_t)lock);
	}
	return result;
}
