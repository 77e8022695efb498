/* The answer as JSON: that of every verb, with how sure each finding is and why.
 */
#include "report/advice.h"
#include "report/answer.h"
#include "report/diagnosis_view.h"
#include "report/finding_view.h"
#include "report/patch_view.h"
#include "report/proof_words.h"
#include "report/tally_words.h"
#include "report/text.h"

static json_t *methods_json(const struct diagnosis_view *view, uint32_t bits)
{
	json_t *array = json_array();

	for (size_t i = 0; i < view->opinions->n && i < OPINIONS_MOST; i++)
		if (bits >> i & 1)
			json_array_append_new(array, json_string(view->opinions->items[i].method));
	return array;
}

static json_t *counts_json(const struct trials_counts *counts)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "runs", answer_count(counts->runs), "failed",
			 answer_count(counts->failed), "failed_otherwise", answer_count(counts->other),
			 "given_up", answer_count(counts->given_up));
}

static json_t *proof_json(const struct diagnosis_view *view, const struct proof *proof)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "as_it_is", counts_json(&view->causes->any),
			 "as_it_is_near", counts_json(&view->causes->near), "forbidden",
			 counts_json(&proof->any), "forbidden_near", counts_json(&proof->near),
			 "forbidden_along", counts_json(&proof->along), "forced",
			 counts_json(&proof->forced));
}

static json_t *cause_json(const struct diagnosis_view *view, size_t i)
{
	const struct cause *cause = &view->causes->items[i];
	_cleanup_(excerpt_free) struct excerpts excerpts = { 0 };
	json_t *object = finding_json(cause->finding);
	_cleanup_free_ char *advice = advice_for(cause->finding, &excerpts);

	json_object_set_new(object, "rank", json_integer((json_int_t)i + 1));
	json_object_set_new(object, "score", json_real(cause_score(cause)));
	json_object_set_new(object, "verdict",
			    json_string(cause->consequence ? "consequence" : verdict_word(cause->verdict)));
	json_object_set_new(object, "second", json_boolean(cause->second));
	json_object_set_new(object, "experiment",
			    cause->tried ? proof_json(view, &cause->proof) : json_null());
	json_object_set_new(object, "claimed_by", methods_json(view, cause->claimed));
	json_object_set_new(object, "advice", answer_text(advice));
	json_object_set_new(object, "run", answer_count(view->tally->failure.number));
	json_object_set_new(object, "schedule", answer_count(view->tally->failure.number));
	return object;
}

static json_t *failure_json(const struct diagnosis_view *view)
{
	const struct tally *tally = view->tally;

	if (!tally->found)
		return json_null();
	json_t *failure = answer_run(&tally->failure);

	json_object_set_new(failure, "found_after", answer_count(tally->failure_at));
	json_object_set_new(failure, "output", answer_text(tally->failure.output));
	return failure;
}

static json_t *opinions_json(const struct diagnosis_view *view)
{
	json_t *array = json_array();

	for (size_t i = 0; i < view->opinions->n; i++) {
		const struct opinion *opinion = &view->opinions->items[i];

		json_array_append_new(array, json_pack("{s:s, s:o}", "method", opinion->method, "findings",
						       findings_json(&opinion->findings)));
	}
	return array;
}

/* null where the failure is no crash. */
static json_t *trail_json(const struct crash_trail *trail)
{
	_cleanup_free_ char *words = isolate_agreement_words(trail);

	if (trail->agreement == CRASH_NOT_FOLLOWED)
		return json_null();
	return json_pack("{s:s, s:b, s:o, s:o, s:f}", "agreement", isolate_agreement_name(trail->agreement),
			 "sure", trail->sure, "finding",
			 trail->finding ? finding_json(trail->finding) : json_null(), "summary",
			 words ? answer_text(words) : json_null(), "seconds", trail->seconds);
}

static json_t *plain_json(const struct diagnosis_view *view)
{
	return view->plain ? answer_text(view->plain->reason) : json_null();
}

static json_t *shortest_json(const struct diagnosis_view *view)
{
	const struct schedule *reduced = &view->tally->failure.reduced;

	if (!reduced->nturns)
		return json_null();
	json_t *turns = view->story ? story_json_turns(view->story) : json_null();

	return json_pack("{s:o, s:o, s:o}", "forced_switches",
			 answer_count(schedule_preemptions(reduced->turns, reduced->nturns)), "run",
			 view->shortest ? answer_count(view->shortest) : json_null(), "turns", turns);
}

void diagnosis_json(const struct diagnosis_view *view, const struct patch_offer *patch)
{
	const struct tally *tally = view->tally;
	json_t *answer = answer_new_of("diagnose", tally->program, tally->arguments, tally->build,
				       tally->store, tally->campaign);
	json_t *findings = json_array();

	for (size_t i = 0; i < view->causes->n; i++)
		json_array_append_new(findings, cause_json(view, i));
	json_object_set_new(answer, "seed", answer_count(tally->seed));
	json_object_set_new(answer, "plain", plain_json(view));
	json_object_set_new(answer, "schedules", answer_count(tally->schedules));
	json_object_set_new(answer, "passed", answer_count(tally->passed));
	json_object_set_new(answer, "failed", answer_count(tally->failed));
	json_object_set_new(answer, "compared", answer_count(tally->recorded_passed));
	json_object_set_new(answer, "always", json_boolean(view->always));
	json_object_set_new(answer, "blames_control", json_boolean(tally_blames_control(tally)));
	json_object_set_new(answer, "inconclusive", answer_count(tally->slow));
	json_object_set_new(answer, "failures", tally_json(&tally->ends));
	json_object_set_new(answer, "policies", tally_json(&tally->arms));
	json_object_set_new(answer, "uncontrolled", tally_json(&tally->uncontrolled));
	json_object_set_new(answer, "failure", failure_json(view));
	json_object_set_new(answer, "replays",
			    json_pack("{s:o, s:o}", "runs", answer_count(view->replays), "identical",
				      answer_count(view->identical)));
	json_object_set_new(answer, "shortest", shortest_json(view));
	json_object_set_new(answer, "experiments",
			    json_pack("{s:o, s:o}", "claims", answer_count(view->causes->tried), "runs",
				      answer_count(view->causes->runs)));
	json_object_set_new(answer, "wall_s", json_real(view->wall_s));
	json_object_set_new(answer, "interrupted", json_boolean(view->interrupted));
	json_object_set_new(answer, "findings", findings);
	json_object_set_new(answer, "isolate", trail_json(view->trail));
	json_object_set_new(answer, "opinions", opinions_json(view));
	json_object_set_new(answer, "patch", patch_offer_json(patch));
	answer_print(answer);
}
