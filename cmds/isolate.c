/* unsnarl isolate: from a crash back to its root cause. The work is done in isolate/.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmds/cmds.h"
#include "isolate/isolate.h"
#include "loom/launch.h"
#include "loom/world/world.h"
#include "report/isolate_view.h"

struct isolate_command {
	uint64_t seed, jobs;
	double time_s, timeout_s;
	const char *store, *check, *expect, *watch;
	struct cmds_world world;
	bool json;
};

#define AT(member) .offset = offsetof(struct isolate_command, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ .name = "time", .value = "S", .kind = OPTIONS_SECONDS, AT(time_s),
	  .help = "how long it may take, about (default 60 seconds)" },
	{ 'j', "jobs", "J", OPTIONS_NUMBER, AT(jobs), .low = 1, .high = 1024,
	  .help = "schedules at a time while a crash is looked for (default: one per processor)" },
	{ .name = "seed", .value = "S", .kind = OPTIONS_NUMBER, AT(seed), .high = UINT64_MAX,
	  .help = "of the search for a crash (default: a new one)" },
	{ .name = "watch", .value = "WHERE", .kind = OPTIONS_STRING, AT(watch),
	  .help = "the value that is wrong in failing runs: FILE:LINE, FILE:LINE:EXPRESSION or an address" },
	CMDS_VERDICT_ENTRIES(struct isolate_command),
	CMDS_WORLD_ENTRIES(struct isolate_command),
	CMDS_STORE_ENTRY(struct isolate_command),
	CMDS_JSON_ENTRY(struct isolate_command),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "isolate",
	.operands = "[options] [RUN|last] | -- PROGRAM ARGS",
	.summary = "from a failure back to its root cause, by leaving out what led to it",
	.text = "Runs a program that crashes, fails an assert, aborts or hangs, always or in some order of "
		"its "
		"threads, "
		"and finds what the failure used and who had last given that its value. Moves the accesses "
		"of "
		"other threads to see whether their order is the cause. If not, runs the program again "
		"without "
		"that write and without all that depends on it, until nothing fails any more: the last write "
		"that was left out is the root cause. Any program will do, with hooks or without.\n\n"
		"A program that ends with a wrong result needs --watch, which says where the wrong value is "
		"read, "
		"and --check or --expect, which say when the result is wrong.\n\n"
		"RUN is a run that unsnarl hunt has recorded on the binary loom. The exit status is 1 when "
		"the program failed, 0 when it did not.",
	.examples = "  unsnarl isolate -- ./program file\n"
		    "  unsnarl isolate --json -- ./program\n"
		    "  unsnarl isolate --expect right.txt --watch 'report.c:50:total*2 != sum' -- ./program\n"
		    "  unsnarl isolate last\n",
	.entries = entries,
	.program = true,
};

static void stage(enum isolate_stage now)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "unsnarl: %s\n", isolate_stage_words(now));
}

/* What is to be run, and how. */
struct subject {
	struct schedule schedule; /* of a recorded run */
	char *path;
	char **argv;
	bool owns_argv;
};

static void subject_free(struct subject *subject)
{
	schedule_free(&subject->schedule);
	free(subject->path);
	if (subject->owns_argv)
		free(subject->argv);
}

static struct error *find_number(struct store *store, const char *name, uint64_t *number)
{
	char *end;

	errno = 0;
	if (!strcmp(name, "last"))
		TRY(store_last_failed(store, 0, number));
	else
		*number = strtoull(name, &end, 10);
	if (!strcmp(name, "last") && !*number)
		return error_new("no recorded run has failed yet; unsnarl hunt looks for one");
	if (strcmp(name, "last") != 0 && (errno || *end || !*number))
		return error_new(
			"%s is no number of a run; to isolate a crash of a program write: unsnarl isolate "
			"-- %s",
			name, name);
	return NULL;
}

