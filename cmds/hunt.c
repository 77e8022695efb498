/* unsnarl hunt: runs one schedule after the other until one fails and enough
 * others have passed, records both, makes the failing one short and tells it.
 */
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"
#include "cmds/cmds.h"
#include "cmds/hunt_summary.h"
#include "cmds/retell.h"
#include "loom/hunt.h"
#include "loom/launch.h"
#include "loom/reduce.h"

#define WAIT_S 0.1 /* how often the progress bar is looked after */
#define USUAL_BUDGET 10000
#define FAILURES_MOST 100 /* that are recorded */
#define PATIENCE 1000     /* schedules after a failure in which enough others have to pass */
#define REDUCE_TRIES 3000
#define REDUCE_SECONDS 30
#define REDUCE_TURNS 50000 /* longer ones, as of threads that spin for ever, do not get short in that time */

struct hunt_command {
	uint64_t passes, seed, jobs, context;
	double timeout_s;
	const char *budget, *check, *expect, *store;
	unsigned policy;
	bool keep_going, no_reduce, json;
	/* From --budget: one of them, the other is 0. */
	uint64_t schedules;
	double seconds;
};

static const char *const policies[] = { "auto", "random", "pct2",   "pct3", "pct5",
					"pos",  "surw",   "guided", NULL };

#define AT(member) .offset = offsetof(struct hunt_command, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ 'b', "budget", "N|TIME", OPTIONS_STRING, AT(budget),
	  .help = "how many schedules at most, or for how long: 5000, 30s, 10m, 2h (default 10000)" },
	{ .name = "passes", .value = "N", .kind = OPTIONS_NUMBER, AT(passes), .high = 1000000,
	  .help = "passing runs to record beside the failing ones (default 100)" },
	{ .name = "policy", .value = "P", .kind = OPTIONS_WORD, AT(policy), .words = policies,
	  .help = "how schedules are chosen: random, pct2, pct3, pct5, pos, surw, guided, or auto, which "
		  "uses them all and those most that pay (default auto)" },
	{ .name = "seed", .value = "S", .kind = OPTIONS_NUMBER, AT(seed), .high = UINT64_MAX,
	  .help = "makes a hunt repeatable (default: a new one)" },
	{ 'j', "jobs", "J", OPTIONS_NUMBER, AT(jobs), .low = 1, .high = 1024,
	  .help = "schedules at a time (default: one per processor); changes nothing but the time it takes" },
	{ .name = "timeout", .value = "S", .kind = OPTIONS_SECONDS, AT(timeout_s),
	  .help = "a run that lasts longer has hung and failed (default 10 seconds; 0: wait for ever)" },
	{ .name = "check", .value = "CMD", .kind = OPTIONS_STRING, AT(check),
	  .help = "shell command that reads what the program printed; the run passes if it exits with 0" },
	{ .name = "expect", .value = "FILE", .kind = OPTIONS_STRING, AT(expect),
	  .help = "the run passes if the program prints exactly what is in FILE" },
	{ .name = "context", .value = "N", .kind = OPTIONS_NUMBER, AT(context), .high = 8,
	  .help = "events of context on edges, 0 to 8 (default 5)" },
	{ .name = "keep-going", .kind = OPTIONS_FLAG, AT(keep_going),
	  .help = "use up the budget also after a failure" },
	{ .name = "no-reduce", .kind = OPTIONS_FLAG, AT(no_reduce),
	  .help = "leave the failing schedule as long as it is" },
	CMDS_STORE_ENTRY(struct hunt_command),
	CMDS_JSON_ENTRY(struct hunt_command),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "hunt",
	.operands = "[options] -- PROGRAM ARGS",
	.summary = "search for a schedule of the threads that makes the program fail",
	.text = "Runs a program that was built with unsnarl cc or unsnarl c++ again and again, one thread at "
		"a "
		"time, each time in another order. A run fails when it is killed by a signal, exits with a "
		"status other than 0, cannot go on because threads wait for each other, lasts too long, or "
		"when --check or --expect say so. Failing runs and some that passed are recorded with what "
		"was "
		"observed. The first failing schedule is made as short as possible and printed.\n\n"
		"The exit status is 1 when a failure was found, 0 when not.",
	.examples = "  unsnarl hunt -- ./program file\n"
		    "  unsnarl hunt --budget 5m --expect right.txt -- ./program\n"
		    "  unsnarl hunt --policy pct3 --seed 7 --passes 0 -- ./program\n",
	.entries = entries,
	.program = true,
};

/* A number of schedules, or a time with a letter behind it. */
static struct error *read_budget(struct hunt_command *command)
{
	const char *text = command->budget;
	char *end;

