/* unsnarl run: runs a program N times, J at a time, and records every run as it
 * ends. Ctrl-C stops the series, not what was recorded.
 */
#include <limits.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"
#include "cmds/cmds.h"
#include "cmds/run_summary.h"
#include "loom/launch.h"
#include "loom/world/world.h"

#define LABEL_JUDGED UINT_MAX /* no --label */
#define WAIT_S 0.1            /* how often the progress bar is looked after */

struct run_options {
	uint64_t runs, jobs, jitter_us, context, seed, machine;
	double timeout_s;
	const char *check, *expect, *store;
	unsigned label, observe, granularity, loom;
	const char *only;
	struct cmds_world world;
	bool json, loops;
};

static const char *const labels[] = { "pass", "fail", NULL };
static const char *const granularities[] = { "word", "line", NULL };

#define AT(member) .offset = offsetof(struct run_options, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ 'n', "runs", "N", OPTIONS_NUMBER, AT(runs), .low = 1, .high = 1000000000,
	  .help = "how many runs (default 1)" },
	{ 'j', "jobs", "J", OPTIONS_NUMBER, AT(jobs), .low = 1, .high = 1024,
	  .help = "how many at a time (default 1)" },
	{ .name = "jitter", .value = "US", .kind = OPTIONS_NUMBER, AT(jitter_us), .high = 10000000,
	  .bare = "200",
	  .help = "random delays of up to US microseconds at shared accesses (200 if not given)" },
	CMDS_VERDICT_ENTRIES(struct run_options),
	CMDS_WORLD_ENTRIES(struct run_options),
	{ .name = "label", .value = "pass|fail", .kind = OPTIONS_WORD, AT(label), .words = labels,
	  .help = "label every run so, whatever it does" },
	{ .name = "observe", .value = "LIST", .kind = OPTIONS_WORDS, AT(observe), .words = cmds_observers,
	  .help = "what to observe: pairs, predecessors, edges, several of them with commas, all or none "
		  "(default all)" },
	{ .name = "loops", .kind = OPTIONS_FLAG, AT(loops),
	  .help = "also record in which entry and iteration of which loop an access stood, for unsnarl locate; "
		  "of programs without hooks (others: unsnarl cc --loops)" },
	CMDS_CONTEXT_ENTRY(struct run_options),
	CMDS_LOOM_ENTRY(struct run_options),
	CMDS_PROGRAM_ENTRY(struct run_options),
	{ .name = "granularity", .value = "word|line", .kind = OPTIONS_WORD, AT(granularity),
	  .words = granularities,
	  .help = "edges between exact locations or between cache lines of 64 bytes (default word)" },
	{ .name = "machine", .value = "CORES", .kind = OPTIONS_NUMBER, AT(machine), .low = 1, .high = 64,
	  .bare = "16",
	  .help = "edges as the caches of a simulated machine see them, with CORES cores (16 if not given)" },
	{ .name = "seed", .value = "S", .kind = OPTIONS_NUMBER, AT(seed), .high = UINT64_MAX,
	  .help = "of the random delays (default: a new one)" },
	CMDS_STORE_ENTRY(struct run_options),
	CMDS_JSON_ENTRY(struct run_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "run",
	.operands = "[options] -- PROGRAM ARGS",
	.summary = "run a program N times; observe, label and record each run",
	.text = "Runs a program that was built with unsnarl cc or unsnarl c++. A run fails when it is "
		"killed by a signal, lasts too long, or when --check or --expect say so; without these two "
		"also when it exits with a status other than 0. What the threads did to each other's data is "
		"recorded either way. The "
		"exit status is 0 also when runs failed.",
	.examples = "  unsnarl run -n 100 -- ./program file\n"
		    "  unsnarl run -n 1000 -j 2 --jitter --expect right.txt -- ./program\n"
		    "  unsnarl run -n 50 --check 'grep -q ^done' -- ./program\n",
	.entries = entries,
	.program = true,
};

static struct error *count_distinct(struct store *store, uint64_t campaign, struct run_counts *out)
{
	struct interned interned = { 0 };

	TRY(store_interned(store, campaign, &interned));
	*out = (struct run_counts){ interned.npairs, interned.npredecessors, interned.nedges };
	interned_free(&interned);
	return NULL;
}

/* Takes runs from the pool to the store until all are done or Ctrl-C comes. */
static struct error *drain(struct launch_pool *pool, struct store *store, struct run_summary *summary)
{
	_cleanup_(progress_stopp) struct progress *progress = progress_start(STDERR_FILENO, summary->wanted);
	bool done = false;

