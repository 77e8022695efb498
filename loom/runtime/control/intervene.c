/* Every point of a run with a claim passes here: what its site is to the claim, whether
 * the thread is held, and who is let go when nobody else can run. */
#include "loom/runtime/control/intervene.h"

#define CLAIM_MARKS_SIZE (sizeof *claim_marks * (WORD_SITE_MASK + 1))

static uint16_t *claim_marks; /* by site: MARK_KNOWN and what it is; 0 = not looked up yet */

const struct claim *intervene_claim(void)
{
	return &control.options.claim;
}

struct claim_counts *intervene_counts(void)
{
	return &control.schedule->claim;
}

void intervene_prepare(void)
{
	claim_marks = runtime_map_far(CLAIM_MARKS_SIZE);
}

void intervene_start(void)
{
	const struct claim *claim = intervene_claim();
	control.intervenes = claim->use != CLAIM_UNUSED;
	if (!control.intervenes)
		return;
	if (claim_forbids(claim))
		forbid_start();
	else
		force_start();
}

static uint16_t look_up_mark(uint32_t site)
{
	const struct claim *claim = intervene_claim();
	uint64_t id = units_site_id(site);
	uint32_t mark = MARK_KNOWN;
	for (uint32_t i = 0; id && i < claim->nsteps; i++)
		for (uint32_t j = 0; j < claim->steps[i].nsites; j++)
			if (claim->steps[i].sites[j] == id)
				mark |= MARK_STEP(i);
	for (uint32_t i = 0; id && i < claim->nroles; i++)
		for (uint32_t j = 0; j < claim->roles[i].ndoors; j++)
			if (claim->roles[i].doors[j] == id)
				mark |= MARK_DOOR(i);
	for (uint32_t i = 0; id && i < claim->nroles; i++)
		for (uint32_t j = 0; j < claim->roles[i].nexits; j++)
			if (claim->roles[i].exits[j] == id)
				mark |= MARK_EXIT(i);
	return (uint16_t)mark;
}

uint32_t intervene_mark(uint32_t site)
{
	if (!site)
		return 0;
	if (!claim_marks[site])
		claim_marks[site] = look_up_mark(site);
	return claim_marks[site] & (MARK_KNOWN - 1);
}

bool intervene_wants(uint32_t site)
{
	return intervene_mark(site) != 0;
}

bool intervene_covers(const struct thread *self, uint64_t address, size_t size)
{
	return claim_forbids(intervene_claim()) && forbid_covers(self, address, size);
}

void intervene_changed(void)
{
	control_wake(WAIT_HELD, 0);
}

static enum hold claim_holds(struct agent *me, uint32_t mark)
{
	return claim_forbids(intervene_claim()) ? forbid_holds(me, mark) : force_holds(me, mark);
}

void intervene_arrives(struct agent *me)
{
	if (claim_forbids(intervene_claim()))
		forbid_arrive(me, intervene_mark(me->site));
}

/* Then what is forbidden, or forced, is how a wait on a condition variable ends (waking.c). */
static bool is_about_waiting(void)
{
	const struct claim *claim = intervene_claim();
	return claim->kind == CLAIM_LOOK_AGAIN || claim->kind == CLAIM_TAKEN ||
	       (claim->kind == CLAIM_MISSED && claim_forbids(claim));
}

void intervene(struct agent *me)
{
	uint32_t mark = intervene_mark(me->site);
	bool forbids = claim_forbids(intervene_claim());
	if (control.pinned) /* a lock of the C library is held: nobody may be held beside it */
		return;
	if (is_about_waiting()) {
		waking_passes(me, mark);
		return;
	}
	me->let_go = false;
	for (enum hold hold; !me->let_go && (hold = claim_holds(me, mark)) != HOLD_NOT;) {
		uint32_t site = me->site;
		me->held_softly = hold == HOLD_SOFTLY;
		me->held = true;
		intervene_counts()->held += hold == HOLD_FIRMLY;
		control_wait(me, WAIT_HELD, 0, NEVER);
		me->site = site;
	}
	me->held = false;
	if (!mark)
		return;
	if (forbids)
		forbid_passes(me, mark);
	else
		force_passes(me, mark);
}

void intervene_continues(struct agent *me, uint64_t address, uint64_t size)
{
	uint32_t mark = intervene_mark(me->site);
	if (mark & MARK_STEPS && claim_forbids(intervene_claim()))
		forbid_continues(me, mark, address, size);
}

bool intervene_lets_go(void)
{
	struct agent *chosen = NULL;
	for (uint32_t i = 0; control.intervenes && i < control.nblocked; i++) {
		struct agent *agent = control.blocked[i];
		if (agent->wait == WAIT_HELD && (!chosen || (agent->held_softly && !chosen->held_softly)))
			chosen = agent;
	}
	if (!chosen)
		return false;
	if (claim_forbids(intervene_claim()) && forbid_lapses())
		return true;
	bool gives_up = claim_forbids(intervene_claim()) ? forbid_lets_go(chosen) : force_lets_go(chosen);
	intervene_counts()->given_up += gives_up;
	chosen->let_go = true;
	if (chosen->state == AGENT_BLOCKED)
		control_unblock(chosen, WAIT_WOKEN);
	return true;
}

/* A thread that computes for long looks like one that spins until it writes: it gets time to do so. */
#define SPINS_MOST 2000u
void intervene_spins(void)
{
	static uint32_t spins;
	if (++spins % SPINS_MOST == 0)
		intervene_lets_go();
}

bool intervene_holds_others(void)
{
	bool held = false;
	for (uint32_t i = 0; i < control.nblocked; i++)
		held |= control.blocked[i]->held;
	for (uint32_t i = 0; i < control.nready; i++)
		held |= control.ready[i]->held;
	return held;
}

void intervene_ended(struct agent *me)
{
	if (claim_forbids(intervene_claim()))
		forbid_ended(me);
	else
		force_ended(me);
}