	command->schedules = USUAL_BUDGET;
	if (!text)
		return NULL;
	errno = 0;
	double value = strtod(text, &end);

	if (end == text || errno || !isdigit((unsigned char)*text) || value <= 0 || value > 1e12)
		return error_new(
			"--budget takes a number of schedules or a time, such as 5000, 30s, 10m, 2h; "
			"not %s",
			text);
	if (!*end && value == (double)(uint64_t)value) {
		command->schedules = (uint64_t)value;
		return NULL;
	}
	double unit = !strcmp(end, "s")                          ? 1
		      : !strcmp(end, "m") || !strcmp(end, "min") ? 60
		      : !strcmp(end, "h")                        ? 3600
								 : 0;

	if (unit <= 0)
		return error_new(
			"--budget takes a number of schedules or a time, such as 5000, 30s, 10m, 2h; "
			"not %s",
			text);
	command->schedules = 0;
	command->seconds = value * unit;
	return NULL;
}

static uint64_t processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0 ? (uint64_t)CPU_COUNT(&set)
										  : 1;
}

/* The hunt at work. */
struct chase {
	const struct hunt_command *command;
	struct store *store;
	struct hunt *hunt;
	struct hunt_summary *summary;
	struct map hashes; /* of schedules that are recorded */
	double started;
};

/* Records a run unless one with the same schedule is recorded already. */
static struct error *record(struct chase *chase, struct run *run, uint64_t hash, bool *recorded)
{
	bool fresh;

	*recorded = false;
	map_put(&chase->hashes, hash ^ (uint64_t)run->label, &fresh);
	if (!fresh)
		return NULL;
	TRY(store_add(chase->store, chase->summary->campaign, run));
	*recorded = true;
	return NULL;
}

static struct error *take(struct chase *chase, struct steer_report *report, const char *arm)
{
	struct hunt_summary *summary = chase->summary;
	bool failed = report->label == LABEL_FAIL, recorded = false;
	bool wanted = failed ? summary->recorded_failed < FAILURES_MOST
			     : summary->recorded_passed < chase->command->passes;

	hunt_summary_add(summary, report, arm);
	if (wanted && report->harvested)
		TRY(record(chase, &report->run, report->hash, &recorded));
	if (recorded)
		failed ? summary->recorded_failed++ : summary->recorded_passed++;
	if (failed && !summary->found) {
		summary->found = true;
		summary->failure_at = summary->schedules;
		summary->failure = report->run;
		report->run = (struct run){ 0 };
	}
	return NULL;
}

/* Whether nothing more is to be learnt. */
static bool is_enough(const struct chase *chase)
{
	const struct hunt_command *command = chase->command;
	const struct hunt_summary *summary = chase->summary;

	if (command->seconds > 0 && cmds_now() - chase->started >= command->seconds)
		return true;
	if (!summary->found || command->keep_going)
		return false;
	if (!summary->passed && summary->failed >= FAILURES_MOST)
		return true;
	return summary->recorded_passed >= command->passes ||
	       summary->schedules - summary->failure_at >= PATIENCE + 10 * command->passes;
}

static void show(struct chase *chase, struct progress *progress)
{
	const struct hunt_command *command = chase->command;
	double seconds = cmds_now() - chase->started;
	struct hunt_seen seen = hunt_seen(chase->hunt);
	_cleanup_free_ char *words = hunt_summary_words(chase->summary, seen.pairs, seconds);

	progress_show(progress, command->schedules ? chase->summary->schedules : (uint64_t)seconds, words);
}

static struct error *follow(struct chase *chase)
{
	const struct hunt_command *command = chase->command;
	_cleanup_(progress_stopp) struct progress *progress = progress_start(
		STDERR_FILENO, command->schedules ? command->schedules : (uint64_t)command->seconds);
	bool done = false;

	while (!done && !cmds_interrupted() && !is_enough(chase)) {
		struct hunt_result result = { 0 };
		bool got;

		show(chase, progress);
		TRY(hunt_next(chase->hunt, WAIT_S, &result, &got, &done));
		if (!got)
			continue;
		struct error *error = take(chase, &result.report, explore_arm_name(result.arm));

		steer_report_free(&result.report);
		if (error)
			return error;
		hunt_keep(chase->hunt, chase->summary->recorded_passed < command->passes);
	}
	chase->summary->interrupted = cmds_interrupted();
	return NULL;
}

static struct error *shorten(struct chase *chase)
{
	struct hunt_summary *summary = chase->summary;
	struct steer *steer;

