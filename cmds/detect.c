/* unsnarl detect: the invariants of AI and its relatives on traced runs of one program.
 * For comparing methods; hidden, since learn, guard and diagnose are what people want.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/invariant/detectors.h"
#include "analysis/invariant/training.h"
#include "cmds/cmds.h"
#include "loom/launch.h"
#include "report/answer.h"

struct detect_options {
	uint64_t passing, failing, most, seed;
	double timeout_s;
	const char *check, *expect;
};

#define AT(member) .offset = offsetof(struct detect_options, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "passing", .value = "N", .kind = OPTIONS_NUMBER, AT(passing), .low = 1, .high = 100000,
	  .help = "passing runs to learn from (default 100)" },
	{ .name = "failing", .value = "N", .kind = OPTIONS_NUMBER, AT(failing), .high = 100000,
	  .help = "failing runs to look at (default 20)" },
	{ .name = "most", .value = "N", .kind = OPTIONS_NUMBER, AT(most), .low = 1, .high = 1000000,
	  .help = "runs in all at most (default 1000)" },
	{ .name = "seed", .value = "S", .kind = OPTIONS_NUMBER, AT(seed), .high = UINT64_MAX,
	  .help = "of the schedules (default 1)" },
	CMDS_VERDICT_ENTRIES(struct detect_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "detect",
	.operands = "[options] -- PROGRAM ARGS",
	.summary = "AI, AVIO, DUI, CCI and PSet on traced runs of a program",
	.text = "Traces controlled runs, lets each invariant learn from those that pass, and looks which of "
		"them are "
		"violated in those that fail. Answers with a JSON object: for each failing run the "
		"violations in the "
		"order of the trace.",
	.entries = entries,
	.program = true,
};

/* Failing runs wait until all passing ones have been learned from. */
struct kept {
	struct run run;
	struct atlas atlas;
	uint32_t *places;
};

struct detection {
	struct training training; /* for its numbering of places */
	struct detectors detectors;
	VEC(struct kept) failed;
	uint64_t passed;
};

static void detection_free(struct detection *detection)
{
	for (size_t i = 0; i < detection->failed.n; i++) {
		run_free(&detection->failed.items[i].run);
		atlas_free(&detection->failed.items[i].atlas);
		free(detection->failed.items[i].places);
	}
	VEC_FREE(&detection->failed);
	detectors_free(&detection->detectors);
	training_free(&detection->training);
}

static struct error *trace(struct detection *detection, const struct launch_options *launch,
			   const struct detect_options *options)
{
	struct kept kept = { 0 };

	TRY(launch_run(launch, &kept.run));
	atlas_read(&kept.atlas, &kept.run.observations);
	kept.places = training_places_of(&detection->training, &kept.run.observations, &kept.atlas);
	bool passed = kept.run.label == LABEL_PASS;

	if (!passed && detection->failed.n < options->failing) {
		*VEC_PUSH(&detection->failed) = kept;
		return NULL;
	}
	if (passed && detection->passed < options->passing) {
		detectors_train(&detection->detectors, &kept.run.observations, kept.places);
		detection->passed++;
	}
	run_free(&kept.run);
	atlas_free(&kept.atlas);
	free(kept.places);
	return NULL;
}

static json_t *violation_json(const struct guard_set *places, const struct detector_violation *violation)
{
	const struct guard_site *site = guard_set_site(places, violation->place);
	json_t *entry = json_pack("{s:s,s:I,s:o,s:i,s:s,s:o}", "detector", detector_name(violation->detector),
				  "event", (json_int_t)violation->event, "file", answer_text(site->file),
				  "line", (int)site->line, "kind", site_kind_name(site->kind), "variable",
				  answer_text(site->variable));

	if (violation->before && violation->before <= places->sites.n)
		json_object_set_new(entry, "before",
				    json_integer(guard_set_site(places, violation->before)->line));
	return entry;
}

static void answer(struct detection *detection)
{
	json_t *object = answer_new("detect"), *runs = json_array();

	for (size_t i = 0; i < detection->failed.n; i++) {
		struct detector_violations violations = { 0 };
		json_t *list = json_array();

		detectors_check(&detection->detectors, &detection->failed.items[i].run.observations,
				detection->failed.items[i].places, &violations);
		for (size_t k = 0; k < violations.list.n; k++)
			json_array_append_new(
				list, violation_json(&detection->training.places, &violations.list.items[k]));
		VEC_FREE(&violations.list);
		json_array_append_new(runs, list);
	}
	json_object_set_new(object, "passed", answer_count(detection->passed));
	json_object_set_new(object, "failed", answer_count(detection->failed.n));
	json_object_set_new(object, "violations", runs);
	answer_print(object);
}

static struct error *detect_main(int argc, char **argv, int *status)
{
	struct detect_options options = {
		.passing = 100, .failing = 20, .most = 1000, .seed = 1, .timeout_s = 10
	};
	_cleanup_(detection_free) struct detection detection = { 0 };
	static const struct area_control policies[] = {
		{ .policy = POLICY_POS, .everywhere = 1 },
		{ .policy = POLICY_RANDOM, .everywhere = 1 },
		{ .policy = POLICY_PCT, .depth = 3, .everywhere = 1 },
	};
	enum loom loom = LOOM_COMPILED;
	_cleanup_free_ char *path = NULL;
	uint64_t build;
	char **operands;

	(void)status;
	training_start(&detection.training);
	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	if (!operands[0])
		return error_new("no program to run: give it after --, as in unsnarl detect -- ./program");
	TRY(launch_check(operands[0], &loom, &path, &build));
	struct launch_options launch = { .path = path,
					 .argv = operands,
					 .area = { .observe = OBSERVE_TRACE },
					 .timeout_s = options.timeout_s,
					 .expect = options.expect,
					 .check = options.check,
					 .still = true };

	cmds_catch_interrupts();
	for (uint64_t i = 0; i < options.most && !cmds_interrupted(); i++) {
		if (detection.passed >= options.passing && detection.failed.n >= options.failing)
			break;
		launch.control = policies[i % 3];
		launch.area.seed = options.seed + i;
		TRY(trace(&detection, &launch, &options));
	}
	answer(&detection);
	return NULL;
}

const struct verb verb_detect = { .page = &page, .main = detect_main, .hidden = true };
