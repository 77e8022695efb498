/* Read-write locks and barriers under control: the real try functions decide,
 * waiting is ours. */
#include "loom/runtime/sync/sync.h"

#include <errno.h>

/* Readers let waiting writers go first where the lock was made so. */
static bool writer_first(const pthread_rwlock_t *lock)
{
	if (lock->__data.__flags != PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
		return false;
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->wait == WAIT_WRITE_LOCK &&
		    control.blocked[i]->object == (uint64_t)lock)
			return true;
	return false;
}

static int rwlock_try(struct agent *me, pthread_rwlock_t *lock, bool write)
{
	int result = write                 ? REAL(pthread_rwlock_trywrlock)(lock)
		     : !writer_first(lock) ? REAL(pthread_rwlock_tryrdlock)(lock)
					   : EBUSY;
	if (result == 0)
		object_entered(me, lock);
	return result;
}

static int rwlock_acquire(struct agent *me, pthread_rwlock_t *lock, bool write, uint64_t deadline)
{
	for (;;) {
		int result = rwlock_try(me, lock, write);
		if (result != EBUSY)
			return result;
		if (lock->__data.__cur_writer == me->tid)
			return EDEADLK;
		object_at((uint64_t)lock);
		if (control_wait(me, write ? WAIT_WRITE_LOCK : WAIT_READ_LOCK, (uint64_t)lock, deadline) ==
		    WAIT_TIMED_OUT)
			return ETIMEDOUT;
	}
}

static int rwlock_until(struct agent *me, pthread_rwlock_t *lock, bool write, clockid_t clock,
			const struct timespec *when)
{
	uint64_t deadline;
	control_call(me, lock);
	if (!clock_deadline(clock, when, &deadline))
		return EINVAL;
	return rwlock_acquire(me, lock, write, deadline);
}

#define RWLOCK(name, write)                                            \
	INTERPOSE int name(pthread_rwlock_t *lock)                     \
	{                                                              \
		struct agent *me = control_me();                       \
		if (me) {                                              \
			control_call(me, lock);                        \
			return rwlock_acquire(me, lock, write, NEVER); \
		}                                                      \
		jitter_at_call();                                      \
		return REAL(name)(lock);                               \
	}
RWLOCK(pthread_rwlock_rdlock, false)
RWLOCK(pthread_rwlock_wrlock, true)

#define RWLOCK_TRY(name, write)                     \
	INTERPOSE int name(pthread_rwlock_t *lock)  \
	{                                           \
		struct agent *me = control_me();    \
		if (!me)                            \
			return REAL(name)(lock);    \
		control_call(me, lock);             \
		return rwlock_try(me, lock, write); \
	}
RWLOCK_TRY(pthread_rwlock_tryrdlock, false)
RWLOCK_TRY(pthread_rwlock_trywrlock, true)

#define RWLOCK_TIMED(name, write)                                                                         \
	INTERPOSE int name(pthread_rwlock_t *lock, const struct timespec *when)                           \
	{                                                                                                 \
		struct agent *me = control_me();                                                          \
		return me ? rwlock_until(me, lock, write, CLOCK_REALTIME, when) : REAL(name)(lock, when); \
	}
RWLOCK_TIMED(pthread_rwlock_timedrdlock, false)
RWLOCK_TIMED(pthread_rwlock_timedwrlock, true)

#define RWLOCK_CLOCK(name, write)                                                                       \
	INTERPOSE int name(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *when)        \
	{                                                                                               \
		struct agent *me = control_me();                                                        \
		return me ? rwlock_until(me, lock, write, clock, when) : REAL(name)(lock, clock, when); \
	}
RWLOCK_CLOCK(pthread_rwlock_clockrdlock, false)
RWLOCK_CLOCK(pthread_rwlock_clockwrlock, true)

INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	struct agent *me = control_me();
	if (me)
		control_call(me, lock);
	int result = REAL(pthread_rwlock_unlock)(lock);
	if (!me) {
		jitter_at_call();
		return result;
	}
	object_left(me, lock);
	if (lock->__data.__cur_writer == 0 && lock->__data.__readers >> 3 == 0)
		object_released(lock);
	control_wake(WAIT_WRITE_LOCK, (uint64_t)lock);
	control_wake(WAIT_READ_LOCK, (uint64_t)lock);
	return result;
}

/* ---- barriers ---- */

/* As libc lays a barrier out; who has arrived is known from who waits. */
struct barrier_inside {
	unsigned in, round, count;
	int shared;
};

static uint32_t barrier_arrived(const pthread_barrier_t *barrier)
{
	uint32_t arrived = 0;
	for (uint32_t i = 0; i < control.nblocked; i++)
		arrived += control.blocked[i]->wait == WAIT_BARRIER &&
			   control.blocked[i]->object == (uint64_t)barrier;
	return arrived;
}

INTERPOSE int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct agent *me = control_me();
	if (!me) {
		jitter_at_call();
		return REAL(pthread_barrier_wait)(barrier);
	}
	control_call(me, barrier);
	if (((const struct barrier_inside *)barrier)->shared && control.forked) {
		control_uncontrolled("a barrier that is shared with other processes");
		return REAL(pthread_barrier_wait)(barrier);
	}
	object_at((uint64_t)barrier);
	do { /* whoever had to run a handler meanwhile may be the last */
		if (barrier_arrived(barrier) + 1 >= ((const struct barrier_inside *)barrier)->count) {
			control_wake(WAIT_BARRIER, (uint64_t)barrier);
			return PTHREAD_BARRIER_SERIAL_THREAD;
		}
	} while (control_wait(me, WAIT_BARRIER, (uint64_t)barrier, NEVER) != WAIT_WOKEN);
	return 0;
}
