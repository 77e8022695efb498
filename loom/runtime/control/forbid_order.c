/* Forbidding an order: the early step waits for the late one, before a lock where it would
 * keep that from coming, else at the step. Who is let go has broken nothing yet: only the
 * late step, should it come there after all, shows that. */
#include "loom/runtime/control/forbid_order.h"
#include "loom/runtime/control/order_places.h"

#define IN_VAIN_MOST 256u

static struct waited_for {
	bool once_done; /* the one time of the late step is over */
	/* Where somebody was let go before the late step. */
	struct range in_vain[IN_VAIN_MOST];
	uint32_t nin_vain;
} waited_for;

/* Is it the one time that is meant, or a later one? */
static bool is_the_time(const struct agent *me, const struct claim_step *step)
{
	return me->number == step->thread && agent_order(me) >= step->occurrence;
}

/* Before a lock inside which the early step would wait for a thread that needs it. The late thread itself may pass: it
 * takes the lock for its own step. */
static bool is_before_early_step(const struct agent *me, uint32_t mark)
{
	const struct claim *claim = intervene_claim();
	return mark & MARK_DOOR(0) && !(mark & MARK_STEPS) && claim->kind != CLAIM_ORDER_ONCE &&
	       me->number != claim->steps[1].thread;
}

enum hold forbid_order_holds(struct agent *me, uint32_t mark)
{
	const struct claim *claim = intervene_claim();
	if (is_before_early_step(me, mark) && claim->kind != CLAIM_ORDER_LAST)
		return order_places_served_somewhere(claim) ? HOLD_NOT : HOLD_FIRMLY;
	if (!(mark & MARK_STEP(0)) && !is_before_early_step(me, mark))
		return HOLD_NOT;
	if (claim->kind == CLAIM_ORDER_ONCE)
		return waited_for.once_done || !is_the_time(me, &claim->steps[0]) ? HOLD_NOT : HOLD_FIRMLY;
	if (claim->kind == CLAIM_ORDER_LAST && me->number == claim->steps[1].thread)
		return HOLD_NOT; /* the late thread cannot wait for its own end */
	if (claim->kind == CLAIM_ORDER_LAST)
		return control.nready + control.nblocked > 1 + control.exiting ? HOLD_FIRMLY : HOLD_NOT;
	return order_places_served(me, claim) ? HOLD_NOT : HOLD_FIRMLY;
}

/* Whoever was let go has not waited in vain a second time. */
static void once_passes(struct agent *me, uint32_t mark)
{
	const struct claim *claim = intervene_claim();
	for (uint32_t i = 0; i < 2 && !waited_for.once_done; i++)
		waited_for.once_done = mark & MARK_STEP(i) && is_the_time(me, &claim->steps[i]);
	intervene_changed();
}

void forbid_order_passes(struct agent *me, uint32_t mark)
{
	if (intervene_claim()->kind == CLAIM_ORDER_ONCE) {
		once_passes(me, mark);
		return;
	}
	order_places_pass(me, mark);
	if (!(mark & MARK_STEP(1)))
		return;
	for (uint32_t i = 0; i < waited_for.nin_vain; i++)
		if (ranges_meet(&waited_for.in_vain[i], me->address, me->size)) {
			intervene_counts()->given_up++;
			break;
		}
	intervene_changed();
}

/* Who is let go before the late step has broken the order only if that comes there, later. */
static bool goes_in_vain(const struct agent *held)
{
	const struct claim *claim = intervene_claim();
	if (claim->kind == CLAIM_ORDER_ONCE || !claim->steps[0].location ||
	    waited_for.nin_vain == IN_VAIN_MOST)
		return false;
	waited_for.in_vain[waited_for.nin_vain++] = (struct range){ held->address, held->size, true };
	intervene_counts()->in_vain++;
	return true;
}

bool forbid_order_lets_go(struct agent *held)
{
	const struct claim *claim = intervene_claim();
	/* Before a lock it has broken nothing yet: it will be asked again at its step. */
	if (!(intervene_mark(held->site) & MARK_STEPS))
		return false;
	/* The last of the late steps has been done when only those who wait for it are left. */
	if (claim->kind == CLAIM_ORDER_LAST && control.nready > control.exiting)
		return true;
	if (claim->kind == CLAIM_ORDER_LAST && order_places_late(held, &claim->steps[0]))
		return false;
	return !goes_in_vain(held);
}
