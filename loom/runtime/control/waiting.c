/* Waiting: a thread blocks on an address, others wake those that wait there. What the
 * address stands for (a mutex, a condition, a thread to join) is the models' business. */
#include "loom/runtime/control/engine.h"

enum wait_result agent_waits(struct agent *me, uint32_t kind, uint64_t object, uint64_t deadline)
{
	if (UNLIKELY(control.intervenes && kind != WAIT_HELD))
		intervene_arrives(me);
	me->inside = true;
	me->wait = kind;
	me->object = object;
	me->deadline = deadline;
	me->queued = control.waits++;
	agent_blocks(me);
	give_token(me, next_after(me, TURN_BLOCKED), TURN_BLOCKED);
	me->wait = WAIT_NOTHING;
	me->look = NULL;
	me->looked = NULL;
	me->foreign = false;
	pass_point(me);
	me->inside = false;
	enum wait_result result = me->result;
	/* Whoever waited before a lock may have to wait there for another reason now. */
	if (UNLIKELY(control.intervenes) && is_at_lock(me, kind))
		intervene(me);
	deliver_signals(me);
	return result;
}

void control_wake(uint32_t kind, uint64_t object)
{
	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];
		if (agent->wait == kind && agent->object == object)
			control_unblock(agent, WAIT_WOKEN);
		else
			i++;
	}
}

void control_retract(uint32_t kind, uint64_t object)
{
	for (uint32_t i = control.nready; i-- > 0;) {
		struct agent *agent = control.ready[i];
		/* Who has a signal to take must have a turn for that. */
		if (agent->wait == kind && agent->object == object && agent != control.current &&
		    agent->result == WAIT_WOKEN && !has_signals(agent))
			agent_blocks(agent);
	}
}

/* For whoever may wait for ever: the signal that comes from the running thread was another's. */
static void note_taken(struct agent *const *waiters, uint32_t n, const struct agent *taker)
{
	const struct agent *me = control.current;
	for (uint32_t i = 0; i < n; i++)
		if (waiters[i] != taker) {
			waiters[i]->taken.site = me->site;
			waiters[i]->taken.thread = me->number;
			waiters[i]->taken.taker_site = taker->site;
			waiters[i]->taken.taker = taker->number;
		}
}

bool control_wake_one(uint32_t kind, uint64_t object)
{
	struct agent **waiters = control.candidates; /* nobody is choosing among them now */
	uint32_t n = 0;
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->wait == kind && control.blocked[i]->object == object)
			waiters[n++] = control.blocked[i];
	if (n == 0)
		return false;
	struct agent *chosen = NULL;
	if (n > 1 && control.planned)
		chosen = plan_wake(kind, object);
	if (!chosen) {
		uint32_t among = waking_chooses(waiters, n);
		chosen = waiters[among > 1 && control.options.policy != POLICY_STAY ? control_below(among)
										    : 0];
	}
	if (n > 1)
		turns_wake(chosen);
	if (kind == WAIT_CONDITION)
		note_taken(waiters, n, chosen);
	control_unblock(chosen, WAIT_WOKEN);
	return true;
}
