/* What can be said of a tally by itself.
 */
#include "model/tally.h"

#include <stdlib.h>

bool tally_blames_control(const struct tally *tally)
{
	/* A run as it is passes over memory faults: that it passes says nothing about them. */
	return tally->found && !tally->passed && tally->plain_passes &&
	       tally->failure.outcome != OUTCOME_MEMORY;
}

bool tally_lacks_choice(const struct tally *tally)
{
	return tally->passed >= TALLY_ALIKE && !tally->failed && !tally->slow && !tally->contested &&
	       tally->processes <= 1 && !tally->uncontrolled.n;
}

static void free_counts(struct tally_counts *counts)
{
	for (size_t i = 0; i < counts->n; i++)
		free(counts->items[i].name);
	VEC_FREE(counts);
}

void tally_free(struct tally *tally)
{
	free_counts(&tally->ends);
	free_counts(&tally->arms);
	free_counts(&tally->uncontrolled);
	run_free(&tally->failure);
	free(tally->failure_arm);
}
