/* The turns of a controlled run as they are recorded in the area, and the turns of
 * the plan that it follows. A strict plan is a replay: what cannot be taken as it
 * stands there ends the run as diverged. Otherwise such turns are passed over. */
#include "loom/runtime/control/engine.h"

/* How many points the turn has for a thread that has passed so many. */
static uint64_t budget_of(const struct area_turn *turn, uint64_t passed)
{
	if (control.options.strict || turn->points >= AREA_ENDLESS || !(turn->points & AREA_UNTIL))
		return turn->points;
	if (turn->points & AREA_PLACE)
		return AREA_ENDLESS;
	uint64_t goal = turn->points & (AREA_GUARDED - 1);
	return goal > passed ? goal - passed : 0;
}

/* Does it stand where the turn is to end, wherever that is on its way? */
static bool is_in_place(const struct area_turn *turn, const struct agent *agent)
{
	return !control.options.strict && turn->points & AREA_PLACE && turn->points < AREA_ENDLESS &&
	       agent->passed >= (turn->points & (AREA_GUARDED - 1)) &&
	       units_site_id(agent->site) == turn->site;
}

static bool ends_by_yield(const struct area_turn *turn)
{
	return !control.options.strict && turn->points & (AREA_ENDLESS | AREA_LOOSE);
}

void turns_start(void)
{
	struct area_schedule *schedule = control.schedule;
	uint32_t n = control.options.nplan;
	control.options.nplan = n < AREA_TURNS ? n : AREA_TURNS;
	control.turn = schedule->turns;
	*control.turn = (struct area_turn){ .kind = TURN_RUN };
	schedule->nturns = 1;
	control.planned = control.options.nplan > 0;
	if (control.planned)
		control.budget = budget_of(&schedule->plan[0], 0);
}

static struct area_turn *turn_append(struct area_turn turn)
{
	struct area_schedule *schedule = control.schedule;
	uint32_t n = schedule->nturns;
	if (n >= AREA_TURNS) {
		control_uncontrolled("more than eight million turns: the rest is not recorded");
		n = AREA_TURNS - 1;
	}
	schedule->turns[n] = turn;
	schedule->nturns = n + 1;
	return &schedule->turns[n];
}

void turns_open(const struct agent *next)
{
	control.turn = turn_append((struct area_turn){ .thread = next->number, .kind = TURN_RUN });
}

void turns_close(const struct agent *me, uint32_t end)
{
	control.turn->end = (uint16_t)end;
	control.turn->site = units_site_id(me->site);
}

void turns_wake(const struct agent *chosen)
{
	turn_append((struct area_turn){ .thread = chosen->number, .kind = TURN_WAKE });
}

/* ---- the plan ---- */

static void plan_diverges(const struct agent *stood)
{
	struct area_schedule *schedule = control.schedule;
	schedule->diverged_turn = control.cursor;
	schedule->diverged_site = stood ? units_site_id(stood->site) : 0;
	schedule->diverged_thread = stood ? stood->number : AREA_THREAD_GONE;
	control_finish(END_DIVERGED);
}

static struct agent *agent_numbered(uint32_t number)
{
	for (uint32_t i = 0; i < control.nready; i++)
		if (control.ready[i]->number == number)
			return control.ready[i];
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->number == number)
			return control.blocked[i];
	return NULL;
}

/* By what comes from outside: input, or a signal in a wait that has no end of its own. */
static bool may_be_woken(const struct agent *agent)
{
	return agent->look || (control.options.strict && control.handlers && agent->deadline == NEVER);
}

/* Nobody can run, and what comes next is a timer of the program: so it did in the run that is replayed. */
static bool timer_comes_next(void)
{
	return control.options.strict && !control.nready && control.timer_deadline != NEVER &&
	       first_deadline() == control.timer_deadline && expire_first();
}

