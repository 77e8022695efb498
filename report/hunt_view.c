/* Tells what a hunt did, for people and as JSON: whether a schedule failed, how, how
 * often, and what to type next.
 */
#include "report/hunt_view.h"

#include <ctype.h>

#include "base/options.h"
#include "report/answer.h"
#include "report/said.h"
#include "report/story.h"
#include "report/tally_words.h"
#include "report/text.h"
#include "report/words.h"

#define MESSAGE_LINES 4 /* of what the program said */

/* What became of the claim that was forced or forbidden in all schedules. */
static void print_claim(const struct tally *summary)
{
	unsigned long long all = summary->schedules, held = summary->held, given_up = summary->given_up;
	_cleanup_free_ char *text =
		summary->claim == CLAIM_FORCE
			? memory_format(
				  "Forced: it came about in %llu of %llu schedules; in %llu threads had to "
				  "be let go before.",
				  (unsigned long long)summary->occurred, all, given_up)
			: memory_format(
				  "Forbidden: threads were held for it in %llu of %llu schedules; in %llu "
				  "one had to be let go, because nobody else could run.",
				  held, all, given_up);

	options_fill(stdout, text, 0, 0);
}

/* Where every schedule of the program as it is fails. */
static void print_all_failed(const struct tally *summary)
{
	if (tally_blames_control(summary))
		options_fill(stdout,
			     "No schedule passed, but the program passes when it runs as it is: until shown "
			     "otherwise the control is to blame, not the program.",
			     0, 0);
	else if (summary->found && !summary->passed)
		printf("No schedule passed: the failure does not depend on the order of threads.\n");
}

static void print_no_choice(const struct tally *summary)
{
	_cleanup_free_ char *text = memory_string(TALLY_NO_CHOICE);

	if (!tally_lacks_choice(summary))
		return;
	text[0] = (char)toupper((unsigned char)text[0]);
	options_fill(stdout, text, 0, 0);
}

static void print_tried(const struct tally *summary)
{
	_cleanup_free_ char *time = words_seconds(summary->wall_s);

	_cleanup_free_ char *arms = tally_join(&summary->arms);
	_cleanup_free_ char *ends = tally_join(&summary->ends);
	_cleanup_free_ char *slow = summary->slow
					    ? memory_format(", %llu inconclusive (too slow under control)",
							    (unsigned long long)summary->slow)
					    : memory_string("");
	_cleanup_free_ char *text = memory_format(
		"Tried %llu schedules in %s (%.0f a second): %s. %llu passed, %llu "
		"failed%s%s%s%s; %llu pairs, %llu "
		"predecessors, %llu edges.",
		(unsigned long long)summary->schedules, time,
		summary->wall_s > 0 ? (double)summary->schedules / summary->wall_s : 0, arms,
		(unsigned long long)summary->passed, (unsigned long long)summary->failed, *ends ? " (" : "",
		ends, *ends ? ")" : "", slow, (unsigned long long)summary->pairs,
		(unsigned long long)summary->predecessors, (unsigned long long)summary->edges);

	options_fill(stdout, text, 0, 0);
	if (summary->claim != CLAIM_UNUSED)
		print_claim(summary);
	if (summary->claim == CLAIM_UNUSED)
		print_all_failed(summary);
	print_no_choice(summary);
	if (summary->uncontrolled.n) {
		printf("Not under control, so that runs may differ here:\n");
		for (size_t i = 0; i < summary->uncontrolled.n; i++) {
			_cleanup_free_ char *name = text_clean(summary->uncontrolled.items[i].name);

			printf("  %s\n", name);
		}
	}
}

static void print_failure(const struct tally *summary, const struct story *story)
{
	const struct run *run = &summary->failure;
	_cleanup_free_ char *reason = text_clean(run->reason ? run->reason : "");
	_cleanup_free_ char *folder = text_clean(summary->store);

	printf("Failed after %llu schedule%s: %s\n", (unsigned long long)summary->failure_at,
	       summary->failure_at == 1 ? "" : "s", reason);
	said_print(run->output, MESSAGE_LINES, 0, stdout);
	printf("It is run %llu of campaign %llu in %s (policy %s, seed %llu).\n\n",
	       (unsigned long long)run->number, (unsigned long long)summary->campaign, folder,
	       summary->failure_arm ? summary->failure_arm : "?", (unsigned long long)run->schedule.seed);
	story_print(story, stdout);
}

