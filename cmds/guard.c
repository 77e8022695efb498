/* unsnarl guard: holds a program to a guard set without building it again, tells what
 * guarded programs logged, and makes a guard set of one finding.
 */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmds.h"
#include "cmds/finding_read.h"
#include "diagnose/patch.h"
#include "loom/arm.h"
#include "loom/launch.h"
#include "report/answer.h"
#include "report/guard_view.h"
#include "report/patch_view.h"

struct guard_options {
	const char *report, *only, *out, *log, *program, *set;
	uint64_t rank, limit_ms, runs, jitter_us;
	double timeout_s;
	const char *check, *expect;
	bool json;
};

#define LIMIT_OF_SET UINT64_MAX
#define AT(member) .offset = offsetof(struct guard_options, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "report", .value = "LOG", .kind = OPTIONS_STRING, AT(report),
	  .help = "tell what a guarded program logged" },
	{ .name = "only", .value = "FINDING", .kind = OPTIONS_STRING, AT(only),
	  .help = "make a guard set that holds down one finding: a file with the JSON answer of any verb, or - for "
		  "stdin" },
	{ .name = "rank", .value = "N", .kind = OPTIONS_NUMBER, AT(rank), .low = 1, .high = 1000000,
	  .help = "with --only: the finding of this rank (default 1)" },
	{ .name = "program", .value = "FILE", .kind = OPTIONS_STRING, AT(program),
	  .help = "with --only: the program, built with unsnarl cc (default: as the answer says)" },
	{ .name = "set", .value = "SET", .kind = OPTIONS_STRING, AT(set),
	  .help = "with --only: add the patch to this guard set (default: make one of its own)" },
	{ 'o', "output", "FILE", OPTIONS_STRING, AT(out),
	  .help = "with --only: write the guard set to FILE" },
	{ .name = "limit", .value = "MS", .kind = OPTIONS_NUMBER, AT(limit_ms), .high = GUARD_MOST_MS,
	  .help = "longest stall, in milliseconds (default: as the set says)" },
	{ 'n', "runs", "N", OPTIONS_NUMBER, AT(runs), .low = 1, .high = 1000000,
	  .help = "with --only and a program: prove the patch by N runs without it and N with it (default 30)" },
	{ .name = "jitter", .value = "US", .kind = OPTIONS_NUMBER, AT(jitter_us), .high = 10000000,
	  .help = "with --only and a program: random delays in these runs (default 1000 microseconds)" },
	CMDS_VERDICT_ENTRIES(struct guard_options),
	{ .name = "log", .value = "LOG", .kind = OPTIONS_STRING, AT(log),
	  .help = "with a program: append violations to LOG" },
	CMDS_JSON_ENTRY(struct guard_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "guard",
	.operands = "[options] FILE -- PROGRAM ARGS",
	.summary = "hold a program to a guard set; tell what guarded programs logged",
	.text = "Runs a program that was built with unsnarl cc under the guard set FILE: an access that "
		"would come "
		"after one it never came after in training waits a little. Every access is looked at then, "
		"so the "
		"program runs many times slower than one built with unsnarl cc --guard FILE. With --report "
		"it "
		"tells the violations in a log; the exit status is 1 when there are any. With --only it "
		"makes an "
		"emergency patch: a guard set that holds down one fault and nothing else; with a program "
		"behind --, the "
		"patch is proven by runs without it and with it.",
	.examples = "  unsnarl guard --log guard.log program.guard -- ./program input\n"
		    "  unsnarl guard --report guard.log\n"
		    "  unsnarl diagnose --json -- ./program > found.json\n"
		    "  unsnarl guard --only found.json -o patch.guard -- ./program\n"
		    "  unsnarl cc --guard patch.guard -O2 -pthread -o program program.c\n",
	.entries = entries,
	.program = true,
};

/* ---- a program under guard ---- */

static struct error *run_guarded(const struct guard_options *options, char **operands)
{
	_cleanup_(guard_set_free) struct guard_set set = { 0 };
	_cleanup_free_ char *path = NULL, *log = NULL;
	char **argv = operands[1] && strcmp(operands[1], "--") == 0 ? operands + 2 : operands + 1;
	struct arm_counts counts;
	uint64_t build;

