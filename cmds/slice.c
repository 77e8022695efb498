/* unsnarl slice: the part of a program that matters to one candidate, as a program
 * that runs and as a listing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmds/cmds.h"
#include "cmds/scan_progress.h"
#include "diagnose/statistics.h"
#include "llvm/llvm.h"
#include "loom/launch.h"
#include "loom/world/world.h"
#include "report/answer.h"
#include "report/slice_listing.h"
#include "report/text.h"
#include "report/words.h"

#define CHECK_RUNS 3
#define MORE_RUNS 29 /* of each, where ends differ: a fifth of them odd is clearly more than none */

struct slice_command {
	const char *criterion, *output, *link, *check, *expect, *html;
	double timeout_s;
	struct cmds_world world;
	bool listing, prints, json;
	char **program; /* and its arguments */
};

#define AT(member) .offset = offsetof(struct slice_command, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "for", .value = "CANDIDATE", .kind = OPTIONS_STRING, AT(criterion),
	  .help = "the candidate: its number in unsnarl scan, or FILE:LINE,FILE:LINE (default 1)" },
	{ 'o', "output", "FILE", OPTIONS_STRING, AT(output), .help = "where to write the slice (default PROGRAM.slice)" },
	{ .name = "listing", .kind = OPTIONS_FLAG, AT(listing),
	  .help = "show the source: lines kept, dropped, and the candidate's own" },
	{ .name = "html", .value = "FILE", .kind = OPTIONS_STRING, AT(html), .help = "write the listing as a page" },
	{ .name = "prints", .kind = OPTIONS_FLAG, AT(prints),
	  .help = "keep what the program prints, as --check and --expect do" },
	{ .name = "link", .value = "ARG", .kind = OPTIONS_STRING, AT(link),
	  .help = "an object, library or option that the program needs and that holds no bitcode" },
	CMDS_VERDICT_ENTRIES(struct slice_command),
	CMDS_WORLD_ENTRIES(struct slice_command),
	CMDS_JSON_ENTRY(struct slice_command),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "slice",
	.operands = "[options] --for CANDIDATE -- PROGRAM ARGS",
	.summary = "make a smaller program that keeps what matters to a candidate",
	.text = "Cuts a program down, in its bitcode, to what can have an influence on the accesses of a "
		"candidate, on its threads and locks and on how it ends, and builds it. What it prints is "
		"left "
		"out unless it is checked. The slice is run a few times beside the whole program: when it "
		"does "
		"not end as that does, it is not to be trusted, and unsnarl says so.\n\n"
		"Exit status: 0 the slice runs as the program does, 1 it does not, 2 it could not be made.",
	.examples = "  unsnarl slice --for 3 --listing -- ./server\n",
	.entries = entries,
	.program = true,
};

struct slice_run {
	VEC(struct run) runs;
	double seconds; /* the shortest */
};

static void runs_free(struct slice_run *of)
{
	for (size_t i = 0; i < of->runs.n; i++)
		run_free(&of->runs.items[i]);
	VEC_FREE(&of->runs);
}

static bool ended_alike(const struct run *a, const struct run *b)
{
	return a->label == b->label && a->outcome == b->outcome && a->code == b->code;
}

/* Runs of `some` that ended as none of the first CHECK_RUNS runs of `first` did. */
static size_t count_odd(const struct slice_run *some, const struct slice_run *first)
{
	size_t odd = 0;

	for (size_t i = 0; i < some->runs.n; i++) {
		bool known = false;

		for (size_t j = 0; j < CHECK_RUNS && !known; j++)
			known = ended_alike(&some->runs.items[i], &first->runs.items[j]);
		odd += !known;
	}
	return odd;
}

static struct error *run_some(const struct slice_command *command, struct world *world, const char *path,
			      unsigned n, struct slice_run *out)
{
	for (unsigned i = 0; i < n; i++) {
		struct run *run = VEC_PUSH(&out->runs);
		const struct launch_options launch = { .path = path,
						       .argv = command->program,
						       .world = world,
						       .timeout_s = command->timeout_s,
						       .expect = command->expect,
						       .check = command->check };

		TRY(launch_run(&launch, run));
		if (out->runs.n == 1 || run->wall_s < out->seconds)
			out->seconds = run->wall_s;
	}
	return NULL;
}

static const struct candidate *find(const struct scan *scan, const char *name)
{
	for (size_t i = 0; i < scan->candidates.n; i++)
		if (candidate_is(&scan->candidates.items[i], name))
			return &scan->candidates.items[i];
	return NULL;
}

static off_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? status.st_size : 0;
}

struct slicing {
	const struct slice_command *command;
	const char *path;
	char *output, *whole;
	struct scan scan;
	const struct candidate *candidate;
	struct slice_report report;
	struct slice_run before, after;
	bool sound;
};

static void slicing_free(struct slicing *slicing)
{
	if (slicing->whole)
		unlink(slicing->whole);
	free(slicing->output);
	free(slicing->whole);
	slice_report_free(&slicing->report);
	runs_free(&slicing->before);
	runs_free(&slicing->after);
	scan_free(&slicing->scan);
}

static struct error *make(struct slicing *slicing)
{
	const struct slice_command *command = slicing->command;
	_cleanup_(build_sites_free) struct build_sites sites = { 0 };
	const struct llvm_entrances *llvm;
	char *link[] = { (char *)(uintptr_t)command->link, NULL };
	struct build_options options = { .paths = &slicing->path,
					 .npaths = 1,
					 .prints = command->prints || command->expect || command->check,
					 .link = command->link ? link : NULL,
					 .folder = ".",
					 .output = slicing->whole };

