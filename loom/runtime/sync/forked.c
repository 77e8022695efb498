/* The child of a fork has one thread, and a copy of every lock as it was. Those that other threads of the parent held
 * then nobody in the child can give back: whoever wants one waits for ever. The child runs free, so it tells the
 * parent's run in the area, and the parent says so when it cannot go on either. */
#include "loom/runtime/sync/children.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* libc's flag of mutexes that several processes share. */
#define MUTEX_SHARED 128

static uint32_t fork_site; /* of the last call */

INTERPOSE pid_t fork(void)
{
	struct agent *me = control_me();
	if (me) {
		control_call(me, NULL);
		fork_site = me->site;
	}
	return REAL(fork)();
}

/* Who had the mutex when the parent forked, and is not here; NULL: nobody such. */
static const struct agent *lost_owner(const pthread_mutex_t *mutex)
{
	int owner = mutex->__data.__owner;
	if (!mutex->__data.__lock || owner <= 0 || mutex->__data.__kind & MUTEX_SHARED)
		return NULL;
	for (uint32_t slot = 1; slot < SLOT_GONE && control.agents[slot].thread; slot++) {
		const struct agent *agent = &control.agents[slot];
		if (agent != control.current && agent->tid == owner &&
		    (agent->state == AGENT_READY || agent->state == AGENT_BLOCKED))
			return agent;
	}
	return NULL;
}

/* Another thread could give the lock back, which libc does not refuse, and an alarm end the process. */
static bool is_alone(void)
{
	struct stat tasks;
	struct itimerval alarm = { 0 };
	raw_call(SYS_getitimer, ITIMER_REAL, (long)&alarm, 0, 0, 0, 0);
	return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3 && !timerisset(&alarm.it_value);
}

void forked_locks(const pthread_mutex_t *mutex)
{
	const struct agent *owner = lost_owner(mutex);
	struct area_schedule *schedule = control.schedule;
	if (!owner || !is_alone())
		return;
	const uint32_t *since = site_of_lock(owner, (uint64_t)mutex);
	uint32_t number = __atomic_fetch_add(&schedule->nstuck, 1, __ATOMIC_RELAXED);
	if (number >= AREA_STUCK)
		return;
	struct area_stuck *stuck = &schedule->stuck[number];
	stuck->pid = getpid();
	stuck->wait = (struct area_wait){ .thread = unsnarl_self->number,
					  .kind = WAIT_MUTEX,
					  .site = units_site_id(unsnarl_self->sync),
					  .address = (uint64_t)mutex,
					  .object = object_at((uint64_t)mutex)->number,
					  .holder = owner->number,
					  .holder_site = units_site_id(since ? *since : 0),
					  .fork_site = units_site_id(fork_site),
					  .missed_thread = AREA_THREAD_GONE,
					  .taken_thread = AREA_THREAD_GONE,
					  .taker_thread = AREA_THREAD_GONE };
	/* Pairs with forked_is_stuck, in the parent. */
	__atomic_store_n(&stuck->state, AREA_VALID, __ATOMIC_RELEASE);
}

bool forked_is_stuck(long pid)
{
	const struct area_schedule *schedule = control.schedule;
	for (uint32_t i = 0; i < AREA_STUCK; i++)
		if (__atomic_load_n(&schedule->stuck[i].state, __ATOMIC_ACQUIRE) == AREA_VALID &&
		    schedule->stuck[i].pid == pid)
			return true;
	return false;
}
