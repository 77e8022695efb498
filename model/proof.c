/* Counts of trials, without the runs in which a claim was not kept.
 */
#include "model/proof.h"

bool trials_are_kept(const struct trials_counts *counts)
{
	return counts->given_up * TRIALS_KEPT <= counts->runs;
}

uint64_t trials_kept(const struct trials_counts *counts)
{
	return counts->runs - (trials_are_kept(counts) ? counts->given_up : 0);
}

uint64_t trials_failed(const struct trials_counts *counts)
{
	return counts->failed - (trials_are_kept(counts) ? counts->failed_given_up : 0);
}