	TRY(guard_set_read(operands[0], &set));
	if (!argv[0])
		return error_new(
			"no program to guard: give it after the guard set, as in unsnarl guard %s -- "
			"./program",
			operands[0]);
	enum loom loom = LOOM_COMPILED; /* only hooks can be armed */
	TRY(launch_check(argv[0], &loom, &path, &build));
	if (options->limit_ms != LIMIT_OF_SET)
		set.limit_ms = (uint32_t)options->limit_ms;
	if (options->log) { /* the program may change folder */
		char folder[PATH_MAX];

		log = options->log[0] == '/' || !realpath(".", folder)
			      ? memory_string(options->log)
			      : memory_format("%s/%s", folder, options->log);
	}
	TRY(arm_program(path, &set, log, &counts));
	if (counts.found < set.sites.n)
		guard_gone_print(set.sites.n - counts.found, set.sites.n, argv[0]);
	const struct launch_options launch = { .path = path, .argv = argv };

	return launch_exec(&launch);
}

/* ---- one finding ---- */

/* Runs the program without and with the patch. *status is 1 when it does not hold. */
static struct error *prove(const struct guard_options *options, const struct guard_set *set, char **argv,
			   struct patch_proof *proof, int *status)
{
	_cleanup_free_ char *path = NULL;
	enum loom loom = LOOM_COMPILED;
	uint64_t build;

	TRY(launch_check(argv[0], &loom, &path, &build));
	const struct launch_options launch = { .path = path,
					       .argv = argv,
					       .area.seed = cmds_seed(),
					       .timeout_s = options->timeout_s,
					       .check = options->check,
					       .expect = options->expect };

	cmds_catch_interrupts();
	TRY(patch_prove(&launch, set, options->runs, (uint32_t)options->jitter_us,
			&(struct patch_limits){ .stop = cmds_interrupted }, proof));
	*status = proof->held > 0;
	return NULL;
}

static void answer_patch(const struct guard_options *options, const struct guard_set *set,
			 const struct patch_proof *proof)
{
	if (!options->json) {
		patch_print(set, options->out, proof);
		return;
	}
	json_t *answer = answer_new("guard");

	json_object_set_new(answer, "guard_set", answer_text(options->out));
	json_object_set_new(answer, "accesses", answer_count(set->sites.n));
	json_object_set_new(answer, "rules", answer_count(set->rules.n));
	if (proof->runs)
		json_object_set_new(answer, "proof", patch_proof_json(proof));
	answer_print(answer);
}

static struct error *patch(const struct guard_options *options, char **argv, int *status)
{
	_cleanup_(guard_set_free) struct guard_set set = { 0 }, alone = { 0 };
	_cleanup_(finding_free) struct finding finding = { 0 };
	_cleanup_free_ char *program = NULL;
	struct patch_proof proof = { 0 };

	if (!options->out)
		return error_new("where to? --only wants -o FILE for the guard set");
	TRY(finding_read(options->only, options->rank, &finding, &program));
	const char *path = options->program ? options->program : argv[0] ? argv[0] : program;

	if (!*path)
		return error_new("the answer does not say which program it is about: name it with --program");
	TRY(patch_make(&finding, path, &alone));
	if (options->set)
		TRY(guard_set_read(options->set, &set));
	guard_set_add_rules(&set, &alone);
	if (set.sites.n > GUARD_SITES)
		return error_new("%s and the patch have more than %u accesses together", options->set,
				 GUARD_SITES);
	if (options->limit_ms != LIMIT_OF_SET)
		set.limit_ms = (uint32_t)options->limit_ms;
	TRY(guard_set_save(options->out, &set));
	if (argv[0])
		TRY(prove(options, &set, argv, &proof, status));
	answer_patch(options, &set, &proof);
	return NULL;
}

static struct error *report(const struct guard_options *options, char **operands, int *status)
{
	_cleanup_(violations_free) struct violations violations = { 0 };
	char *first[] = { (char *)options->report, NULL };

	TRY(violations_read_all(first, &violations));
	TRY(violations_read_all(operands, &violations));
	if (violations.damaged)
		guard_damaged_print("guard", violations.damaged);
	(void)(options->json ? guard_log_json("guard", &violations) : guard_log_print(&violations));
	*status = violations.list.n > 0;
	return NULL;
}

static struct error *guard_main(int argc, char **argv, int *status)
{
	struct guard_options options = {
		.rank = 1, .limit_ms = LIMIT_OF_SET, .runs = 30, .jitter_us = 1000, .timeout_s = 10
	};
	char **operands;

	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	if (options.report)
		return report(&options, operands, status);
	if (options.only)
		return patch(&options, operands, status);
	if (!operands[0])
		return error_new(
			"guard what? Give a guard set and a program, as in unsnarl guard program.guard -- "
			"./program");
	return run_guarded(&options, operands);
}

const struct verb verb_guard = { .page = &page, .main = guard_main };
