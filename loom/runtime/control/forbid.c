/* Forbidding a claim. Atomicity: what a role does from its first to its last step is a
 * *group*, as if a lock that the program lacks were held over it; whoever would begin or
 * do what conflicts with an open group waits until that is over. A role with doors begins
 * before it takes the lock there, since inside it could not wait without keeping the
 * other from its second critical section. Orders: forbid_order.c. */
#include "loom/runtime/control/intervene.h"
#include "loom/runtime/control/forbid_order.h"
#include "loom/runtime/control/order_places.h"
#include "loom/runtime/control/sides.h"

#define REACH_TIMES 4u /* a group is over after so many times the accesses that it took before, */
#define REACH_MORE 64u /* and so many */

struct group {
	bool open;
	bool tentative; /* its door was passed, its first step is yet to come */
	bool lapsed; /* it is not open any more, since its thread waited; should its last step come, it was given up */
	bool closing; /* its last step is being done: over at the thread's next point, or when that does not come again */
	uint32_t role;
	uint64_t door;  /* the lock that was taken there, 0 = none */
	uint64_t until; /* the lock of the section that its last step is in, 0 = none; its
						 next call there ends the group */
	uint64_t order; /* of its thread when it began, or did its last step, */
	uint64_t began; /* and the moment */
	struct range ranges[CLAIM_STEPS + 1]; /* by location */
};

static struct forbidding {
	struct group groups[AREA_SLOTS]; /* by slot */
	uint32_t nopen;
	uint32_t steps[CLAIM_ROLES], first[CLAIM_ROLES],
		last[CLAIM_ROLES]; /* of each role: how many, which */
	bool one_place
		[CLAIM_ROLES]; /* its first step is its last one, done again: the way to it goes through its doors */
	bool conflict[CLAIM_ROLES][CLAIM_ROLES];
	bool alike;                                /* another role begins as role 0 does: by the same code */
	bool writes[CLAIM_ROLES][CLAIM_STEPS + 1]; /* does the role write at the location? */
} forbidding;

static bool steps_meet(const struct claim_step *a, const struct claim_step *b)
{
	return (a->write || b->write) && (a->location == b->location || !a->location || !b->location);
}

static bool step_has_site(const struct claim_step *step, uint64_t id)
{
	for (uint32_t i = 0; i < step->nsites; i++)
		if (step->sites[i] == id)
			return true;
	return false;
}

void forbid_start(void)
{
	const struct claim *claim = intervene_claim();
	for (uint32_t i = claim->nsteps; i-- > 0;) {
		uint32_t role = claim->steps[i].role;
		if (forbidding.steps[role]++ == 0)
			forbidding.last[role] = i;
		forbidding.first[role] = i;
		forbidding.writes[role][claim->steps[i].location] |= claim->steps[i].write;
	}
	for (uint32_t i = 0; i < claim->nsteps; i++)
		for (uint32_t j = 0; j < claim->nsteps; j++)
			if (steps_meet(&claim->steps[i], &claim->steps[j]))
				forbidding.conflict[claim->steps[i].role][claim->steps[j].role] = true;
	for (uint32_t role = 0; role < claim->nroles; role++)
		forbidding.one_place[role] = forbidding.steps[role] > 1 &&
					     step_has_site(&claim->steps[forbidding.last[role]],
							   claim->steps[forbidding.first[role]].sites[0]);
	for (uint32_t role = 1; role < claim->nroles; role++)
		forbidding.alike |=
			step_has_site(&claim->steps[forbidding.first[role]], claim->steps[0].sites[0]);
	sides_start(forbidding.first, forbidding.last);
}

static struct group *group_of(const struct agent *agent)
{
	return &forbidding.groups[agent->thread->slot];
}

static void close_group(struct group *group)
{
	if (!group->open)
		return;
	*group = (struct group){ 0 };
	forbidding.nopen--;
	intervene_changed();
}

static void open_group(struct agent *me, struct group *group, uint32_t role, bool tentative)
{
	forbidding.nopen += !group->open;
	*group = (struct group){ .open = true,
				 .tentative = tentative,
				 .role = role,
				 .door = tentative ? me->address : group->door,
				 .order = agent_order(me),
				 .began = sides_now() };
}

