/* unsnarl learn: which access may precede which, from runs that passed, as a guard set.
 */
#include "cmds/learn.h"

#include <stdlib.h>
#include <string.h>

#include "cmds/cmds.h"
#include "loom/world/world.h"
#include "report/learn_view.h"

struct learn_options {
	uint64_t runs, jobs, jitter_us, campaign, traces, limit_ms, seed;
	double timeout_s;
	const char *check, *expect, *store, *out, *explain, *bias, *rare;
	bool json, free, annotated, failed;
	struct cmds_world world;
	struct world *place; /* that runs start in */
};

#define RUNS_UNTIL_CONVERGED 1000u /* without -n: at most */
#define RUNS_WITNESSED \
	200u           /* free ones, where controlled runs failed: a share of 1 in 20 is told from 1 in 60 */
#define RUNS_ANEW 400u /* traced, for sets without what is left out: at most */
#define AT(member) .offset = offsetof(struct learn_options, member)

/* clang-format off */
static const struct options_entry entries[] = {
	{ 'o', "output", "FILE", OPTIONS_STRING, AT(out),
	  .help = "write the guard set to FILE" },
	{ .name = "explain", .value = "FILE:LINE", .kind = OPTIONS_STRING, AT(explain),
	  .help = "show what may come before the accesses of a line, and in how many runs it did" },
	{ .name = "bias", .value = "PERCENT", .kind = OPTIONS_STRING, AT(bias),
	  .help = "leave groups of accesses unguarded that make up more than PERCENT of all shared accesses, "
		  "as in --bias 30%" },
	{ .name = "rare", .value = "PERCENT", .kind = OPTIONS_STRING, AT(rare),
	  .help = "leave out of the sets what fewer than PERCENT of the runs had: passing runs also show what does "
		  "no harm by luck; where it does none the guarded program then stalls in vain" },
	{ .name = "annotated", .kind = OPTIONS_FLAG, AT(annotated),
	  .help = "guard only what the source marks (see unsnarl.h), with sets computed anew from traced runs" },
	{ .name = "limit", .value = "MS", .kind = OPTIONS_NUMBER, AT(limit_ms), .high = GUARD_MOST_MS,
	  .help = "longest stall of a guarded program, in milliseconds (default 10)" },
	{ .name = "campaign", .value = "N", .kind = OPTIONS_NUMBER, AT(campaign), .low = 1, .high = INT64_MAX,
	  .help = "learn from this campaign alone (default: all campaigns of the program that ran last)" },
	{ .name = "traces", .value = "N", .kind = OPTIONS_NUMBER, AT(traces), .high = 1000,
	  .help = "runs of each campaign's command line that are traced to see who shares memory with whom "
		  "(default: until they show nothing new, for 5 seconds at most)" },
	{ 'n', "runs", "N", OPTIONS_NUMBER, AT(runs), .low = 1, .high = 1000000000,
	  .help = "with a program: how many runs (default: until nothing new comes, 1000 at most), and as many free ones "
		  "when some of them fail (default 200)" },
	{ 'j', "jobs", "J", OPTIONS_NUMBER, AT(jobs), .low = 1, .high = 1024,
	  .help = "with a program: how many at a time (default 1)" },
	{ .name = "free", .kind = OPTIONS_FLAG, AT(free),
	  .help = "let threads run freely, and learn from recorded free runs too; controlled runs, the default, "
		  "are exact where threads meet in the same moment" },
	{ .name = "failed", .kind = OPTIONS_FLAG, AT(failed),
	  .help = "use failed runs too: leave out of the sets what they had far more often than passing runs, which may "
		  "have passed by luck (default: only passing runs teach)" },
	{ .name = "jitter", .value = "US", .kind = OPTIONS_NUMBER, AT(jitter_us), .high = 10000000,
	  .bare = "200",
	  .help = "with --free: random delays of up to US microseconds at shared accesses (200 if not given)" },
	{ .name = "seed", .value = "S", .kind = OPTIONS_NUMBER, AT(seed), .high = UINT64_MAX,
	  .help = "of the random delays (default: a new one)" },
	CMDS_VERDICT_ENTRIES(struct learn_options),
	CMDS_WORLD_ENTRIES(struct learn_options),
	CMDS_STORE_ENTRY(struct learn_options),
	CMDS_JSON_ENTRY(struct learn_options),
	{ 0 },
};
/* clang-format on */

