/* C11 threads under control: in libc its mutexes, condition variables and thread
 * ids are those of pthreads under other names. */
#include "loom/runtime/sync/sync.h"

#include <errno.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) <= sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t),
	       "libc's C11 objects begin as those of pthreads");

static int c11_result(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	case ENOMEM:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

INTERPOSE int mtx_lock(mtx_t *mutex)
{
	struct agent *me = control_me();
	if (me) {
		control_call(me, mutex);
		return c11_result(mutex_acquire(me, (pthread_mutex_t *)mutex, NEVER));
	}
	jitter_at_call();
	if (UNLIKELY(control.is_child))
		forked_locks((const pthread_mutex_t *)mutex);
	return REAL(mtx_lock)(mutex);
}

INTERPOSE int mtx_trylock(mtx_t *mutex)
{
	struct agent *me = control_me();
	return me ? c11_result(mutex_try(me, (pthread_mutex_t *)mutex)) : REAL(mtx_trylock)(mutex);
}

INTERPOSE int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict when)
{
	struct agent *me = control_me();
	return me ? c11_result(mutex_lock_until(me, (pthread_mutex_t *)mutex, CLOCK_REALTIME, when))
		  : REAL(mtx_timedlock)(mutex, when);
}

INTERPOSE int mtx_unlock(mtx_t *mutex)
{
	struct agent *me = control_me();
	if (me) {
		control_call(me, mutex);
		return c11_result(mutex_release(me, (pthread_mutex_t *)mutex));
	}
	int result = REAL(mtx_unlock)(mutex);
	jitter_at_call(); /* after it: the others' chance */
	return result;
}

INTERPOSE int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	struct agent *me = control_me();
	return me ? c11_result(
			    condition_wait(me, (pthread_cond_t *)condition, (pthread_mutex_t *)mutex, NEVER))
		  : REAL(cnd_wait)(condition, mutex);
}

INTERPOSE int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
			    const struct timespec *restrict when)
{
	struct agent *me = control_me();
	uint64_t deadline;
	if (!me)
		return REAL(cnd_timedwait)(condition, mutex, when);
	if (!clock_deadline(CLOCK_REALTIME, when, &deadline))
		return thrd_error;
	return c11_result(
		condition_wait(me, (pthread_cond_t *)condition, (pthread_mutex_t *)mutex, deadline));
}

INTERPOSE int cnd_signal(cnd_t *condition)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(cnd_signal)(condition);
	condition_signal(me, condition);
	return thrd_success;
}

INTERPOSE int cnd_broadcast(cnd_t *condition)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(cnd_broadcast)(condition);
	condition_broadcast(me, condition);
	return thrd_success;
}

INTERPOSE int thrd_join(thrd_t id, int *value)
{
	struct agent *me = control_me();
	if (me) {
		control_call(me, NULL);
		struct agent *other = agent_of(id);
		int result = other ? join_wait(me, other, NEVER) : 0;
		if (result)
			return c11_result(result);
	}
	return REAL(thrd_join)(id, value);
}

INTERPOSE int thrd_detach(thrd_t id)
{
	struct agent *me = control_me();
	if (me) {
		control_call(me, NULL);
		struct agent *other = agent_of(id);
		if (other)
			other->detached = true;
	}
	return REAL(thrd_detach)(id);
}

INTERPOSE int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(thrd_sleep)(time, left);
	int result = sleep_for(me, time, left);
	return result == EINTR ? -1 : result ? -2 : 0;
}

INTERPOSE void thrd_yield(void)
{
	struct agent *me = control_me();
	if (me)
		yield_point(me);
	else
		REAL(thrd_yield)();
}
