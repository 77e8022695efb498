/* How verify answers: a few lines for each candidate as it is done, a sum at the end,
 * or one JSON object.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/options.h"
#include "cmds/verify.h"
#include "report/answer.h"
#include "report/candidate.h"
#include "report/candidate_words.h"
#include "report/text.h"
#include "report/words.h"

static const char *order_words(const struct verified *verified)
{
	switch (verified->result.way.order) {
	case ACTIVE_LOWER_FIRST:
		return "in the order of the list";
	case ACTIVE_HIGHER_FIRST:
		return "against the order of the list";
	default:
		return "in an order by chance";
	}
}

bool verified_only_fails(const struct verified *verified)
{
	return verified->tried && verified->result.verdict == TESTER_HARMFUL && !verified->beside &&
	       verified->confirmed >= CONFIRM_OTHER;
}

bool verified_is_harmful(const struct verified *verified)
{
	return verified->beside || (verified->tried && verified->result.verdict == TESTER_HARMFUL &&
				    !verified_only_fails(verified));
}

static const char *verdict_words(const struct verified *verified)
{
	if (verified->beside)
		return "harmful";
	if (verified->covered)
		return "covered";
	if (verified_only_fails(verified))
		return verified->confirmed == CONFIRM_OTHER ? "fails, but not because of this pair"
							    : "fails, cause not proven";
	return tester_verdict_words(verified->result.verdict);
}

/* One clause: what the tests showed. */
static char *outcome(const struct verified *verified)
{
	const struct tester_result *result = &verified->result;
	_cleanup_free_ char *runs = words_count(result->runs, "run", "runs");

	if (verified->beside)
		return memory_format("the run that failed beside candidate %u failed because of this one",
				     verified->beside);
	if (verified->covered)
		return memory_format("its lines were tried with candidate %u", verified->covered);
	switch (result->verdict) {
	case TESTER_HARMFUL: {
		_cleanup_free_ char *ended = words_ended(&result->failure);

		return memory_format(
			"failed in run %u (%s), threads held %u ms, %s; so did %u of %u runs like it, "
			"and %u of %u without delay",
			result->runs, result->failure.reason ? result->failure.reason : ended,
			result->delay_ms, order_words(verified), result->again_failed, result->again,
			result->plain_failed, result->plain);
	}
	case TESTER_NOT_REPRODUCED:
		return memory_format("%s with delays of up to %u ms passed; threads met %llu times", runs,
				     result->delay_ms, (unsigned long long)result->met);
	case TESTER_NEVER_MET:
		return memory_format("in %s with delays of up to %u ms no two threads were there at a time",
				     runs, result->delay_ms);
	case TESTER_NEVER_REACHED:
		return memory_string("the program did not come there with these arguments");
	case TESTER_ALWAYS_FAILS:
		return memory_string("the program fails without any delay: nothing can be told");
	default:
		return memory_format("stopped after %s", runs);
	}
}

/* Fills lines behind `indent` columns, of which the first has `at` behind it already; frees the text. */
static void put(int indent, int at, char *text)
{
	options_fill(stdout, text, indent, at);
	free(text);
}

void verify_print(const struct verified *verified)
{
	_cleanup_free_ char *variable = text_clean(verified->candidate->variable);
	_cleanup_free_ char *words = outcome(verified), *clean = text_clean(words);

	if (verified_is_harmful(verified)) {
		printf("\nHARMFUL\n");
		candidate_print(verified->candidate, stdout);
		put(4, 0,
		    memory_format("%s%s", clean,
				  verified->sliced && !verified->beside ? " (on a slice)" : ""));
		if (verified->why)
			put(4, 0, memory_format("experiment: %s", verified->why));
		if (verified->run)
			printf("    see it again: unsnarl replay %llu\n", (unsigned long long)verified->run);
		printf("\n");
	} else {
		printf("%3u. ", verified->candidate->rank);
		put(5, 5,
		    memory_format("%s %s: %s (%s)", candidate_kind_words(verified->candidate->kind), variable,
				  verified->covered ? "not tried again" : verdict_words(verified), clean));
		if (verified_only_fails(verified) && verified->why)
			put(5, 0, memory_string(verified->why));
	}
	fflush(stdout);
}

