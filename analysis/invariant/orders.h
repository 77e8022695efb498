/* Orders that passing runs never broke (AI, section 4.1, Algorithm 3): where a set holds a
 * single predecessor, that access should probably always come first. Whether the program
 * sees to it is for an experiment to say. */
#ifndef ANALYSIS_INVARIANT_ORDERS_H
#define ANALYSIS_INVARIANT_ORDERS_H

#include "model/claim.h"
#include "model/guard_set.h"
#include "model/site.h"

struct order_kept {
	uint32_t first, second; /* numbers: `second` only ever came right after `first` */
};

struct orders {
	VEC(struct order_kept) list;
};

void orders_find(const struct guard_set *set, struct orders *out);
void orders_free(struct orders *orders);
/* The claim that the order is turned round: `second` comes first. False when the units lack one of the two. */
bool orders_claim(const struct guard_set *set, struct order_kept order, const struct unit *units,
		  size_t nunits, struct claim *out);
/* A guard set in which `first` waits until `second` has been done: the same for a free run. */
void orders_reversed(const struct guard_set *set, struct order_kept order, uint32_t limit_ms,
		     struct guard_set *out);

#endif
