/* Counts the schedules of a hunt.
 */
#include "diagnose/tally_schedule.h"

#include <string.h>

#include "report/tally_words.h"

struct error *tally_check(const struct run *first, const char *program)
{
	if (first->observations.nprocesses == 0)
		return error_new(
			"%s ended (%s) before its first access could be observed; does it run at all?",
			program, first->reason ? first->reason : "?");
	if (!first->schedule.nturns)
		return error_new(
			"the threads of %s cannot be controlled: it was built by an older unsnarl; build "
			"it again with unsnarl cc",
			program);
	return NULL;
}

static void count(struct tally_counts *counts, const char *name)
{
	for (size_t i = 0; i < counts->n; i++)
		if (!strcmp(counts->items[i].name, name)) {
			counts->items[i].count++;
			return;
		}
	*VEC_PUSH(counts) = (struct tally_count){ memory_string(name), 1 };
}

static void count_uncontrolled(struct tally *tally, const char *names)
{
	while (names && *names) {
		size_t length = strcspn(names, "\n");
		_cleanup_free_ char *name = strndup(names, length);

		if (length && tally->uncontrolled.n < 64)
			count(&tally->uncontrolled, name);
		names += length + (names[length] == '\n');
	}
}

void tally_add(struct tally *tally, const struct steer_report *report, const char *arm)
{
	tally->schedules++;
	tally->points += report->points;
	tally->turns += report->turns;
	tally->contested += report->contested;
	if (report->harvested && report->run.observations.nprocesses > tally->processes)
		tally->processes = report->run.observations.nprocesses;
	tally->cpu_s += report->cpu_s;
	tally->held += report->claim.held > 0;
	tally->given_up += report->claim.given_up > 0;
	tally->occurred += report->claim.occurred > 0;
	count(&tally->arms, arm);
	if (report->harvested)
		count_uncontrolled(tally, report->run.schedule.uncontrolled);
	if (report->outcome == OUTCOME_SLOW) {
		tally->slow++;
		return;
	}
	if (report->label == LABEL_PASS) {
		tally->passed++;
		return;
	}
	struct run ended = { .outcome = report->outcome,
			     .code = report->code,
			     .schedule.early_ns = report->run.schedule.early_ns };
	_cleanup_free_ char *how = tally_end_words(&ended);

	count(&tally->ends, how);
	tally->failed++;
	if (!tally->found && !tally->failure_arm)
		tally->failure_arm = memory_string(arm);
}
