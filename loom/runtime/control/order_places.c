/* The places of an order's steps, in two short lists. When a list is full the late step
 * counts as done, so that nobody waits for what cannot be told any more.
 */
#include "loom/runtime/control/order_places.h"

#define PLACES_MOST 256u

struct step_places {
	struct range ranges[PLACES_MOST];
	uint32_t times[PLACES_MOST], n;
};

static struct {
	struct step_places early, late;
} order_places;

static uint32_t times_at(const struct step_places *places, const struct agent *me)
{
	for (uint32_t i = 0; i < places->n; i++)
		if (ranges_meet(&places->ranges[i], me->address, me->size))
			return places->times[i];
	return 0;
}

static void count_time(struct step_places *places, const struct agent *me)
{
	uint32_t i = 0;
	while (i < places->n && !ranges_meet(&places->ranges[i], me->address, me->size))
		i++;
	if (i == PLACES_MOST)
		return;
	if (i == places->n)
		places->ranges[places->n++] = (struct range){ me->address, me->size, true };
	places->times[i]++;
}

bool order_places_late(const struct agent *me, const struct claim_step *step)
{
	return order_places.late.n == PLACES_MOST || (order_places.late.n && !step->location) ||
	       times_at(&order_places.late, me);
}

bool order_places_served(const struct agent *me, const struct claim *claim)
{
	return claim->kind == CLAIM_ORDER_EACH
		       ? times_at(&order_places.late, me) > times_at(&order_places.early, me)
		       : order_places_late(me, &claim->steps[0]);
}

static uint32_t times_in_all(const struct step_places *places)
{
	uint32_t times = 0;
	for (uint32_t i = 0; i < places->n; i++)
		times += places->times[i];
	return times;
}

bool order_places_served_somewhere(const struct claim *claim)
{
	return order_places.late.n == PLACES_MOST ||
	       times_in_all(&order_places.late) >
		       (claim->kind == CLAIM_ORDER_EACH ? times_in_all(&order_places.early) : 0);
}

void order_places_pass(const struct agent *me, uint32_t mark)
{
	if (mark & MARK_STEP(0))
		count_time(&order_places.early, me);
	if (mark & MARK_STEP(1))
		count_time(&order_places.late, me);
}

static void forget_places(struct step_places *places, uint64_t address, uint64_t size)
{
	for (uint32_t i = 0; i < places->n;) {
		if (!ranges_meet(&places->ranges[i], address, size)) {
			i++;
			continue;
		}
		places->ranges[i] = places->ranges[--places->n];
		places->times[i] = places->times[places->n];
		places->times[places->n] = 0;
	}
}

void order_places_forget(uint64_t address, uint64_t size)
{
	forget_places(&order_places.early, address, size);
	forget_places(&order_places.late, address, size);
}