	if (!summary->found || chase->command->no_reduce || !summary->failure.number || cmds_interrupted() ||
	    !summary->failure.schedule.nturns || summary->failure.schedule.nturns > REDUCE_TURNS)
		return NULL;
	_cleanup_(progress_stopp) struct progress *progress = progress_start(STDERR_FILENO, 1);

	progress_show(progress, 0, "making the failing schedule short");
	TRY(hunt_steer(chase->hunt, &steer));
	TRY(reduce_steered(steer, &summary->failure, REDUCE_TRIES, REDUCE_SECONDS,
			   &summary->failure.reduced));
	return store_reduce(chase->store, summary->failure.number, &summary->failure.reduced);
}

static struct error *chase_all(struct chase *chase, const struct launch_options *launch)
{
	const struct hunt_command *command = chase->command;
	struct hunt_summary *summary = chase->summary;
	_cleanup_(run_free) struct run first = { 0 };
	const struct hunt_options options = {
		.launch = launch,
		.jobs = (unsigned)command->jobs,
		.seed = command->seed,
		.arms = command->policy ? 1u << (command->policy - 1) : EXPLORE_ALL,
		.budget = command->schedules > 1 ? command->schedules - 1
			  : command->schedules   ? 1
						 : 0,
	};

	/* A run without forced switches tells whether the program runs at all. */
	TRY(launch_run(launch, &first));
	TRY(hunt_summary_check(&first, summary->program));
	TRY(hunt_start(&options, &first, &chase->hunt));
	struct steer_report report = { .label = first.label,
				       .outcome = first.outcome,
				       .code = first.code,
				       .hash = schedule_hash(first.schedule.turns, first.schedule.nturns),
				       .harvested = true,
				       .run = first };

	first = (struct run){ 0 };
	struct error *error = take(chase, &report, "stay");

	steer_report_free(&report);
	if (!error)
		error = follow(chase);
	summary->wall_s = cmds_now() - chase->started;
	struct hunt_seen seen = hunt_seen(chase->hunt);

	summary->pairs = seen.pairs;
	summary->predecessors = seen.predecessors;
	summary->edges = seen.edges;
	return error ? error : shorten(chase);
}

static struct error *tell(const struct hunt_command *command, const struct launch_options *launch,
			  const struct hunt_summary *summary)
{
	const struct run *failure = &summary->failure;
	_cleanup_(retold_free) struct retold retold = { 0 };

	if (summary->found)
		TRY(retell(launch, failure->reduced.nturns ? &failure->reduced : &failure->schedule,
			   &retold));
	(command->json ? hunt_summary_json : hunt_summary_print)(summary, &retold.story);
	return NULL;
}

static struct error *hunt_all(const struct hunt_command *command, char **argv, struct hunt_summary *summary)
{
	_cleanup_(store_closep) struct store *store = NULL;
	const struct launch_options launch = {
		.path = summary->program,
		.argv = argv,
		.area = { .observe = OBSERVE_ALL,
			  .context = (uint32_t)command->context,
			  .seed = command->seed },
		.control = { .policy = POLICY_STAY },
		.timeout_s = command->timeout_s,
		.expect = command->expect,
		.check = command->check,
	};
	struct chase chase = { .command = command, .summary = summary, .started = cmds_now() };

	TRY(store_open(command->store, true, &store));
	chase.store = store;
	TRY(store_campaign(store, summary->program, summary->arguments, summary->build, &summary->campaign));
	cmds_catch_interrupts();
	struct error *error = chase_all(&chase, &launch);

	hunt_stop(chase.hunt);
	map_free(&chase.hashes);
	return error ? error : tell(command, &launch, summary);
}

static struct error *hunt_main(int argc, char **argv, int *status)
{
	struct hunt_command command = {
		.passes = 100,
		.seed = cmds_seed(),
		.jobs = processors(),
		.context = 5,
		.timeout_s = 10,
		.store = CMDS_STORE,
	};
	_cleanup_(hunt_summary_free) struct hunt_summary summary = { 0 };
	_cleanup_free_ char *path = NULL;
	char **operands;

	TRY(options_parse(&page, argc, argv, &command, &operands));
	if (!operands)
		return NULL;
	if (!operands[0])
		return error_new("no program to hunt in: give it after --, as in unsnarl hunt -- ./program");
	TRY(read_budget(&command));
	TRY(launch_check(operands[0], &path, &summary.build));
	summary.store = command.store;
	summary.program = path;
	summary.arguments = operands + 1;
	summary.seed = command.seed;
	summary.passes = command.passes;
	TRY(hunt_all(&command, operands, &summary));
	*status = summary.found ? 1 : summary.interrupted ? CMDS_INTERRUPTED : 0;
	return NULL;
}

const struct verb verb_hunt = { .page = &page, .main = hunt_main };
