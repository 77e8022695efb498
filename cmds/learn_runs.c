/* The runs of unsnarl learn: free runs with predecessors, recorded as any others, until
 * the sets have converged; and traced ones, that tell who shares memory with whom.
 */
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"
#include "cmds/cmds.h"
#include "cmds/learn.h"

#define WAIT_S 0.1
#define ROUND 10u /* runs of one policy */
#define TRACES_LEAST 3u
#define TRACING_S 5.0 /* in all, but for these */
#define TRACED_S 20.0 /* a trace holds four million events: what comes later is not kept */

/* What passing runs had, as numbers of interned predecessors; and how many of the last ones had nothing more. These are
 * as exact as sets or finer, so what is quiet here is quiet there. What failed runs had is not known by that. */
struct quiet {
	roaring_bitmap_t *known;
	uint64_t runs;
};

static struct error *look(struct store *store, const struct run *run, struct quiet *quiet)
{
	roaring_bitmap_t *had = NULL;

	if (run->label != LABEL_PASS)
		return NULL;
	TRY(store_predecessor_set(store, run->number, &had));
	quiet->runs = roaring_bitmap_is_subset(had, quiet->known) ? quiet->runs + 1 : 0;
	roaring_bitmap_or_inplace(quiet->known, had);
	roaring_bitmap_free(had);
	return NULL;
}

struct series {
	struct store *store;
	uint64_t campaign;
	struct learn_runs *runs;
	struct progress *progress;
	struct quiet quiet;
};

static bool is_enough(const struct series *series)
{
	const struct learn_runs *runs = series->runs;
	bool hopeless =
		runs->done == runs->failed && runs->done > TRAINING_QUIET; /* and only passing runs teach */

	return runs->done >= runs->most || cmds_interrupted() ||
	       (runs->until_converged && (series->quiet.runs > TRAINING_QUIET || hopeless));
}

/* The runs of one pool. */
static struct error *drain(struct series *series, struct launch_pool *pool)
{
	bool done = false;

	while (!done && !is_enough(series)) {
		_cleanup_(run_free) struct run run = { 0 };
		_cleanup_free_ char *words = memory_format("%llu in a row taught nothing new",
							   (unsigned long long)series->quiet.runs);
		bool got = false;

		progress_show(series->progress, series->runs->done, words);
		TRY(launch_pool_next(pool, WAIT_S, &run, &got, &done));
		if (!got)
			continue;
		TRY(store_add(series->store, series->campaign, &run));
		TRY(look(series->store, &run, &series->quiet));
		series->runs->done++;
		series->runs->failed += run.label == LABEL_FAIL;
	}
	return NULL;
}

/* Controlled runs take the policies in turn: each shows interleavings that others rarely do; that of clocks those of
 * free runs. */
static struct area_control policy_of(uint64_t round)
{
	static const struct area_control policies[] = {
		{ .policy = POLICY_POS, .everywhere = 1 },
		{ .policy = POLICY_CLOCK, .everywhere = 1 },
		{ .policy = POLICY_RANDOM, .everywhere = 1 },
		{ .policy = POLICY_PCT, .depth = 3, .everywhere = 1 },
	};

	return policies[round % (sizeof policies / sizeof *policies)];
}

struct error *learn_run(struct store *store, const struct launch_options *launch, uint64_t build,
			struct learn_runs *runs)
{
	_cleanup_(progress_stopp) struct progress *progress = progress_start(STDERR_FILENO, runs->most);
	struct series series = { .store = store, .runs = runs, .progress = progress };
	struct launch_options options = *launch;
	struct error *error = NULL;

	TRY(store_campaign(store, launch->path, launch->argv + 1, build, &series.campaign));
	cmds_catch_interrupts();
	series.quiet.known = roaring_bitmap_create();
	for (uint64_t round = 0; !error && !is_enough(&series); round++) {
		struct launch_pool *pool = NULL;
		uint64_t left = runs->most - runs->done;

		if (!runs->free) {
			options.control = policy_of(round);
			options.still = true;
		}
		options.area.seed = launch->area.seed + round * ROUND;
		error = launch_pool_start(&options, (unsigned)runs->jobs, left < ROUND ? left : ROUND, &pool);
		if (!error)
			error = drain(&series, pool);
		launch_pool_stop(pool);
	}
	roaring_bitmap_free(series.quiet.known);
	runs->interrupted = cmds_interrupted();
	return error;
}

