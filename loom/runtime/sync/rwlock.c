/* Read-write locks and barriers under control: the real try functions decide,
 * waiting is ours. */
#include "loom/runtime/sync/sync.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

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
	object_released(lock); /* who else reads is known by what threads have */
	control_wake(WAIT_WRITE_LOCK, (uint64_t)lock);
	control_wake(WAIT_READ_LOCK, (uint64_t)lock);
	return result;
}

/* ---- barriers ---- */

/* As libc lays a barrier out; who has arrived is known from who waits. */
struct barrier_inside {
	uint32_t in, round, count;
	int shared;
	uint32_t out;
};

static uint32_t barrier_arrived(const pthread_barrier_t *barrier)
{
	uint32_t arrived = 0;
	for (uint32_t i = 0; i < control.nblocked; i++)
		arrived += control.blocked[i]->wait == WAIT_BARRIER &&
			   control.blocked[i]->object == (uint64_t)barrier;
	return arrived;
}

/* ---- barriers that other processes come to as well ---- */

struct shared_arrival {
	struct barrier_inside *barrier;
	uint32_t number; /* among all arrivals; let go when as many belong to full rounds */
};

static bool is_round_full(const struct shared_arrival *arrival)
{
	return __atomic_load_n(&arrival->barrier->round, __ATOMIC_ACQUIRE) >= arrival->number;
}

static bool shared_look(struct agent *agent)
{
	return is_round_full(agent->looked);
}

/* Who fills the round lets all of it go. */
static void shared_let_go(const struct shared_arrival *arrival)
{
	struct barrier_inside *barrier = arrival->barrier;
	uint32_t round = __atomic_load_n(&barrier->round, __ATOMIC_RELAXED);
	uint32_t full = arrival->number - arrival->number % barrier->count;
	while (round + barrier->count <= arrival->number)
		/* Release: what was written before the barrier is seen by all that read the round (is_round_full). */
		if (__atomic_compare_exchange_n(&barrier->round, &round, full, false, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED)) {
			raw_call(SYS_futex, (long)&barrier->round, FUTEX_WAKE, INT_MAX, 0, 0, 0);
			control_wake(WAIT_BARRIER, (uint64_t)barrier);
			return;
		}
}

/* Arrivals are counted where libc counts them in the other processes (glibc's pthread_barrier_wait); only the
 * waiting is ours. libc starts its counters again after 2^31 arrivals, which no controlled run comes to. */
static int shared_wait(struct agent *me, struct barrier_inside *barrier)
{
	struct shared_arrival arrival = { barrier, __atomic_add_fetch(&barrier->in, 1, __ATOMIC_ACQ_REL) };
	shared_let_go(&arrival);
	while (!is_round_full(&arrival)) {
		me->look = shared_look;
		me->looked = &arrival;
		me->foreign = true;
		control_wait(me, WAIT_BARRIER, (uint64_t)barrier, NEVER);
	}
	/* Release: who destroys the barrier waits for as many as came in. */
	__atomic_fetch_add(&barrier->out, 1, __ATOMIC_RELEASE);
	return arrival.number % barrier->count ? 0 : PTHREAD_BARRIER_SERIAL_THREAD;
}

INTERPOSE int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct agent *me = control_me();
	if (!me) {
		jitter_at_call();
		return REAL(pthread_barrier_wait)(barrier);
	}
	control_call(me, barrier);
	object_at((uint64_t)barrier);
	if (((const struct barrier_inside *)barrier)->shared && control.forked)
		return shared_wait(me, (struct barrier_inside *)barrier);
	do { /* whoever had to run a handler meanwhile may be the last */
		if (barrier_arrived(barrier) + 1 >= ((const struct barrier_inside *)barrier)->count) {
			control_wake(WAIT_BARRIER, (uint64_t)barrier);
			return PTHREAD_BARRIER_SERIAL_THREAD;
		}
	} while (control_wait(me, WAIT_BARRIER, (uint64_t)barrier, NEVER) != WAIT_WOKEN);
	return 0;
}
