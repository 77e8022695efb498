/* Replays beside the record: the end, the output, the schedule. Where one left its schedule is told with the place.
 */
#include "report/replay_view.h"

#include <stdlib.h>
#include <string.h>

#include "report/answer.h"
#include "report/text.h"
#include "report/words.h"

#define OUTPUT_LINES 6

static char *place(const struct replay_report *report, uint64_t id)
{
	const struct site *site = id ? atlas_find(report->atlas, id) : NULL;

	if (!site)
		return memory_string("a place that is not known");
	_cleanup_free_ char *file = text_path(site->file);
	_cleanup_free_ char *function = text_clean(site->function);

	return site->line ? memory_format("%s:%u in %s", file, site->line, function)
			  : memory_string(function);
}

/* The first turn in which the two differ; n when there is none. */
static size_t first_difference(const struct schedule *a, const struct schedule *b)
{
	size_t i = 0;

	while (i < a->nturns && i < b->nturns &&
	       schedule_hash(a->turns + i, 1) == schedule_hash(b->turns + i, 1))
		i++;
	return i;
}

static void print_other(const struct replay_report *report)
{
	const struct run *run = &report->other;
	const struct schedule *took = &run->schedule, *recorded = report->recorded;
	_cleanup_free_ char *reason = text_clean(run->reason ? run->reason : "?");

	if (run->outcome == OUTCOME_DIVERGED) {
		_cleanup_free_ char *stood = place(report, took->diverged_site);

		printf("A run left the schedule at turn %llu of %zu: T%u stood at %s",
		       (unsigned long long)took->diverged_turn + 1, recorded->nturns, took->diverged_thread,
		       stood);
		if (took->diverged_turn < recorded->nturns) {
			const struct schedule_turn *turn = &recorded->turns[took->diverged_turn];
			_cleanup_free_ char *wanted = place(report, turn->site);

			printf(",\nwhere T%u was to run up to %s", turn->thread, wanted);
		}
		printf(".\n");
	} else {
		printf("A run differed: %s", reason);
		size_t at = first_difference(took, recorded);

		if (at < recorded->nturns || took->nturns > recorded->nturns)
			printf(", its schedule from turn %zu on", at + 1);
		else if (run->schedule.output != recorded->output)
			printf(", in what it printed");
		printf(".\n");
	}
	if (took->uncontrolled) {
		_cleanup_free_ char *names = text_clean(took->uncontrolled);

		printf("Not under control: %s\n", names);
	}
}

static void print_output(const char *output)
{
	int lines = OUTPUT_LINES;

	while (output && *output && lines-- > 0) {
		size_t length = strcspn(output, "\n");
		_cleanup_free_ char *clean = text_clean_size(output, length);
		_cleanup_free_ char *line = text_cut(clean, 76, false);

		printf("  | %s\n", line);
		output += length + (output[length] == '\n');
	}
}

void replay_view_print(const struct replay_report *report)
{
	_cleanup_free_ char *ended = text_clean(report->ended ? report->ended : "not one run has ended");
	_cleanup_free_ char *name = text_clean(report->name);

	printf("Replay of %s (%zu turns, schedule %016llx): %s\n", name, report->recorded->nturns,
	       (unsigned long long)schedule_hash(report->recorded->turns, report->recorded->nturns), ended);
	print_output(report->output);
	if (report->still && report->identical)
		printf("With addresses chosen at random it left the schedule: what the program does\n"
		       "depends on them. Replayed without randomisation, as it was recorded.\n");
	if (report->has_other)
		print_other(report);
	printf("%llu of %llu identical\n", (unsigned long long)report->identical,
	       (unsigned long long)report->runs);
}

void replay_view_json(const struct replay_report *report)
{
	json_t *answer = answer_new("replay");

	json_object_set_new(answer, "program", answer_text(report->recorded->program));
	json_object_set_new(answer, "subject", answer_text(report->name));
	json_object_set_new(answer, "hash",
			    answer_hex(schedule_hash(report->recorded->turns, report->recorded->nturns)));
	json_object_set_new(answer, "runs", answer_count(report->runs));
	json_object_set_new(answer, "identical", answer_count(report->identical));
	json_object_set_new(answer, "same_end", answer_count(report->same_end));
	json_object_set_new(answer, "same_output", answer_count(report->same_output));
	json_object_set_new(answer, "same_schedule", answer_count(report->same_schedule));
	json_object_set_new(answer, "ended", answer_text(report->ended));
	json_object_set_new(answer, "randomized", json_boolean(!report->still));
	if (report->has_other) {
		json_t *other = answer_run(&report->other);

		json_object_set_new(other, "diverged_turn",
				    answer_count(report->other.schedule.diverged_turn));
		json_object_set_new(answer, "first_other", other);
	} else {
		json_object_set_new(answer, "first_other", json_null());
	}
	json_object_set_new(answer, "findings", json_array());
	answer_print(answer);
}

void replay_report_free(struct replay_report *report)
{
	run_free(&report->other);
	free(report->ended);
	free(report->output);
}
