/* The points at which the token may change hands. As long as the same thread goes on, a point costs no system
 * call and no atomic instruction. Compiled for both looms. */
#include "loom/runtime/control/intervene.h" /* forbid_forgets */

#define POINT_NS 5u /* virtual time that a point or an access takes: hardly more than without control */
#define STILL_PATIENCE 1000u /* points between two sleepers that are woken for that */

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
	uint64_t done = agent_order(me) - me->worked + 1;
	me->worked = agent_order(me);
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
	take_arrived_signals();
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
		if (!blocking_poll(true) && !expire_first() && !intervene_lets_go() && !waking_rescues())
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
	take_arrived_signals();
	expire_due();
	spinning_note(me);
	if (UNLIKELY(control.intervenes) &&
	    (me->demoted ? control.ndemoted >= control.nready : control.nready == 1 && spinning_repeats(me)))
		intervene_spins();
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
	deliver_signals(me);
}

void control_forget(uint64_t address, size_t size)
{
	if (UNLIKELY(control.intervenes))
		forbid_forgets(address, size);
}