void verify_print_summary(const struct verified_list *list, bool interrupted, double seconds)
{
	size_t harmful = 0, tried = 0, others = 0;
	_cleanup_free_ char *took = words_seconds(seconds);

	for (size_t i = 0; i < list->n; i++) {
		tried += list->items[i].tried;
		harmful += verified_is_harmful(&list->items[i]);
		others += verified_only_fails(&list->items[i]);
	}
	_cleanup_free_ char *candidates = words_count(tried, "candidate", "candidates");

	printf("%s tried in %s: %zu harmful", candidates, took, harmful);
	if (others)
		printf(", %zu beside which it fails for another or unknown reason", others);
	printf("%s\n", interrupted ? "; stopped before the end" : "");
}

static json_t *verified_json(const struct verified *verified)
{
	const struct tester_result *result = &verified->result;
	json_t *all = candidate_json(verified->candidate);
	_cleanup_free_ char *words = outcome(verified);
	bool failed = verified->beside || (verified->tried && result->verdict == TESTER_HARMFUL);

	json_object_set_new(all, "method", json_string("verify"));
	json_object_set_new(all, "verdict", json_string(verdict_words(verified)));
	json_object_set_new(all, "confirmed",
			    verified->confirmed == CONFIRM_NOT_ASKED || !failed
				    ? json_null()
				    : json_boolean(verified->confirmed == CONFIRM_CAUSE));
	json_object_set_new(all, "experiment",
			    failed && verified->why ? answer_text(verified->why) : json_null());
	json_object_set_new(all, "covered_by", answer_count(verified->covered));
	json_object_set_new(all, "failed_beside", answer_count(verified->beside));
	json_object_set_new(all, "runs", answer_count(result->runs));
	json_object_set_new(all, "again_runs", answer_count(result->again));
	json_object_set_new(all, "again_failed", answer_count(result->again_failed));
	json_object_set_new(all, "plain_runs", answer_count(result->plain));
	json_object_set_new(all, "plain_failed", answer_count(result->plain_failed));
	json_object_set_new(all, "delay_ms", answer_count(result->delay_ms));
	json_object_set_new(all, "met", answer_count(result->met));
	json_object_set_new(all, "reached", answer_count(result->reached));
	json_object_set_new(all, "seconds", json_real(verified->seconds));
	json_object_set_new(all, "run_seconds", json_real(result->delayed_s));
	json_object_set_new(all, "run_cpu_seconds", json_real(result->delayed_cpu_s));
	json_object_set_new(all, "plain_seconds", json_real(result->plain_s));
	json_object_set_new(all, "plain_cpu_seconds", json_real(result->plain_cpu_s));
	json_object_set_new(all, "sliced", json_boolean(verified->sliced));
	json_object_set_new(all, "summary", answer_text(words));
	json_object_set_new(all, "schedule", verified->run ? answer_count(verified->run) : json_null());
	return all;
}

void verify_print_json(const char *program, const struct verified_list *list, bool interrupted,
		       double seconds)
{
	json_t *answer = answer_new("verify"), *findings = json_array(), *others = json_array();

	for (size_t i = 0; i < list->n; i++) {
		bool harmful = verified_is_harmful(&list->items[i]);

		if (list->items[i].tried || list->items[i].covered || harmful)
			json_array_append_new(harmful ? findings : others, verified_json(&list->items[i]));
	}
	json_object_set_new(answer, "program", answer_text(program));
	json_object_set_new(answer, "seconds", json_real(seconds));
	json_object_set_new(answer, "interrupted", json_boolean(interrupted));
	json_object_set_new(answer, "findings", findings);
	json_object_set_new(answer, "harmless", others);
	answer_print(answer);
}

void verified_free(struct verified_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		tester_result_free(&list->items[i].result);
		free(list->items[i].why);
	}
	VEC_FREE(list);
}
