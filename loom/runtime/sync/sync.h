/* What the room sync/ shows to the others: one file per kind of synchronisation object or
 * call. Each function does what libc's does; only waiting is control's. It may use control/,
 * observe/ and the common ground (runtime.h, interpose.h). */
#ifndef RUNTIME_SYNC_H
#define RUNTIME_SYNC_H

#include "loom/runtime/control/control.h"
#include "loom/runtime/interpose.h"

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

/* ---- create_join.c ---- */
HIDDEN void cancel_point(struct agent *me);
HIDDEN struct agent *agent_of(pthread_t id); /* NULL when unknown or joined */
HIDDEN int join_wait(struct agent *me, struct agent *other, uint64_t deadline);
HIDDEN void create_point(struct agent *me, const pthread_attr_t *attributes);
HIDDEN void create_done(struct agent *me, struct thread *thread, pthread_t id,
			const pthread_attr_t *attributes);

#endif
