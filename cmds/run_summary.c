/* Counts the runs of one call as they end.
 */
#include "cmds/run_summary.h"

#include <stdlib.h>
#include <string.h>

#include "report/words.h"

void run_summary_add(struct run_summary *summary, const struct run *run)
{
	struct run_reason *reason = NULL;

	summary->done++;
	if (summary->first == 0)
		summary->first = run->number;
	summary->last = run->number;
	summary->hung += run->outcome == OUTCOME_TIMEOUT;
	summary->dropped += run->observations.dropped;
	summary->incomplete += run->observations.dropped > 0;
	summary->unobserved += run->observations.nprocesses == 0;
	for (size_t i = 0; i < MACHINE_COUNTS; i++)
		summary->machine[i] += run->observations.machine[i];
	if (run->label != LABEL_FAIL) {
		summary->passed++;
		return;
	}
	summary->failed++;
	_cleanup_free_ char *words = run->reason ? memory_string(run->reason) : words_ended(run);

	for (size_t i = 0; i < summary->reasons.n && !reason; i++)
		if (!strcmp(summary->reasons.items[i].words, words))
			reason = &summary->reasons.items[i];
	if (!reason) {
		reason = VEC_PUSH(&summary->reasons);
		reason->words = words;
		words = NULL;
	}
	if (reason->count < RUN_SUMMARY_NUMBERS)
		reason->numbers[reason->count] = run->number;
	reason->count++;
}

void run_summary_free(struct run_summary *summary)
{
	for (size_t i = 0; i < summary->reasons.n; i++)
		free(summary->reasons.items[i].words);
	VEC_FREE(&summary->reasons);
}
