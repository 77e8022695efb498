/* On which side of whole groups the others come, while atomicity is forbidden. To be one
 * step is what matters when others may come before a whole group and after it, both
 * without a failure; where one side alone was ever seen an order may be meant instead.
 * Before: another thread has done the last step of its role when the group begins. After:
 * it does the first step of its role when the group is over. Both at the memory of the
 * group. Where threads take turns each comes before and after the other all the time,
 * which says nothing: only the first of them at a place counts.
 * One side can be asked for: then the other waits, as long as it has not begun. */
#include "loom/runtime/control/sides.h"

#define SEEN 64u /* steps and groups that are remembered; later ones at other places say nothing */

struct seen_step {
	struct range range;
	uint32_t step, thread;
	uint64_t time;
	bool left; /* a first step whose role is over without the last one: it looked, and had nothing to do */
};

struct seen_group {
	struct range ranges[CLAIM_STEPS + 1]; /* by location */
	uint32_t thread;
};

static struct sides {
	struct seen_step steps[SEEN];
	struct seen_group groups[SEEN];
	uint32_t nsteps, ngroups;
	uint64_t time;                /* counts what is told here */
	bool others_done, group_done; /* the last step of another role, a whole group of role 0 */
	uint32_t first[CLAIM_ROLES], last[CLAIM_ROLES];
} sides;

void sides_start(const uint32_t *first, const uint32_t *last)
{
	for (uint32_t role = 0; role < CLAIM_ROLES; role++) {
		sides.first[role] = first[role];
		sides.last[role] = last[role];
	}
}

uint64_t sides_now(void)
{
	return ++sides.time;
}

/* Was a whole group of another thread at this memory? */
static bool was_group_at(uint32_t location, const struct range *at, uint32_t thread, bool any_thread)
{
	for (uint32_t i = 0; i < sides.ngroups; i++)
		if ((any_thread || sides.groups[i].thread != thread) &&
		    ranges_meet(&sides.groups[i].ranges[location], at->address, at->size))
			return true;
	return false;
}

static bool was_step_at(uint32_t step, const struct range *at)
{
	for (uint32_t i = 0; i < sides.nsteps; i++)
		if (sides.steps[i].step == step && ranges_meet(&sides.steps[i].range, at->address, at->size))
			return true;
	return false;
}

void sides_step(const struct agent *me, uint32_t step)
{
	const struct claim_step *claimed = &intervene_claim()->steps[step];
	struct range at = { me->address, me->size, claimed->location != CLAIM_ANYWHERE };
	uint64_t now = sides_now();
	bool first = step == sides.first[claimed->role], last = step == sides.last[claimed->role];
	bool fresh = !was_step_at(step, &at);
	if (last && !sides.others_done) {
		sides.others_done = true;
		intervene_changed();
	}
	if (first && fresh && was_group_at(claimed->location, &at, me->number, false))
		intervene_counts()->orders |= CLAIM_AFTER;
	if ((first || last) && fresh && sides.nsteps < SEEN)
		sides.steps[sides.nsteps++] = (struct seen_step){ at, step, me->number, now, false };
}

static bool joins(uint32_t thread)
{
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->number == thread)
			return control.blocked[i]->wait == WAIT_JOIN;
	return false;
}

bool sides_lapse(void)
{
	bool some = false;
	for (uint32_t i = 0; i < sides.nsteps; i++) {
		struct seen_step *seen = &sides.steps[i];
		if (seen->left || seen->step != sides.first[intervene_claim()->steps[seen->step].role] ||
		    !joins(seen->thread))
			continue;
		seen->left = some = true;
	}
	if (!some || sides.others_done)
		return false;
	sides.others_done = true;
	intervene_changed();
	return true;
}

void sides_leave(const struct agent *me, uint32_t role)
{
	bool some = false;
	for (uint32_t i = 0; i < sides.nsteps; i++) {
		struct seen_step *seen = &sides.steps[i];
		if (seen->thread != me->number || seen->left || seen->step != sides.first[role])
			continue;
		seen->left = some = true;
		seen->time = sides_now();
	}
	if (!some || sides.others_done)
		return;
	sides.others_done = true;
	intervene_changed();
}

static bool was_other_before(const struct agent *me, const struct range *ranges, uint64_t began)
{
	const struct claim *claim = intervene_claim();
	for (uint32_t i = 0; i < sides.nsteps; i++) {
		const struct seen_step *seen = &sides.steps[i];
		const struct claim_step *claimed = &claim->steps[seen->step];
		if (seen->thread != me->number && seen->time < began &&
		    (seen->left || seen->step == sides.last[claimed->role]) &&
		    (!seen->range.known ||
		     ranges_meet(&ranges[claimed->location], seen->range.address, seen->range.size)))
			return true;
	}
	return false;
}

void sides_group(const struct agent *me, const struct range *ranges, uint64_t began, bool same_code)
{
	uint32_t end = intervene_claim()->steps[sides.last[0]].location;
	sides_lapse();
	if (!sides.group_done) {
		sides.group_done = true;
		intervene_changed();
	}
	if (!was_group_at(end, &ranges[end], me->number, true) && was_other_before(me, ranges, began))
		intervene_counts()->orders |= CLAIM_BEFORE;
	/* One whole group after another is either order. */
	if (same_code && was_group_at(end, &ranges[end], me->number, false))
		intervene_counts()->orders |= CLAIM_BEFORE | CLAIM_AFTER;
	if (sides.ngroups == SEEN)
		return;
	struct seen_group *group = &sides.groups[sides.ngroups++];
	group->thread = me->number;
	for (uint32_t i = 0; i <= CLAIM_STEPS; i++)
		group->ranges[i] = ranges[i];
}

bool sides_hold(uint32_t role)
{
	uint32_t use = intervene_claim()->use;
	return role ? use == CLAIM_GROUP_FIRST && !sides.group_done
		    : use == CLAIM_OTHERS_FIRST && !sides.others_done;
}

void sides_forget(uint64_t address, uint64_t size)
{
	for (uint32_t i = 0; i < sides.nsteps;)
		if (sides.steps[i].range.known && ranges_meet(&sides.steps[i].range, address, size))
			sides.steps[i] = sides.steps[--sides.nsteps];
		else
			i++;
	for (uint32_t i = 0; i < sides.ngroups;) {
		bool gone = false;
		for (uint32_t j = 1; j <= CLAIM_STEPS; j++)
			gone |= sides.groups[i].ranges[j].known &&
				ranges_meet(&sides.groups[i].ranges[j], address, size);
		if (gone)
			sides.groups[i] = sides.groups[--sides.ngroups];
		else
			i++;
	}
}
