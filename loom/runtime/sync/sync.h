/* What the room sync/ shows to the others: one file per kind of synchronisation object or
 * call. Each function does what libc's does; only waiting is control's. It may use control/,
 * observe/ and the common ground (runtime.h, interpose.h). */
#ifndef RUNTIME_SYNC_H
#define RUNTIME_SYNC_H

#include <errno.h>

#include "loom/runtime/control/control.h"
#include "loom/runtime/interpose.h"

/* What a system call gave, as libc's functions have it. */
INLINE long with_errno(long result)
{
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

/* ---- mutex.c ---- */
HIDDEN int mutex_acquire(struct agent *me, pthread_mutex_t *mutex, uint64_t deadline);
HIDDEN int mutex_release(struct agent *me, pthread_mutex_t *mutex);

HIDDEN int mutex_try(struct agent *me, pthread_mutex_t *mutex);
HIDDEN int mutex_lock_until(struct agent *me, pthread_mutex_t *mutex, clockid_t clock,
			    const struct timespec *when);

/* ---- condition.c ---- */
HIDDEN int condition_wait(struct agent *me, pthread_cond_t *condition, pthread_mutex_t *mutex,
			  uint64_t deadline);
HIDDEN void condition_signal(struct agent *me, const volatile void *condition);
HIDDEN void condition_broadcast(struct agent *me, const volatile void *condition);

/* ---- clock.c ---- */
/* The virtual time at which `when` of the clock comes; NEVER for NULL; false when it is no time. */
HIDDEN bool clock_deadline(clockid_t clock, const struct timespec *when, uint64_t *deadline);
HIDDEN void yield_point(struct agent *me);
HIDDEN int sleep_for(struct agent *me, const struct timespec *time,
		     struct timespec *left); /* EINTR, EINVAL */

/* ---- children.c ---- */
HIDDEN bool
children_alive(void); /* or any other process that the program has started, and that is not stuck */
HIDDEN bool children_are_awaited(const struct agent *agent); /* is that what it waits for? */

/* ---- forked.c ---- */
/* In the child of a fork, which is about to take the mutex: can nobody ever give it back? */
HIDDEN void forked_locks(const pthread_mutex_t *mutex);
HIDDEN bool forked_is_stuck(long pid); /* is it a child that waits for such a lock? */

/* ---- handlers.c ---- */
HIDDEN void signals_cancel(struct agent *agent); /* asynchronously, when its turn comes */

/* ---- named_pipes.c ---- */
/* If it is a named pipe, *fd is one end of it, once the other is open; -1 with errno. */
HIDDEN bool named_pipe_open(const char *path, int flags, int *fd);

/* ---- timers.c ---- */
HIDDEN void timers_close(int fd); /* a file is closed */

/* ---- chance.c ---- */
HIDDEN void chance_fill(void *to, size_t size);
HIDDEN bool chance_reads(int fd); /* is it a file of random numbers? */
HIDDEN void chance_close(int fd);

/* ---- create_join.c ---- */
HIDDEN void cancel_point(struct agent *me);
HIDDEN struct agent *agent_of(pthread_t id); /* NULL when unknown or joined */
HIDDEN int join_wait(struct agent *me, struct agent *other, uint64_t deadline);
HIDDEN void create_point(struct agent *me, const pthread_attr_t *attributes);
HIDDEN void create_done(struct agent *me, struct thread *thread, pthread_t id,
			const pthread_attr_t *attributes);

#endif
