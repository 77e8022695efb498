/* Threads under control: creation, joining, detaching, cancellation. The real
 * functions do the work, once it is certain that they need not wait. */
#include "loom/runtime/sync/sync.h"

#include <errno.h>
#include <sys/syscall.h>
#include <threads.h>

static uint64_t default_stack_size(void)
{
	static HOT size_t size;
	pthread_attr_t attributes;
	if (!size && pthread_getattr_default_np(&attributes) == 0) {
		pthread_attr_getstacksize(&attributes, &size);
		pthread_attr_destroy(&attributes);
	}
	return size;
}

void create_point(struct agent *me, const pthread_attr_t *attributes)
{
	control_call(me, NULL);
	me->inside = me->in_library = true;
	void *low = NULL;
	size_t size = 0;
	control.stack_size = default_stack_size();
	if (attributes && pthread_attr_getstack(attributes, &low, &size) == 0 && size)
		control.stack_size = size;
	/* libc answers with an address below the size when none was set. */
	control.stack_low = (uint64_t)low < -control.stack_size ? (uint64_t)low : 0;
}

static bool is_detached(const pthread_attr_t *attributes)
{
	int state;
	return attributes && pthread_attr_getdetachstate(attributes, &state) == 0 &&
	       state == PTHREAD_CREATE_DETACHED;
}

void create_done(struct agent *me, struct thread *thread, pthread_t id, const pthread_attr_t *attributes)
{
	if (!me)
		return;
	if (thread) {
		struct agent *agent = &control.agents[thread->slot];
		agent->id = id;
		agent->has_id = true;
		agent->detached = is_detached(attributes);
		agent_readies(agent); /* its kernel thread is there */
		spinning_progress(me);
		trace_call(me->thread, me->site, agent->number, AREA_CREATE);
	} else {
		control_uncontrolled("more than 1022 threads");
	}
	me->inside = me->in_library = false;
}

/* The newest thread of that id that nobody has joined; NULL when there is none. */
struct agent *agent_of(pthread_t id)
{
	struct agent *found = NULL;
	for (uint32_t slot = 1; slot < SLOT_GONE; slot++) {
		struct agent *agent = &control.agents[slot];
		if (!agent->thread)
			break; /* slots are used in order */
		if (agent->has_id && !agent->joined && pthread_equal(agent->id, id) &&
		    (!found || agent->number > found->number))
			found = agent;
	}
	return found;
}

void cancel_point(struct agent *me)
{
	if (me->cancelled && !me->cancel_disabled)
		REAL(pthread_testcancel)();
}

static bool gone_look(struct agent *agent)
{
	const struct agent *other = agent->looked;
	return raw_call(SYS_tgkill, control.pid, other->tid, 0, 0, 0, 0) != 0;
}

/* A thread that has ended may still need a lock to free its memory, which somebody has who waits for his turn. */
static void await_gone(struct agent *me, const struct agent *other)
{
	me->looked = other;
	while (other->tid && other->tid != control.pid && !gone_look(me)) {
		me->look = gone_look;
		me->foreign = true;
		control_wait(me, WAIT_INPUT, 0, NEVER);
		me->looked = other;
	}
	me->looked = NULL;
}

/* Waits for the end of a thread: 0, or why not. */
int join_wait(struct agent *me, struct agent *other, uint64_t deadline)
{
	if (other == me ||
	    (other->state == AGENT_BLOCKED && other->wait == WAIT_JOIN && other->object == (uint64_t)me))
		return EDEADLK;
	if (other->detached)
		return EINVAL;
	cancel_point(me);
	while (other->state != AGENT_ENDED) {
		enum wait_result result = control_wait(me, WAIT_JOIN, (uint64_t)other, deadline);
		if (result == WAIT_TIMED_OUT)
			return ETIMEDOUT;
		cancel_point(me);
	}
	await_gone(me, other);
	other->joined = true;
	spinning_progress(me);
	trace_call(me->thread, me->site, other->number, AREA_JOIN);
	return 0;
}

