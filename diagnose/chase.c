/* Takes the results of a hunt as they come, counts all and records those worth it.
 */
#include "diagnose/chase.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/progress.h"
#include "diagnose/doubt.h"
#include "diagnose/retell.h"
#include "diagnose/tally_schedule.h"
#include "loom/reduce.h"
#include "loom/watch.h"
#include "report/diagnosis_words.h"
#include "report/tally_words.h"

#define WAIT_S 0.1    /* how often the progress bar is looked after */
#define PATIENCE 1000 /* schedules after a failure in which enough others have to pass */
#define REDUCE_TRIES 6000
#define SLOW_MOST 8 /* schedules that are too slow: if none was quick enough by then, none will be */

struct chase {
	struct chase_options options;
	struct launch_options launch; /* the same with the patience that this program needs */
	struct doubt doubt;
	struct store *store;
	struct hunt *hunt;
	struct tally *tally;
	struct map hashes; /* of schedules that are recorded */
	double started, found;
	uint64_t near; /* runs that chase_shorten may still record */
};

static bool is_stopped(const struct chase *chase)
{
	return chase->options.stop && chase->options.stop();
}

/* Records a run unless one with the same schedule is recorded already. */
static struct error *record(struct chase *chase, struct run *run, uint64_t hash, bool *recorded)
{
	bool fresh;

	*recorded = false;
	map_put(&chase->hashes, hash ^ (uint64_t)run->label, &fresh);
	if (!fresh)
		return NULL;
	TRY(store_add(chase->store, chase->tally->campaign, run));
	*recorded = true;
	return NULL;
}

/* The search saves itself the more costly observations. The failure is followed once more with all of
 * them; should it go astray, what is there must do. */
static struct error *observe_wholly(struct chase *chase, struct run *run)
{
	struct launch_options options = retell_strictly(&chase->launch, &run->schedule);
	_cleanup_(run_free) struct run again = { 0 };

	options.control.carry = 1;
	if (chase->hunt)
		options.server = hunt_server(chase->hunt);
	TRY(launch_run(&options, &again));
	if (again.outcome == run->outcome && again.code == run->code && again.schedule.nturns &&
	    schedule_hash(again.schedule.turns, again.schedule.nturns) ==
		    schedule_hash(run->schedule.turns, run->schedule.nturns)) {
		struct observations swap = run->observations;

		run->observations = again.observations;
		again.observations = swap;
	}
	return NULL;
}

static struct error *take(struct chase *chase, struct steer_report *report, const char *arm)
{
	struct tally *tally = chase->tally;
	bool failed = report->label == LABEL_FAIL, recorded = false;
	bool wanted =
		failed ? tally->recorded_failed < tally->failures : tally->recorded_passed < tally->passes;

	if (failed && !tally->found && report->harvested)
		TRY(doubt_hang(&chase->doubt, &chase->launch, report));
	failed = report->label == LABEL_FAIL;
	if (chase->hunt)
		hunt_patience(chase->hunt, chase->doubt.still_points);
	tally_add(tally, report, arm);
	if (report->outcome == OUTCOME_SLOW)
		return NULL;
	if (wanted && report->harvested && failed && report->light)
		TRY(observe_wholly(chase, &report->run));
	if (wanted && report->harvested)
		TRY(record(chase, &report->run, report->hash, &recorded));
	if (recorded)
		failed ? tally->recorded_failed++ : tally->recorded_passed++;
	if (failed && !tally->found) {
		tally->found = true;
		tally->failure_at = tally->schedules;
		tally->failure = report->run;
		chase->found = watch_now();
		report->run = (struct run){ 0 };
	}
	return NULL;
}

/* Whether nothing more is to be learnt. */
static bool is_enough(const struct chase *chase)
{
	const struct chase_options *options = &chase->options;
	const struct tally *tally = chase->tally;

	if (options->seconds > 0 && watch_now() - chase->started >= options->seconds)
		return true;
	if (!tally->found && !tally->passed && tally->slow >= SLOW_MOST)
		return true;
	if (options->keep_going)
		return false;
	if (!tally->found)
		return tally_lacks_choice(tally);
	if (options->patience_s > 0 && watch_now() - chase->found >= options->patience_s)
		return true;
	if (!tally->passed && tally->failed >= TALLY_ALIKE)
		return true;
	return tally->recorded_passed >= tally->passes ||
	       tally->schedules - tally->failure_at >= PATIENCE + 10 * tally->passes;
}

static void show(struct chase *chase, struct progress *progress)
{
	double seconds = watch_now() - chase->started;
	struct hunt_seen seen = hunt_seen(chase->hunt);
	_cleanup_free_ char *words = tally_words(chase->tally, seen.pairs, seconds);

	progress_show(progress, chase->options.schedules ? chase->tally->schedules : (uint64_t)seconds,
		      words);
}

static struct error *follow(struct chase *chase)
{
	const struct chase_options *options = &chase->options;
	struct tally *tally = chase->tally;
	_cleanup_(progress_stopp) struct progress *progress = progress_start(
		STDERR_FILENO, options->schedules ? options->schedules : (uint64_t)options->seconds);
	bool done = false;

	while (!done && !is_stopped(chase) && !is_enough(chase)) {
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
		hunt_keep(chase->hunt, tally->recorded_passed < tally->passes);
		hunt_spare(chase->hunt, tally->found && tally->recorded_failed >= tally->failures);
	}
	tally->interrupted = is_stopped(chase);
	return NULL;
}

