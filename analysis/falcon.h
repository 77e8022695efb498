/* Falcon (Park et al., ICSE 2010), the baseline that LOCON is compared with:
 * patterns of two and three accesses to one location, ranked by the Jaccard
 * index of how failed and passing runs show them.
 *
 * Patterns are put together from a run's pairs, of which only the first
 * occurrence is known: a triple a-b-c needs both pairs with the very same b.
 */
#ifndef ANALYSIS_FALCON_H
#define ANALYSIS_FALCON_H

#include "analysis/locon/locon.h"

struct falcon_pattern {
	uint32_t ab, bc;      /* keys; bc LOCON_NONE: a pair alone (conflicting accesses) */
	uint32_t first, last; /* the pairs in failed.pairs; last LOCON_NONE */
	uint32_t passed;      /* passing runs that show it */
	double score;         /* failed / (all failed + passed) */
};
struct falcon_patterns {
	struct falcon_pattern *items;
	size_t n, room; /* as VEC */
};

/* The failed run's patterns, highest score first, then in order of occurrence.
 * Needs input->details. */
void falcon_rank(const struct locon *locon, struct falcon_patterns *out);

/* The unserialisable triple that two pairs make (LOCON's number 4..7), 0 for none. */
unsigned falcon_triple(const struct pair *ab, const struct pair *bc);

#endif