struct error *learn_witnesses(struct store *store, const struct launch_options *launch, uint64_t build,
			      struct learn_runs *runs, uint64_t n)
{
	struct learn_runs witnesses = { .most = n, .free = true, .jobs = runs->jobs, .store = runs->store };

	if (runs->free || !runs->failed || runs->interrupted)
		return NULL;
	TRY(learn_run(store, launch, build, &witnesses));
	runs->interrupted = witnesses.interrupted;
	return NULL;
}

static struct error *trace_once(const struct launch_options *launch, struct training *training,
				double *spent_s)
{
	_cleanup_(run_free) struct run run = { 0 };
	_cleanup_(atlas_free) struct atlas atlas = { 0 };

	TRY(launch_run(launch, &run));
	*spent_s += run.wall_s;
	atlas_read(&atlas, &run.observations);
	if (run.label == LABEL_PASS)
		training_trace(training, &run.observations, &atlas);
	return NULL;
}

/* The campaign's command line, for traced runs; false when its program is another one by now, or gone. */
static bool command_of(const struct campaign *campaign, struct launch_options *launch, char **path,
		       char ***argv)
{
	size_t narguments = 0;
	uint64_t build;
	enum loom loom = LOOM_COMPILED;
	struct error *gone = launch_check(campaign->program, &loom, path, &build);

	if (gone || build != campaign->build) {
		error_free(gone);
		return false;
	}
	while (campaign->arguments && campaign->arguments[narguments])
		narguments++;
	*argv = memory_alloc((narguments + 2) * sizeof **argv);
	(*argv)[0] = campaign->program;
	for (size_t i = 0; i < narguments; i++)
		(*argv)[i + 1] = campaign->arguments[i];
	launch->path = *path;
	launch->argv = *argv;
	launch->area.observe = OBSERVE_TRACE;
	if (launch->timeout_s == 0 || launch->timeout_s > TRACED_S)
		launch->timeout_s = TRACED_S;
	return true;
}

struct error *learn_trace(const struct campaign *campaign, const struct launch_options *oracle, uint64_t n,
			  struct training *training)
{
	struct launch_options launch = *oracle;
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char **argv = NULL;

	if (!command_of(campaign, &launch, &path, &argv))
		return NULL; /* its runs taught what they could */
	double spent_s = 0;

	training->quiet = 0;
	for (uint64_t i = 0; !cmds_interrupted(); i++) {
		bool told = training->quiet >= TRAINING_QUIET && !training_asks_for_turns(training);
		bool enough = n != LEARN_TRACES_ENOUGH ? i >= n
						       : i >= TRACES_LEAST && (told || spent_s > TRACING_S);

		if (enough)
			break;
		launch.area.seed = oracle->area.seed + i;
		TRY(trace_once(&launch, training, &spent_s));
	}
	return NULL;
}

struct error *learn_anew(const struct campaign *campaign, const struct launch_options *oracle, uint64_t most,
			 struct training *training, const bool *chosen, struct recomputed *recomputed)
{
	struct launch_options launch = *oracle;
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char **argv = NULL;

	if (!command_of(campaign, &launch, &path, &argv))
		return error_new("%s is not the program any more that ran: run it again, so that sets can be "
				 "computed without what is left out",
				 campaign->program);
	recomputed->quiet = 0;
	for (uint64_t i = 0; i < most && recomputed->quiet < TRAINING_QUIET && !cmds_interrupted(); i++) {
		_cleanup_(run_free) struct run run = { 0 };
		_cleanup_(atlas_free) struct atlas atlas = { 0 };

		launch.control = policy_of(i);
		launch.still = true;
		launch.area.seed = oracle->area.seed + i;
		TRY(launch_run(&launch, &run));
		atlas_read(&atlas, &run.observations);
		if (run.label == LABEL_PASS)
			recomputed_add(recomputed, training, chosen, &run.observations, &atlas);
	}
	return NULL;
}