static bool still_holds(const struct agent *me, uint64_t object)
{
	for (uint32_t i = 0; i < me->nlocks; i++)
		if (me->locks[i].object == object)
			return true;
	return false;
}

/* Is the group over, now that its thread has come here? It also is when the thread begins anew. */
static bool is_over_at(const struct agent *me, const struct group *group, uint32_t mark)
{
	const struct claim_role *role = &intervene_claim()->roles[group->role];
	uint32_t first = forbidding.first[group->role], last = forbidding.last[group->role];
	if (group->closing && group->until && still_holds(me, group->until) && me->access != POINT_SYNC)
		return false;
	if (group->closing)
		return !role->linger || agent_order(me) - group->order > role->linger ||
		       mark & MARK_EXIT(group->role);
	if (group->tentative)
		return !still_holds(me, group->door);
	if (mark & MARK_STEP(last))
		return false;
	uint32_t anew = forbidding.one_place[group->role] ? 0
			: role->passes_doors              ? MARK_STEP(first)
							  : MARK_DOOR(group->role) | MARK_STEP(first);
	return mark & (MARK_EXIT(group->role) | anew) ||
	       agent_order(me) - group->order > (uint64_t)role->reach * REACH_TIMES + REACH_MORE;
}

void forbid_arrive(struct agent *me, uint32_t mark)
{
	struct group *group = group_of(me);
	if (group->open && is_over_at(me, group, mark))
		close_group(group);
	if (!group->lapsed ||
	    !(mark & (MARK_STEP(forbidding.first[group->role]) | MARK_STEP(forbidding.last[group->role]))))
		return;
	intervene_counts()->given_up += (mark & MARK_STEP(forbidding.last[group->role])) != 0;
	group->lapsed = false;
}

/* ---- atomicity ---- */

/* Of two threads that are each behind a door and before their first step neither knows the other's place. With two locks
 * they are at two things, most likely; if not, whoever comes second to its step waits there. */
static bool is_elsewhere(const struct group *mine, const struct group *other)
{
	return mine->open && mine->tentative && other->tentative && mine->door != other->door;
}

/* Does another thread's open group keep `me` from beginning or doing a step of `role`? */
static bool is_kept_out(const struct agent *me, uint32_t role, const struct claim_step *step)
{
	const struct group *mine = group_of(me);
	for (uint32_t slot = 1, left = forbidding.nopen; left && slot < AREA_SLOTS; slot++) {
		const struct group *group = &forbidding.groups[slot];
		if (!group->open)
			continue;
		left--;
		if (slot == me->thread->slot || !forbidding.conflict[role][group->role])
			continue;
		if (!step) { /* at a door: of the same lock, or of one that is not known or is to come */
			if (!group->door || group->door == me->address ||
			    intervene_claim()->roles[group->role].many_locks)
				return true;
		} else if (!(group->tentative && forbidding.steps[role] == 1) && !is_elsewhere(mine, group) &&
			   (!step->location ||
			    ranges_meet(&group->ranges[step->location], me->address, me->size))) {
			return true;
		}
	}
	return false;
}

/* Does it come to a place of another thread's open group that one of the two writes? Such an access is held
 * whether or not the claim knows it: a lock that the program lacks would be held around all of them. */
static bool is_in_the_way(const struct agent *me)
{
	for (uint32_t slot = 1, left = forbidding.nopen; left && slot < AREA_SLOTS; slot++) {
		const struct group *group = &forbidding.groups[slot];
		if (!group->open)
			continue;
		left--;
		for (uint32_t i = 1; slot != me->thread->slot && i <= CLAIM_STEPS; i++)
			if (group->ranges[i].known && ranges_meet(&group->ranges[i], me->address, me->size) &&
			    (me->access == ACCESS_WRITE || forbidding.writes[group->role][i]))
				return true;
	}
	return false;
}

bool forbid_covers(const struct thread *self, uint64_t address, uint64_t size)
{
	for (uint32_t slot = 1, left = forbidding.nopen; left && slot < AREA_SLOTS; slot++) {
		const struct group *group = &forbidding.groups[slot];
		if (!group->open)
			continue;
		left--;
		for (uint32_t i = 1; slot != self->slot && i <= CLAIM_STEPS; i++)
			if (group->ranges[i].known && ranges_meet(&group->ranges[i], address, size))
				return true;
	}
	return false;
}

