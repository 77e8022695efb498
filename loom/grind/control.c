/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which accesses and calls of the program are points of a controlled run, and the
 * life of its threads. What happens at a point is loom/runtime/control. As long as
 * there is one thread nothing is a point. The first process of a run that makes a
 * second thread is the one that is controlled. */
#include "loom/grind/control.h"
#include "loom/grind/define.h"

/* Accesses without a point after which the first one of a block is a point: the thread may wait for others. Code in
 * the program looks at it (quick.c), as most accesses are seen by nothing else. */
#define PATIENCE 256u

struct control control;

void control_uncontrolled(const char *what)
{
	char *text = grind.schedule->uncontrolled;
	SizeT used = VG_(strlen)(text), length = VG_(strlen)(what);

	if (!grind.controlled || used + length + 2 > AREA_UNCONTROLLED_BYTES || VG_(strstr)(text, what))
		return;
	VG_(memcpy)(text + used, what, length);
	text[used + length] = '\n';
}

void control_show_gdb(void)
{
	if (VG_(clo_vgdb))
		VG_(gdbserver)(grind.thread->tid);
}

void control_finish(uint32_t end)
{
	if (end == END_DEADLOCK || end == END_LOST_WAKEUP || end == END_LIVELOCK)
		define_hung();
	grind.schedule->end = end;
	control_show_gdb();
	VG_(exit)(CONTROL_STATUS);
}

static bool is_alone(void)
{
	return control.nready + control.nblocked < 2;
}

/* Does nothing depend on who comes first here? */
static bool is_no_point(struct agent *me, Addr address, SizeT size, uint32_t site, enum access access)
{
	if (shadow_is_open(address, size, access == ACCESS_WRITE) || points_always(site))
		return false;
	if (UNLIKELY(control.looks_closely))
		spinning_look(me, site, address, access);
	return !grind.thread->lingers;
}

static void set_patience(struct thread *thread)
{
	thread->linger_at = *thread->order + PATIENCE;
	thread->lingers = false;
	if (thread != grind.thread)
		return;
	grind.linger_at = thread->linger_at;
	shadow_choose_way();
}

void access_linger(void)
{
	struct thread *me = grind.thread;

	if (!grind.controlled || !me->agent || is_alone()) {
		set_patience(me);
		return;
	}
	me->lingers = true;
	me->linger_at = grind.linger_at = UINT64_MAX;
	shadow_choose_way();
}

void access_block(void)
{
	if (*grind.thread->order >= grind.linger_at)
		access_linger();
	control.looks_closely = control.looking;
}

bool control_wants_all(void)
{
	return grind.traced || control.options.stop_order || control.looking || grind.thread->lingers ||
	       (grind.controlled && control.intervenes && claim_forbids(&control.options.claim));
}

/* A debugger wants to see the access that comes now. */
static void stop_before(void)
{
	if (*grind.thread->order == control.options.stop_order &&
	    grind.thread->number == control.options.stop_thread)
		control_show_gdb();
}

/* The plan was made without the claim: it goes on as if nobody had looked, unless the thread is held. */
static void look_in_passing(struct agent *me, const struct point *point)
{
	me->site = point->site;
	me->access = point->access;
	me->address = point->address;
	me->size = point->size;
	me->inside = true;
	intervene_arrives(me);
	intervene(me);
	me->inside = false;
}

void control_access(Addr address, SizeT size, uint32_t site, bool write)
{
	if (UNLIKELY(control.options.stop_order))
		stop_before();
	struct agent *me = grind.thread->agent;
	const struct point point = {
		.site = site, .access = write ? ACCESS_WRITE : ACCESS_READ, .address = address, .size = size
	};

	if (!me || is_alone())
		return;
	bool aside = control.options.aside && control.planned;
	bool claimed = points_of_claim(site, address, size);

	if ((aside || !claimed) && is_no_point(me, address, size, site, point.access)) {
		if (claimed)
			look_in_passing(me, &point);
		return;
	}
	me->site = site; /* for the policy */
	policy_weigh(me);
	point_pass(me, point);
	set_patience(grind.thread);
}

void control_wrote(void)
{
	struct agent *me = grind.thread->agent;

	if (!me || is_alone())
		return;
	me->access = ACCESS_WRITE;
	me->wrote = true;
	control.still = 0;
	policy_passed(me);
}

