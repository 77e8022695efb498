/* Counts the schedules of a hunt.
 */
#include "diagnose/tally.h"

#include <stdlib.h>
#include <string.h>

#include "report/answer.h"
#include "report/text.h"
#include "report/words.h"

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

static void count(struct tally_count **items, size_t *n, size_t *room, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp((*items)[i].name, name)) {
			(*items)[i].count++;
			return;
		}
	*items = memory_grow(*items, *n, room, sizeof **items);
	(*items)[(*n)++] = (struct tally_count){ memory_string(name), 1 };
}
#define COUNT(vec, name) count(&(vec)->items, &(vec)->n, &(vec)->room, name)

static void count_uncontrolled(struct tally *tally, const char *names)
{
	while (names && *names) {
		size_t length = strcspn(names, "\n");
		_cleanup_free_ char *name = strndup(names, length);

		if (length && tally->uncontrolled.n < 64)
			COUNT(&tally->uncontrolled, name);
		names += length + (names[length] == '\n');
	}
}

bool tally_blames_control(const struct tally *tally)
{
	return tally->found && !tally->passed && tally->plain_passes;
}

void tally_add(struct tally *tally, const struct steer_report *report, const char *arm)
{
	tally->schedules++;
	tally->points += report->points;
	tally->turns += report->turns;
	tally->cpu_s += report->cpu_s;
	tally->held += report->claim.held > 0;
	tally->given_up += report->claim.given_up > 0;
	tally->occurred += report->claim.occurred > 0;
	COUNT(&tally->arms, arm);
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
	struct run ended = { .outcome = report->outcome, .code = report->code };
	_cleanup_free_ char *how = words_ended(&ended);

	/* Exit 0 and yet failed: by its output. */
	_cleanup_free_ char *early = memory_format("%s after an early time-out", how);

	COUNT(&tally->ends, report->run.schedule.early_ns                      ? early
			    : report->outcome == OUTCOME_EXIT && !report->code ? "wrong output"
									       : how);
	tally->failed++;
	if (!tally->found && !tally->failure_arm)
		tally->failure_arm = memory_string(arm);
}

char *tally_words(const struct tally *tally, uint64_t pairs, double seconds)
{
	char *words =
		memory_format("%.0f/s, %llu pairs", seconds > 0.2 ? (double)tally->schedules / seconds : 0,
			      (unsigned long long)pairs);

	for (size_t i = 0; i < tally->ends.n && i < 3; i++) {
		char *longer =
			memory_format("%s, %llu %s", words, (unsigned long long)tally->ends.items[i].count,
				      tally->ends.items[i].name);

		free(words);
		words = longer;
	}
	return words;
}

char *tally_join(const struct tally_count *counts, size_t n)
{
	char *text = memory_string("");

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *name = text_clean(counts[i].name);
		char *longer = memory_format("%s%s%llu %s", text, i ? ", " : "",
					     (unsigned long long)counts[i].count, name);

		free(text);
		text = longer;
	}
	return text;
}

static void free_counts(struct tally_count *counts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(counts[i].name);
	free(counts);
}

void tally_free(struct tally *tally)
{
	free_counts(tally->ends.items, tally->ends.n);
	free_counts(tally->arms.items, tally->arms.n);
	free_counts(tally->uncontrolled.items, tally->uncontrolled.n);
	run_free(&tally->failure);
	free(tally->failure_arm);
}

json_t *tally_json(const struct tally_count *counts, size_t n)
{
	json_t *object = json_object();

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *name = text_clean(counts[i].name);

		json_object_set_new(object, name, answer_count(counts[i].count));
	}
	return object;
}