static const struct options_page page = {
	.verb = "learn",
	.operands = "[options] [-- PROGRAM ARGS]",
	.summary = "learn from passing runs which access may precede which",
	.text = "For every access to shared memory: which accesses of other threads came right before it in "
		"runs that passed. The set of these is what unsnarl cc --guard holds a program to. Without a "
		"program the recorded runs are used; with one it is run first, until more runs teach nothing "
		"new. Runs with other arguments are merged: learn from many inputs.",
	.examples = "  unsnarl learn -o program.guard -- ./program input\n"
		    "  unsnarl run -n 200 -- ./program other; unsnarl learn -o program.guard\n"
		    "  unsnarl learn --explain account.c:42\n"
		    "  unsnarl cc --guard program.guard -O2 -pthread -o program program.c\n",
	.entries = entries,
	.program = true,
};

/* *out stays as it is when the option was not given. */
static struct error *read_percent(const char *option, const char *text, double *out)
{
	char *end;

	if (!text)
		return NULL;
	*out = strtod(text, &end) / 100;
	if (end == text || (*end && strcmp(end, "%") != 0) || !(*out >= 0 && *out <= 1))
		return error_new("%s %s is no share: give a number of percent, as in %s 30", option, text,
				 option);
	return NULL;
}

static struct launch_options launch_of(const struct learn_options *options)
{
	return (struct launch_options){ .world = options->place,
					.area = { .observe = OBSERVE_PREDECESSORS,
						  .jitter_us = (uint32_t)options->jitter_us,
						  .seed = options->seed },
					.timeout_s = options->timeout_s,
					.expect = options->expect,
					.check = options->check };
}

/* What would be of no use after all the runs is said before them. */
static struct error *check(const struct learn_options *options)
{
	double share;

	TRY(read_percent("--bias", options->bias, &share));
	TRY(read_percent("--rare", options->rare, &share));
	if (options->explain)
		TRY(learn_explain_check(options->explain));
	return options->out ? guard_set_try_save(options->out) : NULL;
}

/* Guards are built from source. */
static struct error *check_program(const struct learn_options *options, const char *name, char **path,
				   uint64_t *build)
{
	enum loom loom = LOOM_COMPILED;

	TRY(launch_check(name, &loom, path, build));
	return options->free ? NULL : launch_check_control(*path);
}

/* Runs the program that lies at `path`. */
static struct error *train(const struct learn_options *options, struct store *store, char **argv,
			   const char *path, uint64_t build, bool *interrupted)
{
	struct launch_options launch = launch_of(options);
	struct learn_runs runs = { .most = options->runs ? options->runs : RUNS_UNTIL_CONVERGED,
				   .until_converged = !options->runs,
				   .free = options->free,
				   .jobs = options->jobs,
				   .store = options->store };

	launch.path = path;
	launch.argv = argv;
	TRY(learn_run(store, &launch, build, &runs));
	*interrupted = runs.interrupted;
	if (runs.done && runs.failed == runs.done)
		return error_new(
			"all %llu runs of %s failed, and only runs that pass teach; unsnarl diagnose "
			"-- %s finds out why it fails, %s",
			(unsigned long long)runs.done, argv[0], argv[0],
			options->free ? "and --timeout, --expect and --check say what a failure is"
				      : "and --free lets threads run as they do by themselves");
	TRY(learn_witnesses(store, &launch, build, &runs, options->runs ? options->runs : RUNS_WITNESSED));
	*interrupted = runs.interrupted;
	return NULL;
}

/* All campaigns to learn from: one, those of a program, or those of the program that ran last. */
static struct error *choose(const struct learn_options *options, struct store *store, const char *program,
			    struct cmds_campaigns *campaigns, struct training *training)
{
	bool trained = program != NULL;

	TRY(cmds_campaigns(store, options->campaign, campaigns));
	if (!campaigns->n)
		return error_new("no runs are recorded yet; unsnarl learn -- ./program records some");
	if (!options->campaign && !program) {
		TRY(cmds_campaigns_recent(store, campaigns));
		program = campaigns->items[0].program;
	}
	for (size_t i = 0; i < campaigns->n; i++)
		if (!program || strcmp(campaigns->items[i].program, program) == 0) {
			const struct launch_options oracle = launch_of(options);

			TRY(training_add(training, store, campaigns->items[i].number, options->free));
			if (training->campaigns.items[training->campaigns.n - 1].used)
				TRY(learn_trace(&campaigns->items[i], &oracle, options->traces, training));
			else
				training->campaigns.n--;
		}
	if (!training->runs.n && trained)
		return error_new(
			"runs of %s passed, but in none of them an observed access met another thread's: "
			"there is nothing to guard",
			program);
	if (!training->runs.n)
		return error_new("no passing run with predecessors is recorded; record some with unsnarl "
				 "learn -- ./program");
	return NULL;
}

