/* Binomial tails by summing logarithms of terms: counts here are thousands at most.
 */
#include "diagnose/statistics.h"

#include <math.h>

static double log_choose(uint64_t n, uint64_t k)
{
	return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

/* The chance of at most `hits` in `n` when each comes with chance p. */
static double tail(uint64_t hits, uint64_t n, double p)
{
	double sum = 0;

	if (p <= 0)
		return 1;
	if (p >= 1)
		return hits >= n;
	for (uint64_t k = 0; k <= hits && k <= n; k++)
		sum += exp(log_choose(n, k) + (double)k * log(p) + (double)(n - k) * log1p(-p));
	return sum < 1 ? sum : 1;
}

double statistics_upper(uint64_t hits, uint64_t n)
{
	double low = 0, high = 1;

	if (hits >= n)
		return 1;
	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		if (tail(hits, n, middle) > STATISTICS_LEVEL)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double statistics_lower(uint64_t hits, uint64_t n)
{
	return hits > n ? 0 : 1 - statistics_upper(n - hits, n);
}

bool statistics_is_less(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
	uint64_t hits = a + b;
	double sum = 0;

	if (!n || !m || a > n || b > m || hits == 0)
		return false;
	/* At most `a` of the hits fall among the n. */
	for (uint64_t k = hits > m ? hits - m : 0; k <= a; k++)
		sum += exp(log_choose(n, k) + log_choose(m, hits - k) - log_choose(n + m, hits));
	return sum <= STATISTICS_LEVEL;
}

uint64_t statistics_needed(uint64_t hits, uint64_t n)
{
	double share = n ? (double)hits / (double)n : 0;

	if (share >= 1)
		return 1;
	if (share <= 0)
		return UINT64_MAX;
	return (uint64_t)ceil(log(STATISTICS_LEVEL) / log1p(-share));
}
