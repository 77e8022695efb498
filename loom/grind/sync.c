/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Synchronisation calls of the program, as preload.c tells of them. The calls
 * themselves are libc's own; what they come down to, waiting and waking, is in
 * system_calls.c. Here they become points of a controlled run, and it is noted who holds
 * what, for the report of a run that cannot go on. */
#include "loom/grind/control.h"
#include "loom/grind/requests.h"

static uint32_t wait_kind(UWord call)
{
	switch (call) {
	case SYNC_MUTEX_LOCK:
		return WAIT_MUTEX;
	case SYNC_CONDITION_WAIT:
		return WAIT_CONDITION;
	case SYNC_READ_LOCK:
		return WAIT_READ_LOCK;
	case SYNC_WRITE_LOCK:
		return WAIT_WRITE_LOCK;
	case SYNC_BARRIER_WAIT:
		return WAIT_BARRIER;
	case SYNC_SEMAPHORE_WAIT:
		return WAIT_SEMAPHORE;
	case SYNC_SPIN_LOCK:
		return WAIT_SPINLOCK;
	case SYNC_ONCE:
		return WAIT_ONCE;
	case SYNC_JOIN:
		return WAIT_JOIN;
	default:
		return WAIT_NOTHING;
	}
}

/* What a traced run tells of calls: locks by their address, threads by their number. */
static void trace_call(uint64_t object, uint32_t action)
{
	if (grind.traced && grind.controlled)
		log_event(object, 1, grind.thread->call_site, action, *grind.thread->order);
}

static void released(Addr address)
{
	struct agent *me = grind.thread->agent;

	trace_call(address, AREA_RELEASE);

	for (uint32_t i = me ? me->nlocks : 0; i-- > 0;)
		if (me->locks[i].object == address) {
			for (me->nlocks--; i < me->nlocks; i++)
				me->locks[i] = me->locks[i + 1];
			break;
		}
	object_at(address)->holder = AREA_THREAD_GONE;
}

static void held(Addr address, uint32_t site)
{
	struct object *object = object_at(address);
	struct agent *me = grind.thread->agent;

	trace_call(address, AREA_ACQUIRE);
	if (me && me->nlocks < LOCKS_KNOWN) {
		me->locks[me->nlocks].order = agent_order(me);
		me->locks[me->nlocks].signals = control.signals;
		me->locks[me->nlocks].object = address;
		me->locks[me->nlocks++].site = site;
	}
	object->holder = grind.thread->number;
	object->holder_site = site;
}

/* A signal that nobody waits for may be one that somebody will miss; a broadcast was also for who has looked and
 * does not wait yet. */
static void note_signal(Addr address, uint32_t site, bool to_all)
{
	struct object *object = object_at(address);

	object->signalled = ++control.signals;
	if (to_all) {
		object->broadcast = control.signals;
		object->broadcast_thread = grind.thread->number;
		object->broadcast_site = site;
	}
	object->missed = true;
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->thread->calls == WAIT_CONDITION &&
		    control.blocked[i]->thread->called == address)
			object->missed = false;
	object->missed_thread = grind.thread->number;
	object->missed_site = site;
}

/* Did a broadcast come since the thread took the mutex with which it waits? */
static void note_wait(Addr condition, Addr mutex)
{
	const struct object *object = object_at(condition);
	struct agent *me = grind.thread->agent;

	if (!me)
		return;
	me->missed = false;
	me->taken.site = 0;
	me->began = control.signals;
	for (uint32_t i = me->nlocks; object->broadcast && i-- > 0;)
		if (me->locks[i].object == mutex) {
			me->missed = object->broadcast > me->locks[i].signals;
			return;
		}
}

/* The thread's wait is over: the last signal was not for those who still wait since before it. Whom libc wakes does
 * not tell, since who comes later may be quicker. */
static void note_taken(Addr condition)
{
	const struct object *object = object_at(condition);
	const struct agent *me = grind.thread->agent;

	if (!me || me->began >= object->signalled || object->broadcast == object->signalled)
		return;
	for (uint32_t i = 0; i < control.nblocked; i++) {
		struct agent *other = control.blocked[i];

		if (other->thread->calls != WAIT_CONDITION || other->thread->called != condition ||
		    other->began >= object->signalled)
			continue;
		other->taken.site = object->missed_site;
		other->taken.thread = object->missed_thread;
		other->taken.taker_site = grind.thread->call_site;
		other->taken.taker = me->number;
	}
}

/* Claims about how waits end: loom/runtime/control/waking.c. */
static void keep_signal(struct agent *me, Addr condition, bool to_all)
{
	if (me && (to_all || object_at(condition)->missed))
		waking_missed(me, condition);
}