	while (!done && !cmds_interrupted()) {
		_cleanup_(run_free) struct run run = { 0 };
		_cleanup_free_ char *words = run_view_words(summary);
		bool got = false;

		progress_show(progress, summary->done, words);
		TRY(launch_pool_next(pool, WAIT_S, &run, &got, &done));
		if (!got)
			continue;
		TRY(store_add(store, summary->campaign, &run));
		run_summary_add(summary, &run);
	}
	summary->interrupted = cmds_interrupted() && summary->done < summary->wanted;
	return NULL;
}

/* Runs everything and puts it into the store; *summary tells how far it came. */
static struct error *record(struct launch_pool *pool, struct store *store, struct run_summary *summary)
{
	TRY(store_campaign(store, summary->program, summary->arguments, summary->build, &summary->campaign));
	TRY(count_distinct(store, summary->campaign, &summary->before));
	_cleanup_(error_freep) struct error *error = drain(pool, store, summary);

	if (error && summary->done)
		return error_new("%s (the %llu runs before that are recorded in %s)", error->message,
				 (unsigned long long)summary->done, summary->store);
	if (error) {
		struct error *passed_on = error;

		error = NULL;
		return passed_on;
	}
	return count_distinct(store, summary->campaign, &summary->after);
}

static struct error *run_all(const struct run_options *options, char **argv, struct run_summary *summary)
{
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_(world_close) struct world world = WORLD_CLOSED;
	const struct launch_options launch = {
		.world = &world,
		.loom = (enum loom)options->loom,
		.only = options->only,
		.path = summary->program,
		.argv = argv,
		.area = { .observe = options->observe | (options->loops ? OBSERVE_LOOPS : 0u),
			  .context = (uint32_t)options->context,
			  .line = options->machine ? AREA_MACHINE | (uint32_t)options->machine
						   : options->granularity,
			  .jitter_us = (uint32_t)options->jitter_us,
			  .seed = options->seed },
		.timeout_s = options->timeout_s,
		.expect = options->expect,
		.check = options->check,
		.force = options->label == LABEL_JUDGED ? 0
			 : options->label == 0          ? LABEL_PASS
							: LABEL_FAIL,
	};
	struct launch_pool *pool = NULL;
	double started = cmds_now();

	cmds_catch_interrupts();
	TRY(cmds_world_open("run", &options->world, &world));
	TRY(store_open(options->store, true, &store));
	TRY(launch_pool_start(&launch, (unsigned)options->jobs, options->runs, &pool));
	struct error *error = record(pool, store, summary);

	launch_pool_stop(pool);
	summary->wall_s = cmds_now() - started;
	cmds_world_tell("run", &world, true);
	return error;
}

static struct error *run_main(int argc, char **argv, int *status)
{
	struct run_options options = { .runs = 1,
				       .jobs = 1,
				       .context = 5,
				       .seed = cmds_seed(),
				       .timeout_s = 10,
				       .store = CMDS_STORE,
				       .label = LABEL_JUDGED,
				       .observe = OBSERVE_ALL };
	_cleanup_(run_summary_free) struct run_summary summary = { 0 };
	_cleanup_free_ char *path = NULL;
	char **operands;

	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	if (!operands[0])
		return error_new("no program to run: give it after --, as in unsnarl run -- ./program");
	enum loom loom = (enum loom)options.loom;

	TRY(launch_check(operands[0], &loom, &path, &summary.build));
	options.loom = loom;
	TRY(cmds_check_only(options.only, loom));
	if (loom == LOOM_BINARY && (options.machine || options.granularity))
		return error_new(
			"edges between cache lines and a simulated machine need hooks: build the program "
			"with unsnarl cc, or leave --granularity and --machine out");
	if (loom != LOOM_BINARY && options.loops)
		return error_new(
			"loops of a program with hooks are recorded when it was built for it: build it "
			"with unsnarl cc --loops and run it without --loops");
	cmds_tell_loom(operands[0], loom);
	summary.wanted = options.runs;
	summary.store = options.store;
	summary.program = path;
	summary.arguments = operands + 1;
	summary.seed = options.seed;
	summary.jitter_us = (uint32_t)options.jitter_us;
	TRY(run_all(&options, operands, &summary));
	if (summary.interrupted && !summary.done)
		fprintf(stderr, "unsnarl run: interrupted before the first run had ended\n");
	else if (summary.interrupted)
		fprintf(stderr, "unsnarl run: interrupted after %llu of %llu runs; those are recorded\n",
			(unsigned long long)summary.done, (unsigned long long)summary.wanted);
	(options.json ? run_view_json : run_view_print)(&summary);
	*status = summary.interrupted ? CMDS_INTERRUPTED : 0;
	return NULL;
}

const struct verb verb_run = { .page = &page, .main = run_main };