/* The step at which `me` stands as one of its own open group; NULL when it is none. */
static const struct claim_step *step_of_group(const struct group *group, uint32_t mark, uint32_t *index)
{
	const struct claim *claim = intervene_claim();
	for (uint32_t i = claim->nsteps;
	     group->open && i-- > 0;) /* a place may be its first and its last step */
		if (mark & MARK_STEP(i) && claim->steps[i].role == group->role) {
			*index = i;
			return &claim->steps[i];
		}
	return NULL;
}

static enum hold atomic_holds(struct agent *me, uint32_t mark)
{
	const struct claim *claim = intervene_claim();
	const struct group *group = group_of(me);
	uint32_t index;
	if (!(mark & MARK_STEPS)) { /* a door, unless it is inside already */
		for (uint32_t role = 0; role < claim->nroles && !group->open; role++)
			if (mark & MARK_DOOR(role) && (sides_hold(role) || is_kept_out(me, role, NULL)))
				return HOLD_FIRMLY;
		return forbidding.nopen && me->access != POINT_SYNC && !group->open && is_in_the_way(me)
			       ? HOLD_FIRMLY
			       : HOLD_NOT;
	}
	if (step_of_group(group, mark, &index) && !group->tentative)
		return HOLD_NOT;
	for (uint32_t role = 0; role < claim->nroles && !group->open; role++)
		if (mark & MARK_STEP(forbidding.first[role]) && sides_hold(role))
			return HOLD_FIRMLY;
	for (uint32_t i = 0; i < claim->nsteps; i++)
		if (mark & MARK_STEP(i) && is_kept_out(me, claim->steps[i].role, &claim->steps[i]))
			return HOLD_FIRMLY;
	return HOLD_NOT;
}

/* The innermost lock, if it was taken since the group began. Were the others let in right behind the last step, one of
 * them could keep this thread from the end of its section, and the section that one. */
static uint64_t section_of(const struct agent *me, const struct group *group)
{
	uint32_t n = me->nlocks;
	return n && me->locks[n - 1].order >= group->order ? me->locks[n - 1].object : 0;
}

/* Sets where the group is; the last step of its role is the end of it. `others`: it is a step of another role, too. */
static void take_own_step(struct agent *me, struct group *group, const struct claim_step *step,
			  uint32_t index, bool others)
{
	group->ranges[step->location] = (struct range){ me->address, me->size, true };
	if (index == forbidding.last[step->role]) {
		group->until = group->closing ? group->until : section_of(me, group);
		group->closing = true;
		group->order = agent_order(me);
	}
	if (index == forbidding.last[step->role] && step->role == 0)
		sides_group(me, group->ranges, group->began, others || forbidding.alike);
}

static void atomic_passes(struct agent *me, uint32_t mark)
{
	const struct claim *claim = intervene_claim();
	struct group *group = group_of(me);
	uint32_t index = 0;
	for (uint32_t role = 1; role < claim->nroles; role++)
		if (mark & MARK_EXIT(role))
			sides_leave(me, role);
	if (!(mark & MARK_STEPS)) {
		for (uint32_t role = 0; role < claim->nroles && !group->open; role++)
			if (mark & MARK_DOOR(role) && forbidding.steps[role] > 1)
				open_group(me, group, role, true);
		return;
	}
	const struct claim_step *own = step_of_group(group, mark, &index);
	bool inside = own && group->role == 0, others = false;
	for (uint32_t i = 0; i < claim->nsteps; i++) {
		if (!(mark & MARK_STEP(i)) || claim->steps[i].role == 0)
			continue;
		others = true;
		if (!inside)
			sides_step(me, i);
	}
	/* The first step begins a group, again if need be. */
	for (uint32_t i = 0;
	     i < claim->nsteps && (!own || group->tentative || index == forbidding.first[group->role]); i++) {
		uint32_t role = claim->steps[i].role;
		if (!(mark & MARK_STEP(i)) || i != forbidding.first[role] || forbidding.steps[role] < 2 ||
		    (group->open && group->role != role))
			continue;
		uint64_t door = group->door;
		open_group(me, group, role, false);
		group->door = door;
		take_own_step(me, group, &claim->steps[i], i, others);
		return;
	}
	if (own && !group->tentative)
		take_own_step(me, group, own, index, others);
}