static struct error *answer(const struct learn_options *options, struct training *training,
			    const struct guard_set *all, struct bias *bias, bool biased)
{
	_cleanup_(guard_set_free) struct guard_set chosen = { 0 };
	const struct guard_set *set = all;

	if (biased && !bias->count)
		return error_new("no traced run tells how often accesses are executed, so --bias cannot "
				 "choose; let unsnarl learn trace some (--traces)");
	if (biased) {
		bias_apply(all, bias, &chosen);
		set = &chosen;
	}
	if (options->out)
		TRY(guard_set_save(options->out, set));
	if (options->json) {
		learn_json(training, all, bias, options->out);
		return NULL;
	}
	learn_print(training, all);
	if (biased)
		learn_groups_print(all, bias);
	learn_saved_print(options->out, set->sites.n);
	return NULL;
}

/* The set of what the source marks alone. */
static struct error *choose_annotated(const struct learn_options *options,
				      const struct cmds_campaigns *campaigns, struct training *training,
				      struct guard_set *out)
{
	_cleanup_free_ bool *chosen = memory_alloc(training->places.sites.n + 1);
	_cleanup_(recomputed_free) struct recomputed recomputed = { 0 };
	const struct launch_options oracle = launch_of(options);

	if (!annotations_choose(training, chosen))
		return error_new(
			"the source marks no shared access: put UNSNARL_GUARD_FUNCTION and the like of "
			"unsnarl.h into it, or leave out --annotated");
	recomputed_start(&recomputed, training);
	for (size_t i = 0; i < campaigns->n; i++)
		for (size_t k = 0; k < training->campaigns.n; k++)
			if (training->campaigns.items[k].number == campaigns->items[i].number)
				TRY(learn_anew(&campaigns->items[i], &oracle,
					       options->runs ? options->runs : RUNS_ANEW, training, chosen,
					       &recomputed));
	guard_set_choose(&recomputed.set, chosen, out);
	out->runs = recomputed.runs;
	out->converged = recomputed.quiet >= TRAINING_QUIET;
	return NULL;
}

static struct error *learn(const struct learn_options *options, struct store *store, const char *program)
{
	_cleanup_(cmds_campaigns_free) struct cmds_campaigns campaigns = { 0 };
	_cleanup_(training_free) struct training training;
	_cleanup_(guard_set_free) struct guard_set set = { 0 };
	_cleanup_(bias_free) struct bias bias = { 0 };
	double most = 1;

	training_start(&training);
	training.places.limit_ms = (uint32_t)options->limit_ms;
	training.use_failed = options->failed;
	TRY(read_percent("--bias", options->bias, &most));
	TRY(read_percent("--rare", options->rare, &training.rare));
	TRY(choose(options, store, program, &campaigns, &training));
	training_settle(&training);
	if (options->explain)
		return learn_explain_print(&training, options->explain);
	training_set(&training, &set);
	if (options->annotated) {
		struct guard_set marked = { 0 };

		TRY(choose_annotated(options, &campaigns, &training, &marked));
		guard_set_free(&set);
		set = marked;
	}
	if (set.sites.n > GUARD_SITES)
		return error_new("%zu accesses are shared, and a guard set holds %u at most; --bias leaves "
				 "the most frequent out",
				 set.sites.n, GUARD_SITES);
	bias_groups(&set, most, &bias);
	return answer(options, &training, &set, &bias, options->bias != NULL);
}

static struct error *learn_main(int argc, char **argv, int *status)
{
	struct learn_options options = { .jobs = 1,
					 .traces = LEARN_TRACES_ENOUGH,
					 .limit_ms = GUARD_LIMIT_MS,
					 .timeout_s = 10,
					 .seed = cmds_seed(),
					 .store = CMDS_STORE };
	_cleanup_(store_closep) struct store *store = NULL;
	_cleanup_free_ char *path = NULL;
	uint64_t build = 0;
	bool interrupted = false;
	char **operands;

	TRY(options_parse(&page, argc, argv, &options, &operands));
	if (!operands)
		return NULL;
	TRY(check(&options));
	if (operands[0])
		TRY(check_program(&options, operands[0], &path, &build));
	_cleanup_(world_close) struct world world = WORLD_CLOSED;

	TRY(cmds_world_open("learn", &options.world, &world));
	options.place = &world;
	TRY(store_open(options.store, operands[0] != NULL, &store));
	if (operands[0])
		TRY(train(&options, store, operands, path, build, &interrupted));
	if (interrupted) {
		*status = CMDS_INTERRUPTED;
		return error_new("interrupted; the runs until then are recorded");
	}
	TRY(learn(&options, store, path));
	cmds_world_tell("learn", &world, false);
	return NULL;
}

const struct verb verb_learn = { .page = &page, .main = learn_main };
