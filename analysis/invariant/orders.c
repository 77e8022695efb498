/* Single predecessors, and how to turn their order round. */
#include "analysis/invariant/orders.h"

#include <stdlib.h>

void orders_find(const struct guard_set *set, struct orders *out)
{
	for (uint32_t number = 1; number <= set->sites.n; number++) {
		const struct guard_site *site = guard_set_site(set, number);
		uint32_t first = site->before.n == 1 ? site->before.items[0] : GUARD_NIL;

		if (first == GUARD_NIL || first == number || site->any)
			continue;
		if (!guard_set_allows(set, first, number))
			*VEC_PUSH(&out->list) = (struct order_kept){ .first = first, .second = number };
	}
}

void orders_free(struct orders *orders)
{
	VEC_FREE(&orders->list);
}

static bool add_step(struct claim *claim, const struct guard_set *set, uint32_t number,
		     const struct unit *units, size_t nunits)
{
	struct claim_step *step = &claim->steps[claim->nsteps];

	*step = (struct claim_step){ .role = claim->nsteps,
				     .location = 1,
				     .thread = claim->nsteps + 1,
				     .write = guard_set_site(set, number)->kind != SITE_READ };
	for (size_t u = 0; u < nunits; u++) {
		_cleanup_free_ uint32_t *which = memory_alloc((units[u].nsites + 1) * sizeof *which);

		guard_set_match(set, units[u].sites, units[u].nsites, which);
		for (uint32_t i = 0; i < units[u].nsites && step->nsites < CLAIM_SITES; i++)
			if (which[i] == number)
				step->sites[step->nsites++] = units[u].sites[i].id;
	}
	claim->nsteps++;
	return step->nsites > 0;
}

bool orders_claim(const struct guard_set *set, struct order_kept order, const struct unit *units,
		  size_t nunits, struct claim *out)
{
	*out = (struct claim){ .kind = CLAIM_ORDER, .use = CLAIM_FORCE, .nroles = 2 };
	return add_step(out, set, order.second, units, nunits) &&
	       add_step(out, set, order.first, units, nunits) && claim_is_sound(out);
}

void orders_reversed(const struct guard_set *set, struct order_kept order, uint32_t limit_ms,
		     struct guard_set *out)
{
	_cleanup_free_ bool *keep = memory_alloc((set->sites.n + 1) * sizeof *keep);

	keep[order.first] = keep[order.second] = true;
	guard_set_choose(set, keep, out);
	out->limit_ms = limit_ms;
	for (uint32_t number = 1; number <= out->sites.n; number++)
		guard_set_site(out, number)->any = true;
	/* Numbers keep their order. */
	*VEC_PUSH(&out->rules) = (struct guard_rule){ .kind = GUARD_ORDER,
						      .first = order.second < order.first ? 1 : 2,
						      .second = order.second < order.first ? 2 : 1 };
}
