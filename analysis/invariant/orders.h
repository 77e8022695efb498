/* Orders that passing runs never broke (AI, section 4.1, Algorithm 3): where a set holds a
 * single predecessor, that access should probably always come first; and where it holds
 * writes alone, one of them. Whether the program sees to it is for an experiment to say. */
#ifndef ANALYSIS_INVARIANT_ORDERS_H
#define ANALYSIS_INVARIANT_ORDERS_H

#include "model/claim.h"
#include "model/guard_set.h"
#include "model/site.h"

struct order_kept {
	/* Numbers: `second` only ever came right after one of `firsts`, which are the set's own; `first` ran most. */
	uint32_t first, second;
	const uint32_t *firsts;
	size_t nfirsts;
};

struct orders {
	VEC(struct order_kept) list;
};

void orders_find(const struct guard_set *set, struct orders *out);
void orders_free(struct orders *orders);
/* The claim that the order is turned round: `second` comes before all of the others. False when the units lack one of
 * the two sides. */
bool orders_claim(const struct guard_set *set, struct order_kept order, const struct unit *units,
		  size_t nunits, struct claim *out);
/* A guard set in which the others wait until `second` has been done: the same for a free run. */
void orders_reversed(const struct guard_set *set, struct order_kept order, uint32_t limit_ms,
		     struct guard_set *out);

#endif
