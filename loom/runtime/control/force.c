/* Forcing a claim: its steps come in their order, done by different threads for different
 * roles. Whoever comes to a later step waits before it. Whoever has done the step before
 * another thread's waits as well, softly: it goes on by a point at a time when nobody else
 * can run, out of a critical section that the other needs, say. An attempt that cannot be
 * completed is given up, and the next one begins with whoever comes to the first step. */
#include "loom/runtime/control/intervene.h"
#include "loom/runtime/control/order_places.h"

#define NAMED_ONE_IN 3u

static struct forcing {
	uint32_t at; /* the step that is to come */
	struct agent *who[CLAIM_ROLES];
	struct range ranges[CLAIM_STEPS + 1]; /* by location */
	uint64_t skip;                        /* first steps that are passed over */
	bool over;                            /* it came about, and cannot again */
	bool named;                           /* the threads of the run before, no others */
	bool patient;                         /* no soft waits: a thread goes on to its own next step */
} forcing;

void force_start(void)
{
	uint64_t occurrence = intervene_claim()->steps[0].occurrence;
	uint64_t dice = control_random();
	if (occurrence == CLAIM_NEVER)
		occurrence = 0;
	/* The time that it was in the run before, any near that, or from the first on. */
	if (occurrence > 1)
		forcing.skip = dice % 3 == 0   ? occurrence - 1
			       : dice % 3 == 1 ? control_below(2 * occurrence)
					       : 0;
	/* Whoever else comes to a step may have no way to the next one of its role. */
	forcing.named = control_below(NAMED_ONE_IN) == 0;
}

static void force_again(void)
{
	forcing = (struct forcing){ .skip = forcing.skip, .over = forcing.over, .named = forcing.named };
	intervene_changed();
}

static bool force_has_role(const struct agent *me)
{
	for (uint32_t i = 0; i < CLAIM_ROLES; i++)
		if (forcing.who[i] == me)
			return true;
	return false;
}

/* Can `me` be, or become, the one that does the steps of this role? */
static bool force_may_play(const struct agent *me, uint32_t role)
{
	const struct claim *claim = intervene_claim();
	const struct agent *who = forcing.who[role];
	for (uint32_t i = 0; forcing.named && i < claim->nsteps; i++)
		if (claim->steps[i].role == role && claim->steps[i].thread != me->number)
			return false;
	return who ? who == me : !force_has_role(me);
}

/* Can `me` be the one that does the step, here? */
static bool force_fits(struct agent *me, const struct claim_step *step)
{
	if (!force_may_play(me, step->role))
		return false;
	return !step->location || ranges_meet(&forcing.ranges[step->location], me->address, me->size);
}

/* Is it the next one of its role? A loop may come to the place of a later step before that of the next one. */
static bool is_next_of_role(uint32_t step)
{
	const struct claim *claim = intervene_claim();
	uint32_t i = forcing.at;
	while (claim->steps[i].role != claim->steps[step].role)
		i++;
	return i == step;
}

/* The first step from the attempt's on that `me` stands at; nsteps when there is none. */
static uint32_t force_step_at(struct agent *me, uint32_t mark)
{
	const struct claim *claim = intervene_claim();
	uint32_t i = forcing.at;
	while (i < claim->nsteps &&
	       !(mark & MARK_STEP(i) && is_next_of_role(i) && force_fits(me, &claim->steps[i])))
		i++;
	return i;
}

/* Does the thread stand before a lock inside which it could only come to a later step? */
static bool is_early_at_door(struct agent *me, uint32_t mark)
{
	const struct claim *claim = intervene_claim();
	bool early = false;
	for (uint32_t role = 0; role < claim->nroles; role++) {
		if (!(mark & MARK_DOOR(role)) || !force_may_play(me, role))
			continue;
		uint32_t next = forcing.at;
		while (next < claim->nsteps && claim->steps[next].role != role)
			next++;
		if (next == forcing.at)
			return false;
		early |= next < claim->nsteps;
	}
	return early;
}

enum hold force_holds(struct agent *me, uint32_t mark)
{
	const struct claim *claim = intervene_claim();
	uint32_t step = force_step_at(me, mark);
	if (step == forcing.at || forcing.over)
		return HOLD_NOT;
	if (step < claim->nsteps)
		return HOLD_FIRMLY;
	if (is_early_at_door(me, mark))
		return HOLD_SOFTLY;
	bool next_is_mine = forcing.who[claim->steps[forcing.at].role] == me;
	return forcing.at && force_has_role(me) && !next_is_mine ? HOLD_SOFTLY : HOLD_NOT;
}

/* An early step that comes behind the late one is as the program means it: nothing has begun. */
static bool is_served(const struct agent *me, uint32_t mark)
{
	const struct claim *claim = intervene_claim();
	bool served = forcing.at == 0 && (claim->kind == CLAIM_ORDER || claim->kind == CLAIM_ORDER_EACH) &&
		      order_places_served(me, claim);
	if (claim_is_order(claim))
		order_places_pass(me, mark);
	return served;
}

/* The step with which it has come about. An order is turned round as soon as the early access is done, and a group torn
 * before the steps that the failing run ended before: the program may not live to see what is left. */
static uint32_t force_shown_by(const struct claim *claim)
{
	uint32_t last = claim_is_order(claim) ? 0 : claim->nsteps - 1;
	while (last > 0 && claim->steps[last].occurrence == CLAIM_NEVER)
		last--;
	return last;
}

void force_passes(struct agent *me, uint32_t mark)
{
	const struct claim *claim = intervene_claim();
	if (is_served(me, mark) || forcing.over || force_step_at(me, mark) != forcing.at)
		return;
	const struct claim_step *step = &claim->steps[forcing.at];
	if (forcing.at == 0 && forcing.skip) {
		forcing.skip--;
		return;
	}
	forcing.who[step->role] = me;
	forcing.ranges[step->location] = (struct range){ me->address, me->size, true };
	if (forcing.at == force_shown_by(claim))
		intervene_counts()->occurred++;
	if (++forcing.at < claim->nsteps)
		intervene_changed();
	else
		force_again();
}

bool force_lets_go(struct agent *held)
{
	if (held->held_softly)
		return false;
	forcing.over = intervene_counts()->occurred > 0;
	force_again();
	return !forcing.over;
}

void force_ended(struct agent *me)
{
	const struct claim *claim = intervene_claim();
	for (uint32_t i = forcing.at; i < claim->nsteps; i++)
		if (forcing.who[claim->steps[i].role] == me) {
			force_again();
			return;
		}
}
