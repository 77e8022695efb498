/* Claims about how waits on condition variables end.
 *   look-again  a woken thread goes on without looking at what it had waited for. Forbidden:
 *               when nothing that it had looked at has another value than before, it waits
 *               on, as a loop around the wait would. Forced: every other wait ends at once
 *               although nobody signalled, as POSIX allows.
 *   missed      a signal came after a thread had looked and before it waited. Forbidden: the
 *               signal is kept, and ends that wait at once; and when nobody can go on those
 *               who wait there look once more. (Forced by force.c, as steps.)
 *   taken       a signal (any step but the last) wakes another thread than the one that needs it (the
 *               last step). Forbidden: it wakes all who wait. Forced: it wakes whoever waits elsewhere. */
#include "loom/runtime/control/intervene.h"

#define LOOKED_MOST 8u
#define VALUE_SIZE 8u
#define KEPT_MOST 64u

struct looked_at {
	uint64_t address;
	uint32_t size;
	uint64_t value; /* when the wait began */
};

static struct looker {
	uint32_t n;
	bool was_woken; /* for nothing, the last time it waited */
	struct looked_at items[LOOKED_MOST];
	uint64_t since; /* signals that had been kept when it last began to look */
	uint32_t nround;
	uint32_t round[LOOKED_MOST]; /* sites at which it has looked since */
} lookers[AREA_SLOTS];               /* by slot */

/* Signals that nobody waited for, the latest at each condition variable. */
static struct {
	uint64_t condition;
	uint64_t number; /* from 1, of all that were kept */
} kept_signals[KEPT_MOST];
static uint64_t nkept_signals;

static struct looker *looker_of(const struct agent *me)
{
	return &lookers[me->thread->slot];
}

static bool is_step(const struct agent *me, enum claim_kind kind, enum claim_use use, uint32_t step)
{
	const struct claim *claim = intervene_claim();
	return control.intervenes && claim->kind == kind && claim->use == use &&
	       intervene_mark(me->site) & MARK_STEP(step);
}

static bool waits_at_claim(const struct agent *me, enum claim_kind kind, enum claim_use use)
{
	return is_step(me, kind, use, intervene_claim()->nsteps - 1);
}

/* A test may look at several variables. It begins anew with the first site that comes again. */
static void note_round(struct looker *looker, uint32_t site)
{
	bool again = looker->nround == 0;
	for (uint32_t i = 0; i < looker->nround; i++)
		again = again || looker->round[i] == site;
	if (again) {
		looker->since = nkept_signals;
		looker->nround = 0;
	}
	if (looker->nround < LOOKED_MOST)
		looker->round[looker->nround++] = site;
}

/* Looks since the last call that synchronises: from there to the wait the thread keeps its lock, so what it
 * looks at stays there. A missed signal needs no lock between look and wait. */
void waking_passes(struct agent *me, uint32_t mark)
{
	struct looker *looker = looker_of(me);
	bool look = mark & MARK_STEP(0) && me->access != POINT_SYNC;
	if (look)
		note_round(looker, me->site);
	if (intervene_claim()->kind != CLAIM_LOOK_AGAIN)
		return;
	if (me->access == POINT_SYNC && !(mark & MARK_STEP(1)))
		looker->n = 0;
	if (look && looker->n < LOOKED_MOST && me->size <= VALUE_SIZE)
		looker->items[looker->n++] =
			(struct looked_at){ .address = me->address, .size = (uint32_t)me->size };
}

