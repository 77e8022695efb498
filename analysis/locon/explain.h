/* From suspects to findings: completes a suspicious pair to the interleaving it
 * is part of, names class and kind (LOCON, Table 1), and says it in sentences.
 */
#ifndef ANALYSIS_LOCON_EXPLAIN_H
#define ANALYSIS_LOCON_EXPLAIN_H

#include "analysis/locon/locon.h"
#include "model/finding.h"

#define EXPLAIN_EVENTS 16

/* One access of the interleaving. */
struct explain_event {
	uint32_t thread;
	uint64_t order; /* 0: not known */
	uint32_t site;
	bool write, missing; /* missing: the failed run ended before it */
	uint64_t address;
};

/* An interleaving: accesses in the order of the failed run. */
struct explain_pattern {
	enum finding_class class;
	unsigned scenario;
	size_t nevents;
	struct explain_event events[EXPLAIN_EVENTS];
	size_t npairs;
	struct {
		uint8_t head, tail; /* events */
	} pairs[EXPLAIN_EVENTS];
};

/* A suspicious pair, alone or with the pairs of the failed run that make it whole. */
void explain_suspect(const struct locon *locon, uint32_t at, struct explain_pattern *out);
/* A missing pair turned round. */
void explain_missing(const struct locon *locon, const struct locon_missing *missing,
		     struct explain_pattern *out);
/* couples[from], and those of the list that share a pair with it and are not `taken` yet;
 * marks them in `taken`. */
void explain_couples(const struct locon *locon, const struct locon_couples *couples, size_t from, bool *taken,
		     struct explain_pattern *out);

/* Adds a pair's accesses; false when there is no room. Then explain_sort puts the
 * accesses in an order in which they can have happened. */
bool explain_add(struct explain_pattern *pattern, const struct pair *pair);
void explain_sort(struct explain_pattern *pattern);

/* The scenario of two pairs that were nested or crossed; of a couple whose orders tell. */
unsigned explain_kinds_scenario(enum pair_kind first, enum pair_kind second, bool crossed);
unsigned explain_couple_scenario(const struct pair *first, const struct pair *second);

#endif