/* The agent if it can run now; one that sleeps or waits for a limited time can, by its time coming. */
static struct agent *plan_takes(const struct area_turn *turn)
{
	struct agent *agent = agent_numbered(turn->thread);
	while (agent && agent->state == AGENT_BLOCKED)
		if (!(may_be_woken(agent) && blocking_poll(control.options.strict)) && !timer_comes_next())
			break;
	if (agent && agent->state == AGENT_BLOCKED && agent->deadline != NEVER &&
	    (control.options.strict || policy_lets_expire(agent)))
		control_expire(agent);
	return agent && agent->state == AGENT_READY ? agent : NULL;
}

static bool is_needless(const struct area_turn *turn)
{
	if (control.options.strict || !(turn->points & AREA_GUARDED) || turn == control.schedule->plan)
		return false;
	const struct area_turn *before = turn - 1;
	const struct agent *agent = agent_numbered(before->thread);
	return agent && (is_in_place(before, agent) || budget_of(before, agent->passed) == 0);
}

/* Moves on to the next turn that can be taken. */
static struct agent *plan_advance(const struct agent *stood)
{
	const struct area_turn *plan = control.schedule->plan;
	while (++control.cursor < control.options.nplan) {
		const struct area_turn *turn = &plan[control.cursor];
		if (turn->kind != TURN_RUN || is_needless(turn))
			continue;
		struct agent *agent = agent_numbered(turn->thread);
		uint64_t budget = agent ? budget_of(turn, agent->passed) : 0;
		bool done = agent && is_in_place(turn, agent);
		agent = (budget && !done) || control.options.strict ? plan_takes(turn) : NULL;
		if (agent) {
			control.budget = budget;
			control.wakes = 0;
			return agent;
		}
		if (control.options.strict)
			plan_diverges(stood);
	}
	/* When nobody can run, the run is stuck as it was. */
	if (control.options.strict && (control.nready || control.ntimed))
		plan_diverges(stood);
	control.planned = false;
	control.review = true;
	return NULL;
}

struct agent *plan_next(struct agent *me, struct agent *last, uint32_t end)
{
	struct area_turn *turn = &control.schedule->plan[control.cursor];
	bool strict = control.options.strict;
	/* A plan that was changed may end a turn where its thread has a lock of the C library. */
	if (me && control.pinned && !strict)
		return me;
	bool open = strict && turn->end == 0; /* the turn in which the process ended */
	struct agent *running = me ? me : last;
	if (turn->kind != TURN_RUN || turn->thread != running->number) {
		if (strict)
			plan_diverges(running);
		return plan_advance(running);
	}
	bool over = (end == TURN_YIELDED && ends_by_yield(turn)) || (me && is_in_place(turn, me));
	if (me && (control.budget || open) && !over)
		return me;
	if (strict && (control.budget || open || turn->end != end ||
		       (turn->site && turn->site != units_site_id(running->site))))
		plan_diverges(running);
	return plan_advance(running);
}

bool plan_blocks_here(void)
{
	const struct area_turn *turn = &control.schedule->plan[control.cursor];
	/* A handler may pass the last point of a turn that ends where the handler came in. */
	return control.planned && control.options.strict && control.budget == 0 &&
	       turn->end == TURN_BLOCKED && turn->site == units_site_id(control.current->site);
}

bool plan_goes_on(void)
{
	return control.planned && control.options.strict && !plan_blocks_here();
}

struct agent *plan_wake(uint32_t kind, uint64_t object)
{
	uint32_t at = control.cursor + 1 + control.wakes;
	if (at < control.options.nplan && control.schedule->plan[at].kind == TURN_WAKE) {
		control.wakes++;
		struct agent *agent = agent_numbered(control.schedule->plan[at].thread);
		if (agent && agent->state == AGENT_BLOCKED && agent->wait == kind && agent->object == object)
			return agent;
	}
	if (control.options.strict)
		plan_diverges(control.current);
	return NULL;
}
