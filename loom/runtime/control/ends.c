/* A controlled run that cannot or must not go on: says in the area who waits for
 * what, and ends the process. */
#include "loom/runtime/control/control.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A debugger may stop here: all threads are as the run left them. */
EXPORT __attribute__((noinline)) void unsnarl_failure(uint32_t end)
{
	__asm__ volatile("" : : "r"(end) : "memory");
}

void control_finish(uint32_t end)
{
	control.schedule->end = end;
	unsnarl_failure(end);
	text_learn(true);
	_exit(CONTROL_STATUS);
}

/* The letter that the kernel gives the thread's state; 0 when it is not known. */
char control_state_of(int tid)
{
	char path[64], text[256];
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	long fd = raw_call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
	if (fd < 0)
		return 0;
	long n = raw_call(SYS_read, fd, (long)text, sizeof text - 1, 0, 0, 0);
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	text[n > 0 ? n : 0] = '\0';
	const char *name_end = strrchr(text, ')');
	return name_end && name_end[1] ? name_end[2] : 0;
}

void control_watch(uint64_t *points)
{
	static uint32_t named;
	/* Without the token: looks at what the holder may be changing, but only to name it. */
	uint64_t now = RELAXED_GET(control.schedule->points);
	const struct agent *holder = RELAXED_GET(control.carrier);
	bool moved = now != *points;
	*points = now;
	if (moved || !holder || RELAXED_GET(control.outside) || control_state_of(holder->tid) != 'S')
		return;
	if (!__atomic_exchange_n(&named, 1, __ATOMIC_RELAXED))
		control_uncontrolled(
			"a call that waits in reality: not modelled, or a lock inside a library");
}

const uint32_t *site_of_lock(const struct agent *agent, uint64_t object)
{
	for (uint32_t i = 0; i < agent->nlocks; i++)
		if (agent->locks[i].object == object)
			return &agent->locks[i].site;
	return NULL;
}

/* Of a read-write lock several threads may have a part, each of which keeps a writer out: one of them that waits
 * itself, one that is stuck if there is one. */
static const struct agent *sharer_of(const struct agent *agent)
{
	const struct agent *found = NULL;
	if (agent->wait != WAIT_READ_LOCK && agent->wait != WAIT_WRITE_LOCK)
		return NULL;
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (site_of_lock(control.blocked[i], agent->object) && (!found || control.blocked[i]->stuck))
			found = control.blocked[i];
	return found;
}

/* The thread that keeps this one from going on, when it is certain that nobody else can let it. */
static const struct agent *keeper(const struct agent *agent)
{
	uint32_t holder = AREA_THREAD_GONE;
	if (agent->deadline != NEVER)
		return NULL;
	if (agent->wait == WAIT_JOIN)
		return (const struct agent *)agent->object;
	if (agent->wait == WAIT_MUTEX || agent->wait == WAIT_SPINLOCK)
		holder = object_at(agent->object)->holder;
	for (uint32_t i = 0; holder != AREA_THREAD_GONE && i < control.nblocked; i++)
		if (control.blocked[i]->number == holder)
			return control.blocked[i];
	return sharer_of(agent);
}

/* Who is kept by nobody that is stuck may go on, and so on: those that are left wait for each other. */
bool control_in_circle(void)
{
	uint32_t left = control.nblocked;
	for (uint32_t i = 0; i < control.nblocked; i++)
		control.blocked[i]->stuck = true;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < control.nblocked; i++) {
			struct agent *agent = control.blocked[i];
			const struct agent *kept_by = agent->stuck ? keeper(agent) : NULL;
			if (!agent->stuck || (kept_by && kept_by->state == AGENT_BLOCKED && kept_by->stuck))
				continue;
			agent->stuck = false;
			left--;
			changed = true;
		}
	}
	return left > 0;
}

static struct area_wait wait_of(const struct agent *agent)
{
	struct area_wait wait = { .thread = agent->number,
				  .kind = agent->wait >= WAIT_SLEEP ? WAIT_NOTHING : agent->wait,
				  .site = units_site_id(agent->site),
				  .address = agent->object,
				  .holder = AREA_THREAD_GONE,
				  .missed_thread = AREA_THREAD_GONE,
				  .taken_thread = AREA_THREAD_GONE,
				  .taker_thread = AREA_THREAD_GONE };
	if (agent->wait == WAIT_JOIN) {
		wait.holder = ((const struct agent *)agent->object)->number;
		wait.address = (uint64_t)((const struct agent *)agent->object)->id;
		return wait;
	}
	const struct object *object = object_at(agent->object);
	const struct agent *sharer = sharer_of(agent);
	wait.object = object->number;
	wait.holder = sharer ? sharer->number : object->holder;
	if (wait.holder != AREA_THREAD_GONE)
		wait.holder_site =
			units_site_id(sharer ? *site_of_lock(sharer, agent->object) : object->holder_site);
	if (agent->missed && agent->wait == WAIT_CONDITION) {
		wait.missed_site = units_site_id(object->broadcast_site);
		wait.missed_thread = object->broadcast_thread;
	} else if (object->missed && object->missed_thread != agent->number &&
		   (agent->wait == WAIT_CONDITION || agent->wait == WAIT_ADDRESS)) {
		wait.missed_site = units_site_id(object->missed_site);
		wait.missed_thread = object->missed_thread;
	}
	if (agent->wait == WAIT_CONDITION && agent->taken.site) {
		wait.taken_site = units_site_id(agent->taken.site);
		wait.taken_thread = agent->taken.thread;
		wait.taker_site = units_site_id(agent->taken.taker_site);
		wait.taker_thread = agent->taken.taker;
	}
	return wait;
}

static const struct area_wait *wait_numbered(uint32_t thread)
{
	for (uint32_t i = 0; i < control.schedule->nwaits; i++)
		if (control.schedule->waits[i].thread == thread)
			return &control.schedule->waits[i];
	return NULL;
}

/* Does following the holders from here lead into a circle? */
static bool in_circle(const struct area_wait *wait)
{
	for (uint32_t steps = 0; wait && steps <= control.schedule->nwaits; steps++) {
		if (steps == control.schedule->nwaits)
			return true;
		wait = wait->holder == AREA_THREAD_GONE ? NULL : wait_numbered(wait->holder);
	}
	return false;
}

void control_stuck(void)
{
	struct area_schedule *schedule = control.schedule;
	(void)control_in_circle(); /* says who is stuck */
	for (uint32_t i = 0; i < control.nblocked && i < AREA_SLOTS; i++)
		schedule->waits[schedule->nwaits++] = wait_of(control.blocked[i]);
	for (uint32_t i = 0; i < AREA_STUCK; i++) /* pairs with forked_locks, in the child */
		if (__atomic_load_n(&schedule->stuck[i].state, __ATOMIC_ACQUIRE) == AREA_VALID)
			schedule->waits[schedule->nwaits++] = schedule->stuck[i].wait;
	bool circle = false, missed = false;
	for (uint32_t i = 0; i < schedule->nwaits; i++) {
		circle |= in_circle(&schedule->waits[i]);
		missed |= schedule->waits[i].missed_thread != AREA_THREAD_GONE;
	}
	/* The turn in which it got stuck is over. */
	turns_close(control.current, control.current->state == AGENT_ENDED ? TURN_ENDED : TURN_BLOCKED);
	control_finish(missed && !circle ? END_LOST_WAKEUP : END_DEADLOCK);
}