static struct error *take_run(const char *folder, const char *name, bool watched, struct subject *out)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	_cleanup_(run_free) struct run run = { 0 };
	uint64_t number, campaign, build;
	enum loom loom = LOOM_BINARY;
	size_t n = 0;

	TRY(store_open(folder, false, &store));
	TRY(find_number(store, name, &number));
	TRY(store_run(store, number, &run, &campaign));
	TRY(cmds_campaigns(store, campaign, &campaigns));
	struct campaign *from = &campaigns.items[0];

	if (run.label != LABEL_FAIL || (run.outcome == OUTCOME_EXIT && !watched))
		return error_new("run %llu did not crash or hang; isolate starts from a crash, a failed "
				 "assert, an abort or a "
				 "hang, or with --watch from a wrong value",
				 (unsigned long long)number);
	out->schedule = schedule_copy(&run.schedule);
	out->schedule.program = from->program;
	out->schedule.arguments = from->arguments;
	from->program = NULL;
	from->arguments = NULL;
	TRY(launch_check(out->schedule.program, &loom, &out->path, &build));
	if (build != from->build || !run.schedule.nturns)
		return error_new(
			"run %llu has no schedule that the binary loom can follow: it was recorded with "
			"hooks, was "
			"not controlled, or %s has changed since. Build the program without hooks and write: "
			"unsnarl isolate -- PROGRAM; the failure is then looked for again",
			(unsigned long long)number, out->schedule.program);
	while (out->schedule.arguments && out->schedule.arguments[n])
		n++;
	out->argv = memory_alloc((n + 2) * sizeof *out->argv);
	out->owns_argv = true;
	out->argv[0] = out->schedule.program;
	for (size_t i = 0; i < n; i++)
		out->argv[i + 1] = out->schedule.arguments[i];
	return NULL;
}

/* Hooks stand between the program and its memory. */
static void warn_of_hooks(const char *program)
{
	enum loom loom = LOOM_COMPILED;
	_cleanup_free_ char *path = NULL;
	uint64_t build;
	struct error *error = launch_check(program, &loom, &path, &build);

	if (!error)
		fprintf(stderr,
			"unsnarl isolate: %s was built with hooks: values are followed through them as well, "
			"which "
			"takes long and names lines of unsnarl's runtime. A build without them is better.\n",
			program);
	error_free(error);
}

static bool is_run_name(char **operands)
{
	return operands[0] && !operands[1] &&
	       (!strcmp(operands[0], "last") || strspn(operands[0], "0123456789") == strlen(operands[0]));
}

static struct error *isolate_main(int argc, char **argv, int *status)
{
	struct isolate_command command = { .seed = cmds_seed(),
					   .jobs = cmds_processors(),
					   .time_s = 60,
					   .timeout_s = 20,
					   .store = CMDS_STORE };
	_cleanup_(isolation_free) struct isolation isolation = { 0 };
	_cleanup_(subject_free) struct subject subject = { 0 };
	_cleanup_(world_close) struct world world = WORLD_CLOSED;
	enum loom loom = LOOM_BINARY;
	char **operands;
	uint64_t build;

	TRY(options_parse(&page, argc, argv, &command, &operands));
	if (!operands)
		return NULL;
	if (!operands[0])
		return error_new(
			"no program to isolate: give it after --, as in unsnarl isolate -- ./program, or "
			"the number of a recorded run");
	if (is_run_name(operands)) {
		TRY(take_run(command.store, operands[0], command.watch != NULL, &subject));
	} else {
		TRY(launch_check(operands[0], &loom, &subject.path, &build));
		subject.argv = operands;
		warn_of_hooks(operands[0]);
	}
	cmds_catch_interrupts();
	TRY(cmds_world_open("isolate", &command.world, &world));
	const struct launch_options launch = {
		.loom = LOOM_BINARY,
		.path = subject.path,
		.argv = subject.argv,
		.area = { .observe = OBSERVE_ALL, .context = 5, .seed = command.seed },
		.control = { .policy = POLICY_STAY, .carry = 1 },
		.still = true,
		.timeout_s = command.timeout_s,
		.check = command.check,
		.expect = command.expect,
		.world = &world,
	};
	const struct isolate_options options = {
		.launch = &launch,
		.schedule = subject.schedule.nturns ? &subject.schedule : NULL,
		.jobs = (unsigned)command.jobs,
		.seed = command.seed,
		.time_s = command.time_s,
		.watch = command.watch,
		.stop = cmds_interrupted,
		.stage = stage,
	};

	TRY(isolate(&options, &isolation));
	cmds_world_tell("isolate", &world, false);
	(command.json ? isolation_json(&isolation, subject.argv[0])
		      : isolation_print(&isolation, subject.argv[0], stdout));
	bool failed = isolation.verdict != ISOLATE_NOTHING || isolation.original.label == LABEL_FAIL;

	*status = failed ? 1 : cmds_interrupted() ? CMDS_INTERRUPTED : 0;
	return NULL;
}

const struct verb verb_isolate = { .page = &page, .main = isolate_main };
