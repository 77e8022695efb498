/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Synchronisation calls of the program, as preload.c tells of them. The calls
 * themselves are libc's own; what they come down to, waiting and waking, is in
 * system_calls.c. Here they become points of a controlled run, and it is noted who holds
 * what, for the report of a run that cannot go on. */
#include "loom/grind/control.h"
#include "loom/grind/requests.h"
#include "loom/runtime/control/waking.h"

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
		me->locks[me->nlocks].object = address;
		me->locks[me->nlocks++].site = site;
	}
	object->holder = grind.thread->number;
	object->holder_site = site;
}

/* A signal that nobody waits for may be one that somebody will miss. */
static void note_signal(Addr address, uint32_t site)
{
	struct object *object = object_at(address);

	object->missed = true;
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->thread->calls == WAIT_CONDITION &&
		    control.blocked[i]->thread->called == address)
			object->missed = false;
	object->missed_thread = grind.thread->number;
	object->missed_site = site;
}

static void call_begins(UWord call, Addr object, Addr second, const char *name)
{
	struct thread *me = grind.thread;
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
		object_at(object);
		if (me->agent)
			waking_waits(me->agent);
		released(second);
		break;
	case SYNC_CONDITION_SIGNAL:
	case SYNC_CONDITION_BROADCAST:
		note_signal(object, site);
		break;
	default:
		break;
	}
}

static void joined(uint32_t number)
{
	struct thread *thread = thread_numbered(number);

	trace_call(number, AREA_JOIN);
	if (thread)
		thread->joined = true;
}

static bool waits_on(struct thread *me)
{
	me->agent->site = me->call_site;
	return waking_waits_on(me->agent);
}

/* True: the call is to be made once more, since what its thread waits for has not changed. */
static bool call_returned(UWord call, Addr object, UWord result)
{
	struct thread *me = grind.thread;
	bool got = (int)result == 0, again = false;

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
		again = got && me->agent && waits_on(me);
		break;
	default:
		break;
	}
	me->calls = WAIT_NOTHING;
	me->called = me->second = 0;
	return again;
}

Bool sync_request(ThreadId tid, UWord *request, UWord *result)
{
	(void)tid;
	if (request[0] != SYNC_BEGINS && request[0] != SYNC_RETURNED)
		return False;
	*result = 0;
	if (!grind.observed || grind.head->control.policy == POLICY_FREE)
		return True;
	if (request[0] == SYNC_BEGINS)
		call_begins(request[1], request[2], request[3], (const char *)request[4]);
	else
		*result = call_returned(request[1], request[2], request[3]);
	return True;
}