/* ---- locks ---- */

/* As if a lock of its own stood before the first lock of each role, until that is given back. */
static bool is_first_lock(uint32_t mark, uint32_t *role)
{
	for (*role = 0; *role < intervene_claim()->nroles; ++*role)
		if (mark & MARK_STEP(forbidding.first[*role]))
			return true;
	return false;
}

static enum hold locks_holds(struct agent *me, uint32_t mark)
{
	uint32_t role;
	bool others = forbidding.nopen > group_of(me)->open;
	return is_first_lock(mark, &role) && !group_of(me)->open && others ? HOLD_FIRMLY : HOLD_NOT;
}

static void locks_passes(struct agent *me, uint32_t mark)
{
	uint32_t role;
	if (is_first_lock(mark, &role) && !group_of(me)->open)
		open_group(me, group_of(me), role, true);
}

/* ---- what intervene.c asks ---- */

enum hold forbid_holds(struct agent *me, uint32_t mark)
{
	if (!mark && !forbidding.nopen)
		return HOLD_NOT;
	switch (intervene_claim()->kind) {
	case CLAIM_ATOMIC:
		return atomic_holds(me, mark);
	case CLAIM_LOCKS:
		return locks_holds(me, mark);
	default:
		return forbid_order_holds(me, mark);
	}
}

void forbid_passes(struct agent *me, uint32_t mark)
{
	switch (intervene_claim()->kind) {
	case CLAIM_ATOMIC:
		atomic_passes(me, mark);
		break;
	case CLAIM_LOCKS:
		locks_passes(me, mark);
		break;
	default:
		forbid_order_passes(me, mark);
	}
}

/* Further parts of a step: of an order they are done as the first one is, and a group is at all of them. */
void forbid_continues(struct agent *me, uint32_t mark, uint64_t address, uint64_t size)
{
	struct group *group = group_of(me);
	uint32_t index;
	const struct claim_step *own = step_of_group(group, mark, &index);
	if (claim_is_order(intervene_claim())) {
		uint64_t first = me->address, length = me->size;
		me->address = address;
		me->size = size;
		forbid_order_passes(me, mark);
		me->address = first;
		me->size = length;
	} else if (own && group->ranges[own->location].known &&
		   group->ranges[own->location].address + group->ranges[own->location].size == address) {
		group->ranges[own->location].size += size;
	}
}

bool forbid_lets_go(struct agent *held)
{
	return claim_is_order(intervene_claim()) ? forbid_order_lets_go(held) : true;
}

/* A group whose thread waits, not for a lock, or spins, while others are held may be one whose last step does not come
 * this way. */
bool forbid_lapses(void)
{
	bool stays[AREA_SLOTS] = { false }, some = false;
	if (intervene_claim()->kind != CLAIM_ATOMIC)
		return false;
	if (sides_lapse())
		return true;
	for (uint32_t i = 0; i < control.nblocked; i++)
		stays[control.blocked[i]->thread->slot] =
			control.blocked[i]->wait == WAIT_HELD ||
			is_at_lock(control.blocked[i], control.blocked[i]->wait);
	for (uint32_t slot = 1; forbidding.nopen && slot < AREA_SLOTS; slot++) {
		struct group *group = &forbidding.groups[slot];
		uint32_t role = group->role;
		bool lapses = !group->closing;
		if (!group->open || group->tentative || stays[slot])
			continue;
		close_group(group);
		group->lapsed = lapses;
		group->role = role;
		some = true;
	}
	return some;
}

void forbid_ended(struct agent *me)
{
	close_group(group_of(me));
	for (uint32_t role = 1; role < intervene_claim()->nroles; role++)
		sides_leave(me, role);
}

void forbid_forgets(uint64_t address, uint64_t size)
{
	order_places_forget(address, size);
	sides_forget(address, size);
}