static uint64_t value_at(const struct looked_at *looked)
{
	const unsigned char *bytes = (const unsigned char *)(uintptr_t)looked->address;
	uint64_t value = 0;
	for (uint32_t i = 0; i < looked->size; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

void waking_missed(struct agent *me, uint64_t condition)
{
	if (!control.intervenes || intervene_claim()->nsteps < 2 ||
	    !is_step(me, CLAIM_MISSED, CLAIM_FORBID, intervene_claim()->nsteps - 2))
		return;
	uint32_t i = 0;
	while (i + 1 < KEPT_MOST && kept_signals[i].number && kept_signals[i].condition != condition)
		i++;
	kept_signals[i].condition = condition;
	kept_signals[i].number = ++nkept_signals;
}

/* Was a signal kept there since the thread looked? It is used up. */
static bool takes_kept(struct agent *me, uint64_t condition)
{
	for (uint32_t i = 0; i < KEPT_MOST && kept_signals[i].number; i++)
		if (kept_signals[i].condition == condition && kept_signals[i].number > looker_of(me)->since) {
			looker_of(me)->since = kept_signals[i].number;
			return true;
		}
	return false;
}

bool waking_at_once(struct agent *me, uint64_t condition)
{
	struct looker *looker = looker_of(me);
	if (!control.intervenes)
		return false;
	if (waits_at_claim(me, CLAIM_LOOK_AGAIN, CLAIM_FORBID))
		for (uint32_t i = 0; i < looker->n; i++)
			looker->items[i].value = value_at(&looker->items[i]);
	if (waits_at_claim(me, CLAIM_MISSED, CLAIM_FORBID) && takes_kept(me, condition)) {
		intervene_counts()->held++;
		return true;
	}
	if (!waits_at_claim(me, CLAIM_LOOK_AGAIN, CLAIM_FORCE))
		return false;
	looker->was_woken = !looker->was_woken;
	intervene_counts()->occurred += looker->was_woken;
	return looker->was_woken;
}

/* Does the thread signal at one of the claim's places? */
static bool signals_at_claim(const struct agent *me, enum claim_use use)
{
	const struct claim *claim = intervene_claim();
	uint32_t wait = MARK_STEP(claim->nsteps - 1);
	return control.intervenes && claim->kind == CLAIM_TAKEN && claim->use == use &&
	       intervene_mark(me->site) & MARK_STEPS & ~wait;
}

bool waking_reaches_all(struct agent *me)
{
	bool reaches = signals_at_claim(me, CLAIM_FORBID);
	intervene_counts()->held += reaches;
	return reaches;
}

uint32_t waking_chooses(struct agent **waiters, uint32_t n)
{
	if (n < 2 || !signals_at_claim(control.current, CLAIM_FORCE))
		return n;
	uint32_t wait = MARK_STEP(intervene_claim()->nsteps - 1), others = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct agent *waiter = waiters[i];
		if (intervene_mark(waiter->site) & wait)
			continue;
		waiters[i] = waiters[others];
		waiters[others++] = waiter;
	}
	intervene_counts()->occurred += others && others < n;
	return others ? others : n;
}

#define RESCUES_MOST 16u /* in vain, if what they wait for never comes */
bool waking_rescues(void)
{
	static uint32_t rescues;
	bool some = false;
	if (!control.intervenes || intervene_claim()->kind != CLAIM_MISSED ||
	    !claim_forbids(intervene_claim()) || rescues++ >= RESCUES_MOST)
		return false;
	uint32_t wait = MARK_STEP(intervene_claim()->nsteps - 1);
	for (uint32_t i = control.nblocked; i-- > 0;) {
		struct agent *agent = control.blocked[i];
		if ((agent->wait != WAIT_CONDITION && agent->wait != WAIT_ADDRESS) ||
		    !(intervene_mark(agent->site) & wait))
			continue;
		control_unblock(agent, WAIT_WOKEN);
		some = true;
	}
	intervene_counts()->held += some;
	return some;
}

bool waking_waits_on(struct agent *me)
{
	const struct looker *looker = looker_of(me);
	if (!control.intervenes || !waits_at_claim(me, CLAIM_LOOK_AGAIN, CLAIM_FORBID) || !looker->n)
		return false;
	for (uint32_t i = 0; i < looker->n; i++)
		if (looker->items[i].value != value_at(&looker->items[i]))
			return false;
	intervene_counts()->held++;
	return true;
}
