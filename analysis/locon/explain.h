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

/* Between the parts: triple.c. */
bool explain_passed(const struct locon *locon,
		    uint32_t key); /* some passing run shows the key; not LOCON_NONE */
/* LOCON's four unserialisable triples: 4 W-W-R, 5 R-W-W, 6 R-W-R, 7 W-R-W; 0 for others. */
unsigned explain_triple(const struct pair *ab, const struct pair *bc);
bool explain_joins(const struct locon *locon, const struct pair *ab, const struct pair *bc, bool witnessed);
/* One other thread took part and began with the second; with two, `crossed` says something else. */
bool explain_crossed(const struct couple *couple, const struct pair *first, const struct pair *second);
/* The triple of which failed.pairs[at] is half, or the order that it turned round; false: neither. */
bool explain_try_triple(const struct locon *locon, uint32_t at, struct explain_pattern *out);
/* A pair of which one end frees the block, with how the two threads met on it before (freed.c). */
bool explain_freed(const struct locon *locon, uint32_t at, struct explain_pattern *out);
void explain_order(struct explain_pattern *out, const struct pair *pair);

/* Adds a pair's accesses; false when there is no room. Then explain_sort puts the
 * accesses in an order in which they can have happened. */
bool explain_add(struct explain_pattern *pattern, const struct pair *pair);
void explain_sort(struct explain_pattern *pattern);

/* The scenario of two pairs that were nested or crossed; of a couple whose orders tell. */
unsigned explain_kinds_scenario(enum pair_kind first, enum pair_kind second, bool crossed);
unsigned explain_couple_scenario(const struct pair *first, const struct pair *second);

#endif
