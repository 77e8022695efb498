/* Single predecessors, and how to turn their order round. */
#include "analysis/invariant/orders.h"

#include <stdlib.h>

/* A single predecessor, or writes alone, of which none ever came right after the access. */
static bool is_kept(const struct guard_set *set, uint32_t number)
{
	const struct guard_site *site = guard_set_site(set, number);
	bool kept = site->before.n > 0 && site->before.items[0] != GUARD_NIL && !site->any &&
		    site->before.n <= CLAIM_SITES;

	for (size_t i = 0; kept && i < site->before.n; i++) {
		uint32_t first = site->before.items[i];

		kept = first != number && !guard_set_allows(set, first, number) &&
		       (site->before.n == 1 || guard_set_site(set, first)->kind != SITE_READ);
	}
	return kept;
}

void orders_find(const struct guard_set *set, struct orders *out)
{
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		const struct guard_site *site = guard_set_site(set, number);

		if (!is_kept(set, number))
			continue;
		struct order_kept *order = VEC_PUSH(&out->list);

		*order = (struct order_kept){ .first = site->before.items[0],
					      .second = number,
					      .firsts = site->before.items,
					      .nfirsts = site->before.n };
		for (size_t i = 1; i < order->nfirsts; i++)
			if (guard_set_site(set, order->firsts[i])->count >
			    guard_set_site(set, order->first)->count)
				order->first = order->firsts[i];
	}
}

void orders_free(struct orders *orders)
{
	VEC_FREE(&orders->list);
}

static bool holds(const uint32_t *numbers, size_t n, uint32_t number)
{
	for (size_t i = 0; i < n; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static bool add_step(struct claim *claim, const struct guard_set *set, const uint32_t *numbers, size_t n,
		     const struct unit *units, size_t nunits)
{
	struct claim_step *step = &claim->steps[claim->nsteps];

	*step = (struct claim_step){ .role = claim->nsteps,
				     .location = 1,
				     .thread = claim->nsteps + 1,
				     .write = guard_set_site(set, numbers[0])->kind != SITE_READ };
	for (size_t u = 0; u < nunits; u++) {
		_cleanup_free_ uint32_t *which = memory_alloc((units[u].nsites + 1) * sizeof *which);

		guard_set_match(set, units[u].sites, units[u].nsites, which);
		for (uint32_t i = 0; i < units[u].nsites && step->nsites < CLAIM_SITES; i++)
			if (which[i] && holds(numbers, n, which[i]))
				step->sites[step->nsites++] = units[u].sites[i].id;
	}
	claim->nsteps++;
	return step->nsites > 0;
}

bool orders_claim(const struct guard_set *set, struct order_kept order, const struct unit *units,
		  size_t nunits, struct claim *out)
{
	*out = (struct claim){ .kind = CLAIM_ORDER, .use = CLAIM_FORCE, .nroles = 2 };
	return add_step(out, set, &order.second, 1, units, nunits) &&
	       add_step(out, set, order.firsts, order.nfirsts, units, nunits) && claim_is_sound(out);
}

void orders_reversed(const struct guard_set *set, struct order_kept order, uint32_t limit_ms,
		     struct guard_set *out)
{
	_cleanup_free_ bool *keep = memory_alloc((set->sites.n + 1) * sizeof *keep);
	uint32_t second = 1;

	keep[order.second] = true;
	for (size_t i = 0; i < order.nfirsts; i++) {
		keep[order.firsts[i]] = true;
		second += order.firsts[i] < order.second; /* numbers keep their order */
	}
	guard_set_choose(set, keep, out);
	out->limit_ms = limit_ms;
	for (uint32_t number = 1; number <= out->sites.n; number++) {
		guard_set_site(out, number)->any = true;
		if (number != second)
			*VEC_PUSH(&out->rules) =
				(struct guard_rule){ .kind = GUARD_ORDER, .first = second, .second = number };
	}
}
