/* The rule by which counts become words. All bounds are exact (binomial, hypergeometric)
 * and one-sided, at one level for all: 1 in 100. Pure. */
#ifndef DIAGNOSE_STATISTICS_H
#define DIAGNOSE_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#define STATISTICS_LEVEL 0.01

/* The share that `hits` of `n` speak for, at least and at most (Clopper and Pearson). */
double statistics_lower(uint64_t hits, uint64_t n);
double statistics_upper(uint64_t hits, uint64_t n);

/* Fisher's exact test: is the share a of n smaller than b of m, more clearly than chance would do in one
 * of a hundred cases? */
bool statistics_is_less(uint64_t a, uint64_t n, uint64_t b, uint64_t m);

/* How many trials without a hit show that a share of hits/n is gone. */
uint64_t statistics_needed(uint64_t hits, uint64_t n);

#endif
