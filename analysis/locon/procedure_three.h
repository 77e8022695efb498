/* Test Procedure III, shared by its halves: procedure_three.c puts couples together,
 * levels.c says whether a passing run had them together at the finer levels.
 */
#ifndef ANALYSIS_LOCON_PROCEDURE_THREE_H
#define ANALYSIS_LOCON_PROCEDURE_THREE_H

#include "analysis/locon/locon.h"

struct third_member {
	uint32_t at, key; /* in failed.pairs; its key */
};

struct third {
	VEC(struct third_member) members;
	uint32_t *row;   /* of each key in `masks`, LOCON_NONE */
	uint64_t *masks; /* which passing runs show the key */
	size_t words;    /* of a row */
	/* Interned pairs by key, for the level of threads: those of key k are
	 * variants[start[k]] .. variants[start[k + 1] - 1]. */
	uint32_t *start, *variants;
};

void third_variants(const struct locon *locon, struct third *third);
void third_free(struct third *third);
void third_bitmap_freep(roaring_bitmap_t **bitmap);

/* In how many passing runs both keys came, when none of them had them opposite
 * ways between two threads; else 0. */
double third_threads(const struct locon *locon, const struct third *third, uint32_t a, uint32_t b);
/* The same for the relation of the loop iterations in which their ends stood. */
double third_loops(const struct locon *locon, const struct third *third, const struct pair *p,
		   const struct pair *q, uint32_t p_key, uint32_t q_key);
/* Couples of which the second pair is missing: the second value was of an earlier round (stale.c). */
void third_stale(const struct locon *locon, struct locon_couples *out);
bool third_may_be_stale(const struct locon *locon); /* worth reading the passing runs' details for */
/* Couples that the failed run itself saw at one moment, and no passing run. */
void third_moments(const struct locon *locon, struct locon_couples *out);

#endif
