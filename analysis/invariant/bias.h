/* Bias (AI, section 3.4.1): accesses that never met those of another group form a group,
 * and groups with a large share of all shared accesses are left unguarded. They are hot
 * and well tested, and cost the most. */
#ifndef ANALYSIS_INVARIANT_BIAS_H
#define ANALYSIS_INVARIANT_BIAS_H

#include "model/guard_set.h"

struct bias_group {
	uint32_t group;
	uint32_t sites;
	uint64_t count;
	double share;    /* of all shared accesses that were counted, 0..1 */
	uint32_t sample; /* its most frequent site */
	bool left_out;
};

struct bias {
	VEC(struct bias_group) groups; /* the largest share first */
	uint64_t count;                /* of all */
};

/* The groups of a set. Groups with more than `most` of all accesses are marked as left out. */
void bias_groups(const struct guard_set *set, double most, struct bias *out);
void bias_free(struct bias *bias);
/* The set without what is left out. Groups never meet, so the sets of the others stay as they are. */
void bias_apply(const struct guard_set *set, const struct bias *bias, struct guard_set *out);

#endif
