/* Compares replays with the record: the end, the output, the schedule.
 */
#include "cmds/replay_report.h"

#include "diagnose/replays.h"

void replay_report_add(struct replay_report *report, struct run *run)
{
	struct replays_same same = replays_compare(report->recorded, run);
	bool identical = same.end && same.output && same.schedule;

	if (!report->runs++) {
		report->ended = memory_string(run->reason ? run->reason : "?");
		report->output = run->output ? memory_string(run->output) : NULL;
	}
	report->same_end += same.end;
	report->same_output += same.output;
	report->same_schedule += same.schedule;
	report->identical += identical;
	report->strayed |= run->outcome == OUTCOME_DIVERGED;
	if (!identical && !report->has_other) {
		report->has_other = true;
		report->other = *run;
		*run = (struct run){ 0 };
	}
}

void replay_report_again(struct replay_report *report)
{
	struct replay_report fresh = { .name = report->name,
				       .recorded = report->recorded,
				       .atlas = report->atlas,
				       .failed = report->failed,
				       .still = true };

	replay_report_free(report);
	*report = fresh;
}
