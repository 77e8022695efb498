/* Semaphores under control, unnamed and named: the real trywait and post count,
 * waiting is ours. One that is shared with other processes is polled. */
#include "loom/runtime/sync/sync.h"

#include <errno.h>
#include <semaphore.h>

static int semaphore_acquire(struct agent *me, sem_t *semaphore, uint64_t deadline)
{
	cancel_point(me);
	while (REAL(sem_trywait)(semaphore) != 0) {
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -1;
		object_at((uint64_t)semaphore);
		enum wait_result result = control_wait(me, WAIT_SEMAPHORE, (uint64_t)semaphore, deadline);
		cancel_point(me);
		if (result == WAIT_WOKEN || (result == WAIT_INTERRUPTED && me->restarts))
			continue;
		errno = result == WAIT_TIMED_OUT ? ETIMEDOUT : EINTR;
		return -1;
	}
	object_held(me, semaphore);
	return 0;
}

INTERPOSE int sem_wait(sem_t *semaphore)
{
	struct agent *me = control_me();
	if (me) {
		control_call(me, semaphore);
		return semaphore_acquire(me, semaphore, NEVER);
	}
	jitter_at_call();
	return REAL(sem_wait)(semaphore);
}

INTERPOSE int sem_trywait(sem_t *semaphore)
{
	struct agent *me = control_me();
	if (me)
		control_call(me, semaphore);
	return REAL(sem_trywait)(semaphore);
}

static int semaphore_until(struct agent *me, sem_t *semaphore, clockid_t clock, const struct timespec *when)
{
	uint64_t deadline;
	control_call(me, semaphore);
	bool valid = clock_deadline(clock, when, &deadline);
	int result = semaphore_acquire(me, semaphore, valid ? deadline : 0);
	if (result != 0 && errno == ETIMEDOUT && !valid)
		errno = EINVAL;
	return result;
}

INTERPOSE int sem_timedwait(sem_t *semaphore, const struct timespec *when)
{
	struct agent *me = control_me();
	return me ? semaphore_until(me, semaphore, CLOCK_REALTIME, when)
		  : REAL(sem_timedwait)(semaphore, when);
}

INTERPOSE int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *when)
{
	struct agent *me = control_me();
	return me && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC)
		       ? semaphore_until(me, semaphore, clock, when)
		       : REAL(sem_clockwait)(semaphore, clock, when);
}

INTERPOSE int sem_post(sem_t *semaphore)
{
	struct agent *me = control_me();
	if (me)
		control_call(me, semaphore);
	else
		jitter_at_call();
	int result = REAL(sem_post)(semaphore);
	if (me && result == 0) {
		object_released(semaphore);
		control_wake(WAIT_SEMAPHORE, (uint64_t)semaphore);
	}
	return result;
}

INTERPOSE int sem_getvalue(sem_t *semaphore, int *value)
{
	struct agent *me = control_me();
	if (me)
		control_call(me, semaphore);
	return REAL(sem_getvalue)(semaphore, value);
}