static bool wait_goes_on(void)
{
	struct agent *me = grind.thread->agent;

	if (!me)
		return false;
	me->site = grind.thread->call_site;
	return waking_waits_on(me);
}

/* The functions of C11 call those of POSIX for the same. The outer one is what the program did. */
static bool is_within(const struct thread *me, UWord call, Addr object)
{
	return object && me->called == object && me->calls == wait_kind(call);
}

/* How many signals more than one it takes to wake all who wait, as far as a claim wants that. */
static UWord signals_more(struct agent *me, Addr condition)
{
	UWord waiting = 0;

	if (!me || !waking_reaches_all(me))
		return 0;
	for (uint32_t i = 0; i < control.nready + control.nblocked; i++) {
		const struct thread *thread =
			(i < control.nready ? control.ready[i] : control.blocked[i - control.nready])->thread;

		waiting += thread->calls == WAIT_CONDITION && thread->called == condition;
	}
	return waiting ? waiting - 1 : 0;
}

/* What preload.c is told of a call that is to end otherwise than it would. */
static UWord call_begins(UWord call, Addr object, Addr second, const char *name)
{
	struct thread *me = grind.thread;
	UWord otherwise = 0;

	if (is_within(me, call, object)) {
		me->inner++;
		return 0;
	}
	uint32_t site = site_of_call(SITE_SYNC, name);

	site_used(site);
	control_call(site, object);
	me->closed = *me->order;
	me->calls = wait_kind(call);
	me->call_site = site;
	me->called = object;
	me->second = second;
	switch (call) {
	case SYNC_MUTEX_UNLOCK:
	case SYNC_RW_UNLOCK:
	case SYNC_SPIN_UNLOCK:
		released(object);
		break;
	case SYNC_CONDITION_WAIT:
		note_wait(object, second);
		otherwise = me->agent && waking_at_once(me->agent, object);
		released(second);
		break;
	case SYNC_CONDITION_SIGNAL:
	case SYNC_CONDITION_BROADCAST:
		note_signal(object, site, call == SYNC_CONDITION_BROADCAST);
		keep_signal(me->agent, object, call == SYNC_CONDITION_BROADCAST);
		otherwise = signals_more(me->agent, object);
		break;
	default:
		break;
	}
	return otherwise;
}

static void joined(uint32_t number)
{
	struct thread *thread = thread_numbered(number);

	trace_call(number, AREA_JOIN);
	if (thread)
		thread->joined = true;
}

static void call_returned(UWord call, Addr object, UWord result)
{
	struct thread *me = grind.thread;
	bool got = (int)result == 0;

	if (me->inner) {
		me->inner--;
		return;
	}
	switch (call) {
	case SYNC_MUTEX_LOCK:
	case SYNC_MUTEX_TRY:
	case SYNC_WRITE_LOCK:
	case SYNC_TRY_WRITE:
	case SYNC_READ_LOCK:
	case SYNC_TRY_READ:
	case SYNC_SPIN_LOCK:
	case SYNC_SPIN_TRY:
		if (got)
			held(object, me->call_site);
		break;
	case SYNC_CREATE:
		if (got)
			trace_call(thread_last_made(), AREA_CREATE);
		break;
	case SYNC_JOIN:
		if (got)
			joined(thread_with_id(object));
		break;
	case SYNC_CONDITION_WAIT:
		held(me->second, me->call_site);
		if (got)
			note_taken(object);
		break;
	default:
		break;
	}
	me->calls = WAIT_NOTHING;
	me->called = me->second = 0;
}

/* What libc keeps for all threads; afterwards it is too late for a point. */
static void state_written(Addr place, SizeT size, const char *name, bool afterwards)
{
	uint32_t site = grind.observed ? site_of_call(SITE_WRITE, name) : 0;

	if (afterwards)
		shadow_by_call(place, size, true, site);
	else
		access_by_call(place, size, true, site);
}

Bool sync_request(ThreadId tid, UWord *request, UWord *result)
{
	(void)tid;
	if (request[0] < SYNC_BEGINS || request[0] > STATE_WRITTEN)
		return False;
	*result = 0;
	if (request[0] >= STATE_TO_BE_WRITTEN) {
		state_written(request[1], request[2], (const char *)request[3], request[0] == STATE_WRITTEN);
		return True;
	}
	if (!grind.observed || grind.head->control.policy == POLICY_FREE)
		return True;
	if (request[0] == SYNC_BEGINS)
		*result = call_begins(request[1], request[2], request[3], (const char *)request[4]);
	else if (request[0] == SYNC_WOKEN)
		*result = wait_goes_on();
	else
		call_returned(request[1], request[2], request[3]);
	return True;
}