INTERPOSE int pthread_join(pthread_t id, void **value)
{
	struct agent *me = control_me();
	if (me) {
		control_call(me, NULL);
		struct agent *other = agent_of(id);
		int result = other ? join_wait(me, other, NEVER) : 0;
		if (result)
			return result;
	}
	jitter_at_call();
	return REAL(pthread_join)(id, value);
}

INTERPOSE int pthread_tryjoin_np(pthread_t id, void **value)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(pthread_tryjoin_np)(id, value);
	control_call(me, NULL);
	struct agent *other = agent_of(id);
	if (other && other->state != AGENT_ENDED)
		return EBUSY;
	if (other) {
		other->joined = true;
		spinning_progress(me);
		trace_call(me->thread, me->site, other->number, AREA_JOIN);
	}
	return REAL(pthread_join)(id, value);
}

INTERPOSE int pthread_clockjoin_np(pthread_t id, void **value, clockid_t clock, const struct timespec *when)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(pthread_clockjoin_np)(id, value, clock, when);
	uint64_t deadline;
	control_call(me, NULL);
	struct agent *other = agent_of(id);
	if (!clock_deadline(clock, when, &deadline))
		return EINVAL;
	int result = other ? join_wait(me, other, deadline) : 0;
	return result ? result : REAL(pthread_join)(id, value);
}

INTERPOSE int pthread_timedjoin_np(pthread_t id, void **value, const struct timespec *when)
{
	if (control_me())
		return pthread_clockjoin_np(id, value, CLOCK_REALTIME, when);
	return REAL(pthread_timedjoin_np)(id, value, when);
}

INTERPOSE int pthread_detach(pthread_t id)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(pthread_detach)(id);
	control_call(me, NULL);
	struct agent *other = agent_of(id);
	int result = REAL(pthread_detach)(id);
	if (other && result == 0)
		other->detached = true;
	return result;
}

/* ---- cancellation ---- */

INTERPOSE int pthread_setcancelstate(int state, int *old)
{
	int result = REAL(pthread_setcancelstate)(state, old);
	struct agent *me = control_me();
	if (me && result == 0)
		me->cancel_disabled = state == PTHREAD_CANCEL_DISABLE;
	return result;
}

INTERPOSE int pthread_setcanceltype(int type, int *old)
{
	int result = REAL(pthread_setcanceltype)(type, old);
	struct agent *me = control_me();
	if (me && result == 0)
		me->cancel_asynchronous = type == PTHREAD_CANCEL_ASYNCHRONOUS;
	return result;
}

INTERPOSE void pthread_testcancel(void)
{
	struct agent *me = control_me();
	if (me)
		control_call(me, NULL);
	REAL(pthread_testcancel)();
}

static bool ends_by_cancel(uint32_t wait)
{
	return wait == WAIT_CONDITION || wait == WAIT_SEMAPHORE || wait == WAIT_JOIN || wait == WAIT_INPUT ||
	       wait == WAIT_SLEEP;
}

INTERPOSE int pthread_cancel(pthread_t id)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(pthread_cancel)(id);
	control_call(me, NULL);
	struct agent *other = agent_of(id);
	if (other && other != me && other->cancel_asynchronous && !other->cancel_disabled &&
	    other->state != AGENT_ENDED) {
		other->cancelled = true;
		signals_cancel(other);
		return 0;
	}
	me->inside = me->in_library = true; /* libc loads its unwinder now */
	int result = REAL(pthread_cancel)(id);
	me->inside = me->in_library = false;
	if (!other || result != 0)
		return result;
	other->cancelled = true;
	if (other->state == AGENT_BLOCKED && !other->cancel_disabled && ends_by_cancel(other->wait))
		control_unblock(other, WAIT_INTERRUPTED);
	return 0;
}
