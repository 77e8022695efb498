/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A controlled run that cannot go on: says in the area who waits for what, and
 * who holds it. Objects are numbered by first use, since their addresses mean
 * nothing to a reader. */
#include "loom/grind/control.h"

#define BUCKETS 1024u
#define MUTEX_SIZE 40u
#define CONDITION_SIZE 48u

static struct object *buckets[BUCKETS];
static uint32_t nobjects;

struct object *object_at(Addr address)
{
	struct object **bucket = &buckets[(address >> 3) % BUCKETS];

	for (struct object *object = *bucket; object; object = object->next)
		if (object->address == address)
			return object;
	struct object *object = VG_(calloc)("grind.object", 1, sizeof *object);

	object->address = address;
	object->number = ++nobjects;
	object->holder = AREA_THREAD_GONE;
	object->next = *bucket;
	*bucket = object;
	return object;
}

/* The thread whose end another one waits for: its kernel number lies where that one waits. */
static uint32_t thread_ending_at(Addr place)
{
	for (uint32_t i = 0; i < control.nready + control.nblocked; i++) {
		const struct agent *agent =
			i < control.nready ? control.ready[i] : control.blocked[i - control.nready];

		if (agent->thread->clear_tid == place)
			return agent->thread->number;
	}
	return AREA_THREAD_GONE;
}

/* Within a wait for a condition a thread may already wait for the mutex again. */
static struct area_wait wait_of(const struct agent *agent)
{
	bool inside =
		agent->thread->calls == WAIT_CONDITION && agent->object - agent->thread->second < MUTEX_SIZE;
	uint32_t kind = inside ? WAIT_MUTEX : agent->thread->calls;
	Addr address = inside ? agent->thread->second : agent->thread->called;
	struct area_wait wait = { .thread = agent->thread->number,
				  .site = site_id(agent->site),
				  .missed_thread = AREA_THREAD_GONE,
				  .taken_thread = AREA_THREAD_GONE,
				  .taker_thread = AREA_THREAD_GONE,
				  .holder = AREA_THREAD_GONE };

	site_used(agent->site);
	if (agent->wait == WAIT_INPUT || agent->wait >= WAIT_SLEEP)
		kind = agent->wait == WAIT_INPUT ? WAIT_INPUT : WAIT_NOTHING;
	else if (kind == WAIT_NOTHING)
		kind = WAIT_ADDRESS;
	if (kind == WAIT_ADDRESS)
		address = agent->object;
	wait.kind = kind;
	wait.address = address;
	if (kind == WAIT_JOIN) {
		wait.holder = thread_ending_at(agent->object);
		return wait;
	}
	const struct object *object = object_at(address);

	wait.object = object->number;
	wait.holder = object->holder;
	if (object->holder != AREA_THREAD_GONE) {
		wait.holder_site = site_id(object->holder_site);
		site_used(object->holder_site);
	}
	if (agent->missed && kind == WAIT_CONDITION) {
		wait.missed_site = site_id(object->broadcast_site);
		wait.missed_thread = object->broadcast_thread;
		site_used(object->broadcast_site);
	} else if (object->missed && object->missed_thread != wait.thread &&
		   (kind == WAIT_CONDITION || kind == WAIT_ADDRESS)) {
		wait.missed_site = site_id(object->missed_site);
		wait.missed_thread = object->missed_thread;
		site_used(object->missed_site);
	}
	if (kind == WAIT_CONDITION && agent->taken.site) {
		wait.taken_site = site_id(agent->taken.site);
		wait.taken_thread = agent->taken.thread;
		wait.taker_site = site_id(agent->taken.taker_site);
		wait.taker_thread = agent->taken.taker;
		site_used(agent->taken.site);
		site_used(agent->taken.taker_site);
	}
	return wait;
}

static const struct area_wait *wait_numbered(uint32_t thread)
{
	for (uint32_t i = 0; i < grind.schedule->nwaits; i++)
		if (grind.schedule->waits[i].thread == thread)
			return &grind.schedule->waits[i];
	return NULL;
}

/* Does following the holders from here lead into a circle? */
static bool in_circle(const struct area_wait *wait)
{
	for (uint32_t steps = 0; wait && steps <= grind.schedule->nwaits; steps++) {
		if (steps == grind.schedule->nwaits)
			return true;
		wait = wait->holder == AREA_THREAD_GONE ? NULL : wait_numbered(wait->holder);
	}
	return false;
}

void control_stuck(void)
{
	struct area_schedule *schedule = grind.schedule;
	bool circle = false, missed = false;

	for (uint32_t i = 0; i < control.nblocked && i < AREA_SLOTS; i++)
		schedule->waits[schedule->nwaits++] = wait_of(control.blocked[i]);
	for (uint32_t i = 0; i < schedule->nwaits; i++) {
		circle |= in_circle(&schedule->waits[i]);
		missed |= schedule->waits[i].missed_thread != AREA_THREAD_GONE;
	}
	turns_close(control.current, control.current->state == AGENT_ENDED ? TURN_ENDED : TURN_BLOCKED);
	control_finish(missed && !circle ? END_LOST_WAKEUP : END_DEADLOCK);
}