static double own_cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct error *chase_follow(struct chase *chase)
{
	double before = own_cpu_s();
	struct tally *tally = chase->tally;
	struct error *error = follow(chase);
	struct hunt_seen seen = hunt_seen(chase->hunt);

	if (!error && tally->found && !tally->passed && !is_stopped(chase)) {
		error = doubt_plain(&chase->doubt, &chase->launch);
		tally->plain_passes = chase->doubt.passes;
	}
	tally->wall_s = watch_now() - chase->started;
	tally->cpu_s += own_cpu_s() - before;
	tally->pairs = seen.pairs;
	tally->predecessors = seen.predecessors;
	tally->edges = seen.edges;
	return error;
}

/* A run that passed while the failing one was made short. */
static struct error *keep_near(void *context, struct run *run, uint64_t hash)
{
	struct chase *chase = context;
	bool recorded = false;

	if (!chase->near || run->outcome == OUTCOME_SLOW)
		return NULL;
	TRY(record(chase, run, hash, &recorded));
	chase->near -= recorded;
	chase->tally->recorded_passed += recorded;
	return NULL;
}

struct error *chase_shorten(struct chase *chase, double seconds, uint64_t near)
{
	struct tally *tally = chase->tally;
	const struct reduce_watch watch = { .stop = chase->options.stop,
					    .passed = near ? keep_near : NULL,
					    .context = chase };
	struct steer *steer;

	if (!tally->found || !tally->failure.number || is_stopped(chase) || !tally->failure.schedule.nturns)
		return NULL;
	_cleanup_(progress_stopp) struct progress *progress = progress_start(STDERR_FILENO, 1);

	progress_show(progress, 0, diagnosis_stage_words(DIAGNOSIS_SHORTENING));
	chase->near = near;
	TRY(hunt_steer(chase->hunt, &steer));
	TRY(reduce_steered(steer, &tally->failure, REDUCE_TRIES, seconds, &watch, &tally->failure.reduced));
	return store_reduce(chase->store, tally->failure.number, &tally->failure.reduced);
}

struct error *chase_measure(struct chase *chase, double seconds, struct windows *out)
{
	const struct run *failure = &chase->tally->failure;
	struct steer *steer;

	if (!failure->reduced.nturns || is_stopped(chase))
		return NULL;
	_cleanup_(progress_stopp) struct progress *progress = progress_start(STDERR_FILENO, 1);

	progress_show(progress, 0, diagnosis_stage_words(DIAGNOSIS_MOVING_BAR));
	TRY(hunt_steer(chase->hunt, &steer));
	return windows_steered(steer, failure, &failure->reduced, seconds, chase->options.stop, out);
}

static struct error *begin(struct chase *chase)
{
	const struct chase_options *options = &chase->options;
	_cleanup_(run_free) struct run first = { 0 };
	const struct hunt_options hunt = {
		.launch = &chase->launch,
		.jobs = options->jobs,
		.seed = options->seed,
		.arms = options->arms,
		.claim = options->claim,
		.focus = options->focus,
		.nfocus = options->nfocus,
		.focus_every = options->focus_every,
		.keep = chase->tally->passes > 0,
		.budget = options->schedules > 1 ? options->schedules - 1 : options->schedules,
	};

	struct launch_options launch = chase->launch;

	if (options->claim)
		launch.control.claim = *options->claim;
	TRY(doubt_first(&chase->doubt, &launch, &first));
	launch.control.claim = chase->launch.control.claim;
	chase->launch = launch;
	TRY(tally_check(&first, chase->tally->program));
	TRY(hunt_start(&hunt, &first, &chase->hunt));
	struct steer_report report = { .label = first.label,
				       .outcome = first.outcome,
				       .code = first.code,
				       .contested = first.schedule.contested,
				       .hash = schedule_hash(first.schedule.turns, first.schedule.nturns),
				       .harvested = true,
				       .claim = first.schedule.counts,
				       .run = first };

	first = (struct run){ 0 };
	struct error *error = take(chase, &report, "stay");

	steer_report_free(&report);
	return error;
}

struct error *chase_start(const struct chase_options *options, struct store *store, struct tally *tally,
			  struct chase **out)
{
	_cleanup_(chase_stopp) struct chase *chase = memory_alloc(sizeof *chase);

	chase->options = *options;
	chase->launch = *options->launch;
	chase->store = store;
	chase->tally = tally;
	chase->started = watch_now();
	/* On the binary loom a failing one says nothing of the program without Valgrind. */
	if (options->plain && (options->plain->label == LABEL_PASS || chase->launch.loom != LOOM_BINARY))
		doubt_take_plain(&chase->doubt, options->plain);
	TRY(begin(chase));
	*out = chase;
	chase = NULL;
	return NULL;
}

struct steer *const *chase_server(const struct chase *chase)
{
	return hunt_server(chase->hunt);
}

struct error *chase_steer(struct chase *chase, struct steer **out)
{
	return hunt_steer(chase->hunt, out);
}

void chase_stop(struct chase *chase)
{
	if (!chase)
		return;
	hunt_stop(chase->hunt);
	map_free(&chase->hashes);
	free(chase);
}

void chase_stopp(struct chase **chase)
{
	chase_stop(*chase);
}
