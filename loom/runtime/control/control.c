/* The start of controlled mode in a process, and what happens to it at a fork. */
#include "loom/runtime/control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

HOT struct control control;

uint64_t control_random(void)
{
	/* splitmix64 */
	uint64_t z = control.seed_state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void control_uncontrolled(const char *what)
{
	char *text = control.schedule->uncontrolled;
	size_t used = strnlen(text, AREA_UNCONTROLLED_BYTES), length = strlen(what);
	const char *found = used ? strstr(text, what) : NULL;
	if (used + length + 2 > AREA_UNCONTROLLED_BYTES || (found && found[length] == '\n'))
		return;
	memcpy(text + used, what, length);
	text[used + length] = '\n';
}

<<<<<<< HEAD
void control_expired_early(const struct agent *agent)
{
	struct area_schedule *schedule = control.schedule;
	uint64_t now = time_of(agent);
	if (schedule->early_ns)
		return;
	schedule->early_ns = agent->deadline > now ? agent->deadline - now : 1;
	schedule->early_site = units_site_id(agent->site);
	schedule->early_thread = agent->number;
}

/* ---- the token ---- */

/* Nothing new for long. Sleepers may change that, so their time comes now; if it does not help, nothing will. */
static void stands_still(bool lingers)
{
	if (!lingers && control.still % STILL_PATIENCE)
		return;
	if (blocking_poll(false) || (control.still <= 2 * control.still_most && expire_first()) ||
	    outside_can_come())
		return;
	control_finish(END_LIVELOCK);
}

void pass_point(struct agent *me)
{
	control.turn->points++;
	me->passed++;
	control.budget -= control.budget > 0;
	me->thread->patience = control.patience;
	bool lingers = me->access == POINT_LINGER;
	/* Accesses that are no points are work, too, and take time. */
	uint64_t done = me->thread->order - me->worked + 1;
	me->worked = me->thread->order;
	control.work += done;
	control.now += done * POINT_NS;
	uint64_t points = control.schedule->points += !lingers;
	if (!me->repeated && (control.nready > 1 || control.ntimed)) {
		control.contested++;
		control.schedule->contested++;
	}
	policy_passed(me);
	if (UNLIKELY(control.options.most_points && points > control.options.most_points))
		control_finish(END_LIVELOCK);
	if (UNLIKELY(control.options.slow_points && points > control.options.slow_points))
		control_finish(END_SLOW);
	/* Turns of a waiting loop count by what they read; one that reads nothing may wait for what has no hooks. */
	control.still += lingers ? done - 1 : 1;
	if (UNLIKELY(control.still > control.still_most))
		stands_still(lingers);
}

struct agent *next_after(struct agent *last, uint32_t end)
{
	if (UNLIKELY(control.arrived))
		signals_take();
	expire_due();
	if (UNLIKELY(control.intervenes && !control.nready && !control.ntimed && !control.ninputs))
		intervene_lets_go();
	if (control.ninputs)
		blocking_poll(false);
	if (control.planned) {
		struct agent *next = plan_next(NULL, last, end);
		if (next)
			return next;
	}
	for (;;) {
		struct agent *next = policy_next(NULL);
		if (next)
			return next;
		/* Who is held may be the one that sends what another waits for from outside: a signal, say. */
		if (UNLIKELY(control.intervenes && control.ninputs && !control.ntimed) &&
		    (blocking_poll(false) || intervene_lets_go()))
			continue;
		/* What comes from outside may come before the first sleeper wakes. */
		if (!blocking_poll(true) && !expire_first() && !intervene_lets_go())
			control_stuck();
	}
}

void give_token(struct agent *me, struct agent *next, uint32_t end)
{
	turns_close(me, end);
	turns_open(next);
	if (next == me)
		return;
	token_give(me, next);
}

/* ---- points ---- */

void point_pass(struct agent *me, struct point point)
{
	me->site = point.site;
	me->access = point.access;
	me->address = point.address;
	me->size = point.size;
	if (UNLIKELY(control.intervenes))
		intervene_arrives(me);
	me->inside = true;
	if (UNLIKELY(control.arrived))
		signals_take();
	expire_due();
	spinning_note(me);
	if (UNLIKELY(control.intervenes) &&
	    (me->demoted ? control.ndemoted >= control.nready : control.nready == 1 && spinning_repeats(me)))
		intervene_lets_go(); /* the others only spin: they may wait for somebody who is held */
	uint32_t end = me->yields || me->demoted ? TURN_YIELDED : TURN_PREEMPTED;
	/* A yield may return at once, unless its thread does nothing else. */
	if (me->yields && !me->demoted && control_random() & 1)
		me->yields = false;
	struct agent *next = me;
	if (UNLIKELY(control.planned))
		next = plan_next(me, me, end);
	if (!next) /* the plan is over */
		next = me;
	/* Where a thread only lingers order does not matter: others go first when it has done so for long. */
	bool chooses = point.access != POINT_LINGER || me->demoted;
	if (chooses && !control.planned && !control.pinned && (control.nready > 1 || control.ntimed))
		next = policy_next(me);
	me->yields = false;
	if (next != me)
		give_token(me, next, end);
	pass_point(me);
	if (UNLIKELY(control.intervenes)) /* who is held has come so far, like one that waits for a lock */
		intervene(me);
	if (point.access == POINT_SYNC)
		observe_close(me->thread);
	me->inside = false;
	if (UNLIKELY(me->signals))
		signals_deliver(me);
}

void control_forget(uint64_t address, size_t size)
{
	if (UNLIKELY(control.intervenes))
		forbid_forgets(address, size);
}

=======
>>>>>>> grind
struct agent *control_enter(void)
{
	struct thread *self = unsnarl_self;
	struct agent *me = control.current;
	if (self == &unsnarl_nobody || !me || me->inside || self->held)
		return NULL;
	if (me->thread != self) {
		control_uncontrolled("a signal handler or a thread that runs outside of its turn");
		return NULL;
	}
	return me;
}

enum wait_result control_wait(struct agent *me, uint32_t kind, uint64_t object, uint64_t deadline)
{
	int saved = errno;
	enum wait_result result = agent_waits(me, kind, object, deadline);
	errno = saved;
	return result;
}

/* ---- start ---- */

/* The other threads may still do much before the last one has left: the end of main is a point, too. */
static void point_at_exit(void)
{
	struct agent *me = control_me();
	if (me)
		control_call(me, &control);
}

void control_prepare(void)
{
	points_prepare();
	/* What a short run touches of these lies together. */
	agents_prepare();
	control.agents = runtime_map(0, sizeof *control.agents * AREA_SLOTS);
	token_prepare();
	intervene_prepare();
	atexit(point_at_exit);
}

void control_start(void)
{
	control.options = runtime.head->control;
	control.schedule = runtime_schedule();
	control.still_most =
		control.options.still_points > STILL_MOST ? control.options.still_points : STILL_MOST;
	control.seed_state = runtime.options.seed * 0xd1342543de82ef95u + 1;
	control.next_deadline = control.timer_deadline = control.next_overdue = NEVER;
	runtime_touch_near();
	history_touch();
	control.pid = (int)raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	points_start();
	unsnarl_self->patience = control.patience;
	turns_start();
	policy_start();
	intervene_start();
	control_created(unsnarl_self);
	struct agent *me = &control.agents[unsnarl_self->slot];
	agent_readies(me);
	me->tid = control.pid;
	me->id = pthread_self();
	me->has_id = true;
	control.turn->thread = me->number;
	control.current = me;
	token_start(me);
}

void control_before_fork(void)
{
	if (!runtime.controlled)
		return;
	control.forked = true;
	/* The child's number is given here, where the order is certain. */
	control.child = __atomic_fetch_add(&runtime.head->threads, 1, __ATOMIC_RELAXED);
	control_uncontrolled("fork: children run free");
}

/* The child runs free. */
void control_after_fork(void)
{
	if (!runtime.controlled)
		return;
	runtime.controlled = false;
	unsnarl_self->meets_open = false;
	unsnarl_self->number = control.child;
}
