/* Of many threads that run the same code, choosing among threads hardly ever picks the one that runs another.
 * So some runs choose among places: the sites before which threads stand, and before their first point the code
 * they begin with; then among the threads there. PCT has priorities of groups instead: threads that were made
 * by the same call to run the same function. Nothing here depends on addresses but whether two are equal.
 * Compiled for both looms. */
#include "loom/runtime/control/engine.h"

#define PLACES_KNOWN 64u /* those beyond count as one */
#define NOT_BEGUN (1u << 31)
#define GROUP_BITS 32u /* of a priority: below them a thread's own within its group */

/* ---- places ---- */

struct places {
	uint32_t n;
	struct agent *best[PLACES_KNOWN]; /* any that stands there; which one is up to the caller */
};

static uint32_t place_of(const struct agent *agent)
{
	return agent->passed ? agent->site : NOT_BEGUN | agent->group;
}

static uint32_t place_number(struct places *places, struct agent *agent)
{
	uint32_t place = place_of(agent);
	for (uint32_t i = 0; i < places->n; i++)
		if (place_of(places->best[i]) == place)
			return i;
	if (places->n == PLACES_KNOWN)
		return PLACES_KNOWN - 1;
	places->best[places->n] = agent;
	return places->n++;
}

static uint64_t same_weight(const struct agent *agent)
{
	(void)agent;
	return 1;
}

static uint64_t points_left(const struct agent *agent)
{
	return agent->left + 1;
}

/* One of the places, each as likely; of those who stand there one, each as likely as it weighs. */
static struct agent *draw_at_place(uint32_t n, uint64_t (*weight)(const struct agent *agent))
{
	struct places places = { 0 };
	struct agent *chosen = NULL;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < n; i++)
		place_number(&places, control.candidates[i]);
	uint32_t there = places.n ? (uint32_t)control_below(places.n) : 0;
	for (uint32_t i = 0; i < n; i++) {
		struct agent *agent = control.candidates[i];
		if (place_number(&places, agent) != there)
			continue;
		sum += weight(agent);
		if (control_below(sum) < weight(agent))
			chosen = agent;
	}
	return chosen;
}

struct agent *places_draw(uint32_t n)
{
	return draw_at_place(n, same_weight);
}

struct agent *places_draw_by_points(uint32_t n)
{
	return draw_at_place(n, points_left);
}

/* Who speaks for a place must not be who has the highest priority there, or places with many threads would
 * win; and it must stay the same as long as nothing was drawn anew. */
static uint64_t voice(const struct agent *agent)
{
	return agent->priority * 0x9e3779b97f4a7c15u;
}

struct agent *places_highest(uint32_t n)
{
	struct places places = { 0 };
	struct agent *highest = NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct agent *agent = control.candidates[i];
		struct agent **best = &places.best[place_number(&places, agent)];
		if (voice(agent) > voice(*best))
			*best = agent;
	}
	for (uint32_t i = 0; i < places.n; i++)
		if (!highest || places.best[i]->priority > highest->priority)
			highest = places.best[i];
	return highest;
}

/* ---- groups ---- */

void groups_join(struct agent *agent)
{
	const void *routine = agent_routine(agent);
	uint32_t site = control.current ? control.current->site : 0, number = 0;
	while (number < control.ngroups &&
	       (control.groups[number].routine != routine || control.groups[number].site != site))
		number++;
	if (number == GROUPS_KNOWN)
		number--;
	if (number == control.ngroups) {
		control.groups[number].routine = routine;
		control.groups[number].site = site;
		control.groups[number].priority = control_random() | PRIORITY_HIGH;
		control.ngroups++;
	}
	agent->group = number;
}

void groups_set_priority(struct agent *agent)
{
	uint64_t group = control.groups[agent->group].priority >> GROUP_BITS << GROUP_BITS;
	agent->priority = group | control_random() >> GROUP_BITS;
}

static void sink(struct agent **agents, uint32_t n, uint32_t group)
{
	for (uint32_t i = 0; i < n; i++)
		if (agents[i]->group == group)
			groups_set_priority(agents[i]);
}

void groups_sink(const struct agent *me)
{
	uint64_t priority = control.lowest >> GROUP_BITS << GROUP_BITS;
	control.groups[me->group].priority = priority;
	control.lowest = priority - 1;
	sink(control.ready, control.nready, me->group);
	sink(control.blocked, control.nblocked, me->group);
}
