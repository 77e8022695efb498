/* Sets of agents: those that can run, by number, and those that wait, in the order
 * in which they came; and the deadlines of the latter. Touched by the holder of the
 * token only. */
#include "loom/runtime/control/engine.h"

static struct agent **full_lists; /* room for all three lists with as many agents as there can be */

/* Sets up lists of `most` agents each, twice as many candidates. */
static void use_lists(struct agent **lists, uint32_t most)
{
	control.ready = lists;
	control.blocked = lists + most;
	control.candidates = lists + 2 * most;
}

void agents_prepare(void)
{
	full_lists = runtime_map(0, 4 * AREA_SLOTS * sizeof *full_lists);
	use_lists(control.few, FEW_AGENTS);
}

/* Few threads are listed beside what every run writes anyway: a page less to fault in. */
void agents_admit(uint32_t slot)
{
	if (LIKELY(slot < FEW_AGENTS) || control.ready != control.few)
		return;
	memcpy(full_lists, control.ready, control.nready * sizeof *full_lists);
	memcpy(full_lists + AREA_SLOTS, control.blocked, control.nblocked * sizeof *full_lists);
	use_lists(full_lists, AREA_SLOTS);
}

static void agents_remove(struct agent **list, uint32_t *n, const struct agent *agent)
{
	for (uint32_t i = 0; i < *n; i++)
		if (list[i] == agent) {
			memmove(list + i, list + i + 1, (*n - i - 1) * sizeof *list);
			--*n;
			return;
		}
}

void agent_readies(struct agent *agent)
{
	uint32_t at = control.nready++;
	for (; at && control.ready[at - 1]->number > agent->number; at--)
		control.ready[at] = control.ready[at - 1];
	control.ready[at] = agent;
	agent->state = AGENT_READY;
	control.review = true;
	control.still = 0;
}

void agent_rises(struct agent *agent)
{
	if (agent->demoted)
		control.ndemoted--;
	agent->demoted = false;
}

void agent_leaves_ready(struct agent *agent)
{
	agents_remove(control.ready, &control.nready, agent);
	agent_rises(agent);
	control.review = true;
}

void agent_blocks(struct agent *agent)
{
	agent_leaves_ready(agent);
	agent->state = AGENT_BLOCKED;
	control.blocked[control.nblocked++] = agent;
	control.ninputs += agent->look != NULL;
	if (agent->deadline == NEVER)
		return;
	control.ntimed++;
	if (agent->deadline < control.next_deadline)
		control.next_deadline = agent->deadline;
	agent->eager = policy_eager(agent);
	agent->overdue = policy_overdue(agent);
	if (agent->overdue < control.next_overdue)
		control.next_overdue = agent->overdue;
}

void control_unblock(struct agent *agent, enum wait_result result)
{
	agents_remove(control.blocked, &control.nblocked, agent);
	control.ninputs -= agent->look != NULL;
	control.ntimed -= agent->deadline != NEVER;
	agent->result = result;
	if (result != WAIT_TIMED_OUT)
		policy_readies(agent);
	uint64_t still = control.still;
	agent_readies(agent);
	if (result == WAIT_TIMED_OUT)
		control.still = still; /* time alone is no news */
}

void control_expire(struct agent *agent)
{
	if (control.nready)
		agent->time = agent->deadline;
	else if (agent->deadline > control.now)
		control.now = agent->deadline;
	control_unblock(agent, WAIT_TIMED_OUT);
}

void expire_due(void)
{
	if (LIKELY(control.now < control.next_deadline))
		return;
	if (control.timer_deadline <= control.now)
		timers_fire();
	control.next_deadline = control.timer_deadline;
	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];
		if (agent->deadline <= control.now) {
			control_unblock(agent, WAIT_TIMED_OUT);
			continue;
		}
		if (agent->deadline < control.next_deadline)
			control.next_deadline = agent->deadline;
		i++;
	}
}

bool expire_first(void)
{
	struct agent *first = NULL;
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->deadline != NEVER &&
		    (!first || control.blocked[i]->deadline < first->deadline))
			first = control.blocked[i];
	if (control.timer_deadline != NEVER && (!first || control.timer_deadline < first->deadline)) {
		if (!control.nready && control.timer_deadline > control.now)
			control.now = control.timer_deadline;
		timers_fire();
		return true;
	}
	if (first)
		control_expire(first);
	return first != NULL;
}

uint64_t first_deadline(void)
{
	uint64_t first = control.timer_deadline;
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->deadline < first)
			first = control.blocked[i]->deadline;
	return first;
}