	TRY(llvm_load(&llvm));
	TRY(scan_with_bar(llvm, (struct scan_options){ .paths = &slicing->path, .npaths = 1 },
			  &slicing->scan));
	const char *name = command->criterion ? command->criterion : "1";

	slicing->candidate = find(&slicing->scan, name);
	if (!slicing->candidate)
		return error_new("there is no candidate %s in %s; unsnarl scan --all %s lists them", name,
				 command->program[0], command->program[0]);
	build_sites_of(&slicing->scan, slicing->candidate, 32, &sites);
	TRY(llvm->static_build(&options));
	options.sites = &sites;
	options.slice = true;
	options.report = &slicing->report;
	options.output = slicing->output;
	return llvm->static_build(&options);
}

static double percent(size_t part, size_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static void print(const struct slicing *slicing)
{
	const struct slice_report *report = &slicing->report;
	_cleanup_free_ char *output = text_path(slicing->output);
	_cleanup_free_ char *before = words_seconds(slicing->before.seconds);
	_cleanup_free_ char *after = words_seconds(slicing->after.seconds);

	printf("%s: %zu of %zu instructions (%.0f %%), %zu of %zu functions, %lld of %lld bytes, %s instead "
	       "of %s a "
	       "run\n",
	       output, report->instructions_kept, report->instructions,
	       percent(report->instructions_kept, report->instructions), report->functions_kept,
	       report->functions, (long long)size_of(slicing->output), (long long)size_of(slicing->whole),
	       after, before);
	if (!slicing->sound)
		printf("The slice does not end as the program does: use the whole program.\n");
	if (slicing->command->listing)
		slice_listing_print(report, stdout);
}

static void print_json(const struct slicing *slicing)
{
	const struct slice_report *report = &slicing->report;
	json_t *answer = answer_new("slice");

	json_object_set_new(answer, "program", answer_text(slicing->path));
	json_object_set_new(answer, "slice", answer_text(slicing->output));
	json_object_set_new(answer, "candidate", answer_count(slicing->candidate->rank));
	json_object_set_new(answer, "sound", json_boolean(slicing->sound));
	json_object_set_new(answer, "instructions", answer_count(report->instructions));
	json_object_set_new(answer, "instructions_kept", answer_count(report->instructions_kept));
	json_object_set_new(answer, "functions", answer_count(report->functions));
	json_object_set_new(answer, "functions_kept", answer_count(report->functions_kept));
	json_object_set_new(answer, "bytes", answer_count((uint64_t)size_of(slicing->whole)));
	json_object_set_new(answer, "bytes_kept", answer_count((uint64_t)size_of(slicing->output)));
	json_object_set_new(answer, "seconds", json_real(slicing->before.seconds));
	json_object_set_new(answer, "seconds_kept", json_real(slicing->after.seconds));
	json_object_set_new(answer, "lines", slice_listing_json(report));
	answer_print(answer);
}

/* A slice keeps the bug, so it may fail now and then as the program does: it is sound when odd ends are not
 * clearly more frequent than in as many runs of the program. One that always ends oddly is broken. */
static struct error *compare_ends(struct slicing *slicing, struct world *world)
{
	const struct slice_command *command = slicing->command;
	struct slice_run *before = &slicing->before, *after = &slicing->after;
	size_t odd;

	TRY(run_some(command, world, slicing->whole, CHECK_RUNS, before));
	TRY(run_some(command, world, slicing->output, CHECK_RUNS, after));
	odd = count_odd(after, before);
	if (odd > 0 && odd < CHECK_RUNS) {
		TRY(run_some(command, world, slicing->whole, MORE_RUNS, before));
		TRY(run_some(command, world, slicing->output, MORE_RUNS, after));
		odd = count_odd(after, before);
	}
	slicing->sound = odd == 0 ||
			 (odd < after->runs.n &&
			  !statistics_is_less(count_odd(before, before), before->runs.n, odd, after->runs.n));
	return NULL;
}

static struct error *slice_all(struct slicing *slicing)
{
	const struct slice_command *command = slicing->command;
	_cleanup_(world_close) struct world world = WORLD_CLOSED;

	TRY(cmds_world_open("slice", &command->world, &world));
	TRY(make(slicing));
	TRY(compare_ends(slicing, &world));
	if (command->html)
		TRY(slice_listing_page(&slicing->report, slicing->candidate, command->html));
	(command->json ? print_json : print)(slicing);
	return NULL;
}

static struct error *slice_main(int argc, char **argv, int *status)
{
	struct slice_command command = { .timeout_s = 10 };
	_cleanup_(slicing_free) struct slicing slicing = { .command = &command };
	_cleanup_free_ char *path = NULL;
	enum loom loom = LOOM_COMPILED;
	uint64_t build;

	TRY(options_parse(&page, argc, argv, &command, &command.program));
	if (!command.program)
		return NULL;
	if (!command.program[0])
		return error_new(
			"no program to slice: give it after --, as in unsnarl slice --for 1 -- ./program");
	TRY(launch_check(command.program[0], &loom, &path, &build));
	slicing.path = path;
	slicing.output = command.output ? memory_string(command.output)
					: memory_format("%s.slice", command.program[0]);
	slicing.whole = memory_format("%s.whole", slicing.output);
	TRY(slice_all(&slicing));
	*status = slicing.sound ? 0 : 1;
	return NULL;
}

const struct verb verb_slice = { .page = &page, .main = slice_main };