static void print_next(const struct tally *summary)
{
	_cleanup_free_ char *option = words_store_option(summary->store);

	printf("Next:\n");
	if (summary->found) {
		unsigned long long number = summary->failure.number;

		printf("  unsnarl replay %llu%s        the same again, %s\n", number, option,
		       summary->uncontrolled.n ? "as far as it is under control" : "exactly");
		printf("  unsnarl replay %llu%s --gdb  in the debugger, stopped at the failure\n", number,
		       option);
		printf("  unsnarl show %llu%s          what its threads did to each other\n", number, option);
	} else if (tally_lacks_choice(summary)) {
		printf("  unsnarl hunt -- ...            with arguments or input that make it start "
		       "threads\n");
	} else {
		printf("  unsnarl hunt --budget %llu ...  further schedules (another seed)\n",
		       (unsigned long long)summary->schedules * 10);
	}
}

void hunt_view_print(const struct tally *summary, const struct story *story)
{
	if (summary->interrupted)
		fprintf(stderr, "unsnarl hunt: interrupted after %llu schedules; what was recorded stays\n",
			(unsigned long long)summary->schedules);
	if (summary->found)
		print_failure(summary, story);
	else if (summary->slow && !summary->passed)
		printf("Too slow under control: inconclusive.\n");
	else
		printf("No schedule failed.\n");
	print_tried(summary);
	_cleanup_free_ char *folder = text_clean(summary->store);

	printf("Recorded in %s: %llu failing and %llu passing runs of different schedules.\n", folder,
	       (unsigned long long)summary->recorded_failed, (unsigned long long)summary->recorded_passed);
	print_next(summary);
}

static json_t *json_finding(const struct tally *summary, const struct story *story)
{
	const struct run *run = &summary->failure;
	json_t *finding = json_object();
	const char *class = run->outcome == OUTCOME_DEADLOCK      ? "deadlock"
			    : run->outcome == OUTCOME_LOST_WAKEUP ? "lost-wakeup"
			    : run->outcome == OUTCOME_MEMORY      ? "memory-error"
								  : NULL;

	json_object_set_new(finding, "rank", json_integer(1));
	json_object_set_new(finding, "class", class ? json_string(class) : json_null());
	json_object_set_new(finding, "method", json_string("hunt"));
	json_object_set_new(finding, "score", json_real(1));
	json_object_set_new(finding, "variables", json_array());
	json_object_set_new(finding, "accesses", story_json_waits(story));
	json_object_set_new(finding, "summary", answer_text(run->reason));
	json_object_set_new(finding, "runs",
			    json_pack("{s:o, s:o}", "passed", answer_count(summary->passed), "failed",
				      answer_count(summary->failed)));
	json_object_set_new(finding, "schedule", answer_count(run->number));
	json_object_set_new(finding, "turns", story_json_turns(story));
	return finding;
}

void hunt_view_json(const struct tally *summary, const struct story *story)
{
	json_t *answer = answer_new_of("hunt", summary->program, summary->arguments, summary->build,
				       summary->store, summary->campaign);
	json_t *findings = json_array();

	json_object_set_new(answer, "seed", answer_count(summary->seed));
	json_object_set_new(answer, "schedules", answer_count(summary->schedules));
	json_object_set_new(answer, "points", answer_count(summary->points));
	json_object_set_new(answer, "turns", answer_count(summary->turns));
	json_object_set_new(answer, "passed", answer_count(summary->passed));
	json_object_set_new(answer, "failed", answer_count(summary->failed));
	json_object_set_new(answer, "inconclusive", answer_count(summary->slow));
	json_object_set_new(answer, "blames_control", json_boolean(tally_blames_control(summary)));
	json_object_set_new(answer, "recorded",
			    json_pack("{s:o, s:o}", "passed", answer_count(summary->recorded_passed),
				      "failed", answer_count(summary->recorded_failed)));
	json_object_set_new(answer, "failures", tally_json(&summary->ends));
	json_object_set_new(answer, "policies", tally_json(&summary->arms));
	json_object_set_new(answer, "uncontrolled", tally_json(&summary->uncontrolled));
	json_object_set_new(answer, "observations",
			    json_pack("{s:o, s:o, s:o}", "pairs", answer_count(summary->pairs),
				      "predecessors", answer_count(summary->predecessors), "edges",
				      answer_count(summary->edges)));
	json_object_set_new(answer, "wall_s", json_real(summary->wall_s));
	json_object_set_new(answer, "cpu_s", json_real(summary->cpu_s));
	json_object_set_new(answer, "interrupted", json_boolean(summary->interrupted));
	if (summary->found) {
		json_t *failure = answer_run(&summary->failure);

		json_object_set_new(failure, "found_after", answer_count(summary->failure_at));
		json_object_set_new(failure, "output", answer_text(summary->failure.output));
		json_object_set_new(answer, "failure", failure);
		json_array_append_new(findings, json_finding(summary, story));
	} else {
		json_object_set_new(answer, "failure", json_null());
	}
	json_object_set_new(answer, "findings", findings);
	answer_print(answer);
}