void control_call(uint32_t site, Addr object)
{
	struct agent *me = grind.thread->agent;
	struct point point = { .site = site, .access = POINT_SYNC, .address = object, .size = 1 };

	if (!me)
		return;
	me->repeated = false;
	if (is_alone()) {
		me->site = site;
		me->access = POINT_SYNC;
		me->address = object;
		me->size = 1;
	} else {
		point_pass(me, point);
	}
	set_patience(grind.thread);
}

void control_give_way(struct agent *me)
{
	me->yields = true;
	control_call(0, 0);
}

void control_ends(void)
{
	if (grind.controlled && control.intervenes && grind.thread->agent)
		intervene_ends(grind.thread->agent);
}

void control_yield(void)
{
	struct agent *me = grind.thread->agent;

	if (!me)
		return;
	me->yields = true;
	control_call(site_of_call(SITE_SYNC, "sched_yield"), 0);
}

/* ---- waiting ---- */

uint32_t control_wake_some(Addr object, uint32_t most)
{
	uint32_t woken = 0;

	while (object && woken < most && control_wake_one(WAIT_ADDRESS, object))
		woken++;
	return woken;
}

/* ---- life ---- */

static void admit(struct thread *thread)
{
	struct agent *agent = VG_(calloc)("grind.agent", 1, sizeof *agent);

	agents_admit(thread->slot);
	agent->thread = thread;
	agent->number = thread->number;
	agent->deadline = NEVER;
	agent->worked = *thread->order;
	thread->agent = agent;
	set_patience(thread);
	policy_new(agent);
	agent_readies(agent);
}

/* The second thread of a process, or a wait that nothing but time could end: the first process of the run that
 * has one is controlled from here on. */
void control_engage(void)
{
	if (grind.controlled || control.over)
		return;
	if (__atomic_exchange_n(&grind.schedule->claimed, 1, __ATOMIC_ACQ_REL)) {
		control.over = true;
		return;
	}
	grind.controlled = true;
	control.notes = grind_reserve(AREA_PLACES * sizeof *control.notes);
	agents_prepare();
	turns_start();
	policy_start();
	intervene_prepare();
	intervene_start();
	admit(grind.thread);
	control.turn->thread = grind.thread->number;
	control.current = grind.thread->agent;
	shadow_forget_sites();
	shadow_choose_way();
	lock_set_token();
	timers_take_over();
}

void control_start(void)
{
	control.options = grind.head->control;
	control.schedule = grind.schedule;
	if (control.options.nsites > AREA_POINT_SITES)
		control.options.nsites = AREA_POINT_SITES;
	control.still_most =
		control.options.still_points > STILL_MOST ? control.options.still_points : STILL_MOST;
	control.next_deadline = control.timer_deadline = control.next_overdue = NEVER;
	/* Until somebody makes a second thread, the run is one turn of the first. */
	if (control.options.policy != POLICY_FREE && !grind.schedule->nturns)
		turns_start();
}

void control_created(struct thread *thread)
{
	if (!grind.observed || control.options.policy == POLICY_FREE || thread == grind.thread)
		return;
	control_engage();
	if (grind.controlled)
		admit(thread);
}

/* The first turn of a new thread. */
void control_begin(struct thread *thread)
{
	if (grind.controlled && thread->agent && thread->agent->passed == 0 &&
	    control.current == thread->agent)
		pass_point(thread->agent);
}

void control_ended(struct thread *thread)
{
	struct agent *me = thread->agent;

	if (!grind.controlled || !me || control.current != me)
		return;
	agent_leaves_ready(me);
	me->state = AGENT_ENDED;
	me->site = 0;
	if (control.intervenes)
		intervene_ended(me);
	futex_owner_ends(thread);
	if (thread->clear_tid) {
		*(uint32_t *)thread->clear_tid = 0;
		control_wake_some(thread->clear_tid, UINT32_MAX);
	}
	if (control.nready + control.nblocked == 0) {
		turns_close(me, TURN_ENDED);
		return;
	}
	struct agent *next = next_after(me, TURN_ENDED);

	turns_close(me, TURN_ENDED);
	turns_open(next);
	if (thread->number)
		control.leaving = VG_(gettid)();
	lock_leave(next->thread);
}

void control_over(void)
{
	control.over = true;
	if (!grind.controlled)
		return;
	grind.controlled = false;
	lock_set_free();
}

void control_fork_child(void)
{
	grind.controlled = false;
	control.over = true;
}
