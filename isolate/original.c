/* The failing run that everything starts from: given, met at once or hunted for, made short,
 * and run once more with values followed and accesses traced.
 */
#include "isolate/isolate.h"

#include <stdlib.h>

#include "loom/hunt.h"
#include "loom/reduce.h"
#include "loom/watch.h"

#define WAIT_S 0.1
#define LONG_PART \
	4 /* of the time-out, after which a run is looked at: the program on its own gets all of it */
#define QUIET_READS 2000000 /* reads in a run that is known to hang: then the thread goes round and round */

bool isolate_hangs(enum outcome outcome)
{
	return outcome == OUTCOME_DEADLOCK || outcome == OUTCOME_LOST_WAKEUP || outcome == OUTCOME_LIVELOCK ||
	       outcome == OUTCOME_TIMEOUT;
}

bool isolate_fails(const struct isolate_options *options, enum outcome outcome, enum label label)
{
	return outcome == OUTCOME_SIGNAL || outcome == OUTCOME_MEMORY || isolate_hangs(outcome) ||
	       (options->watch && label == LABEL_FAIL);
}

/* Looks for a run that fails. */
static struct error *hunt_failure(const struct isolate_options *options, struct isolation *out, uint64_t seed,
				  double deadline, struct run *failed)
{
	const struct hunt_options hunting = {
		.launch = options->launch, .jobs = options->jobs, .seed = seed, .arms = EXPLORE_ALL
	};
	_cleanup_(hunt_stopp) struct hunt *hunt = NULL;
	bool done = false;

	isolate_say(options, ISOLATE_HUNTING);
	TRY(hunt_start(&hunting, &out->original, &hunt));
	while (!done && !failed->schedule.nturns && !isolate_is_over(options, deadline) &&
	       !(options->hunt_most && out->runs.hunt >= options->hunt_most)) {
		struct hunt_result result = { 0 };
		bool got = false;

		TRY(hunt_next(hunt, WAIT_S, &result, &got, &done));
		if (!got)
			continue;
		out->runs.hunt++;
		if (result.report.harvested &&
		    isolate_fails(options, result.report.outcome, result.report.label)) {
			*failed = result.report.run;
			result.report.run = (struct run){ 0 };
		}
		steer_report_free(&result.report);
	}
	return NULL;
}

#define HUNT_SHARE 4    /* of the time: by chance first, */
#define PROVOKE_SHARE 3 /* then by force, then by chance again */
static struct error *find_failure(const struct isolate_options *options, struct isolation *out, uint64_t seed,
				  double deadline, struct run *failed)
{
	double began = watch_now(), whole = deadline - began;

	TRY(hunt_failure(options, out, seed, began + whole / HUNT_SHARE, failed));
	if (failed->schedule.nturns)
		return NULL;
	isolate_say(options, ISOLATE_PROVOKING);
	TRY(isolate_provoke(options, out, watch_now() + whole / PROVOKE_SHARE, failed));
	if (failed->schedule.nturns)
		return NULL;
	return hunt_failure(options, out, seed + 1, deadline, failed);
}

#define REDUCE_TRIES 200
#define REDUCE_SHARE 4 /* of the time that is left */

/* The fewest switches of threads that still crash: then an access that is moved has nothing else to disturb. */
static struct error *shorten(const struct isolate_options *options, const struct run *failed, double deadline,
			     struct schedule *out)
{
	const struct reduce_watch watch = { .stop = options->stop };
	double seconds = (deadline - watch_now()) / REDUCE_SHARE;
	struct steer *steer = NULL;

	isolate_say(options, ISOLATE_SHORTENING);
	TRY(steer_start(options->launch, options->jobs, &steer));
	struct error *error = reduce_steered(steer, failed, REDUCE_TRIES, seconds, &watch, out);

	steer_stop(steer);
	return error;
}

static bool has_failed(const struct isolate_options *options, const struct isolation *out)
{
	return isolate_fails(options, out->original.outcome, out->original.label);
}

static bool was_ended(const struct isolation *out)
{
	return out->original.outcome == OUTCOME_SLOW || out->original.outcome == OUTCOME_TIMEOUT;
}

static struct error *run_traced(const struct launch_options *launch, struct isolation *out,
				struct channel *channel, const struct schedule *schedule)
{
	run_free(&out->original);
	out->original = (struct run){ 0 };
	return channel_run(channel, launch, schedule, true, &out->original);
}

/* Does the program, on its own, run for as long as the user takes for a hang? */
static struct error *hangs_alone(const struct isolate_options *options, const struct isolation *out,
				 bool *hangs)
{
	_cleanup_(run_free) struct run run = { 0 };
	struct launch_options launch = *options->launch;

	*hangs = false;
	if (out->deadline - watch_now() < launch.timeout_s)
		return NULL;
	launch.loom = LOOM_COMPILED; /* hooks or not: as it is */
	launch.control = (struct area_control){ .policy = POLICY_FREE };
	isolate_say(options, ISOLATE_ALONE);
	TRY(launch_run(&launch, &run));
	*hangs = run.outcome == OUTCOME_TIMEOUT;
	return NULL;
}

/* A run that was ended because it took long was perhaps only slow: values that are followed cost time. */
static struct error *check_length(const struct isolate_options *options, struct isolation *out,
				  const struct channel *channel)
{
	bool hangs;

	if (!channel->area->too_long)
		return NULL;
	TRY(hangs_alone(options, out, &hangs));
	out->runs.hunt++;
	if (!hangs)
		out->original.outcome = OUTCOME_SLOW;
	return NULL;
}

/* A run that was ended from outside, once more, to see whether it goes round and round: by what it does, so it gets
 * more time than before. */
#define LONGER 10
static struct error *run_until_quiet(const struct isolate_options *options, struct isolation *out,
				     struct channel *channel)
{
	struct launch_options launch = *options->launch;

	double left = out->deadline - watch_now();

	if (left <= launch.timeout_s)
		return NULL;
	launch.timeout_s = launch.timeout_s * LONGER < left ? launch.timeout_s * LONGER : left;
	out->runs.hunt++;
	channel->area->quiet_most = QUIET_READS;
	channel->area->longest_ms = 0;
	return run_traced(&launch, out, channel, options->schedule);
}

static struct error *follow_run(const struct isolate_options *options, struct isolation *out,
				struct channel *channel, const struct schedule *from,
				struct schedule *schedule)
{
	isolate_say(options, ISOLATE_FOLLOWING);
	schedule_free(schedule);
	*schedule = schedule_copy(from);
	return run_traced(options->launch, out, channel, schedule);
}

/* Looks for a failure and follows it: by its shortest schedule, or where that leads elsewhere, by its own. */
static struct error *hunt_once(const struct isolate_options *options, struct isolation *out,
			       struct channel *channel, uint64_t seed, double deadline,
			       struct schedule *schedule)
{
	_cleanup_(run_free) struct run failed = { 0 };

	TRY(find_failure(options, out, seed, deadline, &failed));
	if (!failed.schedule.nturns)
		return NULL;
	if (options->trail_only) { /* nothing is to be moved in it, so it need not be short */
		TRY(follow_run(options, out, channel, &failed.schedule, schedule));
		if (has_failed(options, out))
			return NULL;
	}
	schedule_free(schedule);
	*schedule = (struct schedule){ 0 };
	TRY(shorten(options, &failed, deadline, schedule));
	isolate_say(options, ISOLATE_FOLLOWING);
	TRY(run_traced(options->launch, out, channel, schedule));
	if (has_failed(options, out) || options->trail_only)
		return NULL;
	return follow_run(options, out, channel, &failed.schedule, schedule);
}

struct error *isolate_original(const struct isolate_options *options, struct isolation *out,
			       struct channel *channel, double deadline, struct schedule *schedule)
{
	if (options->schedule)
		*schedule = schedule_copy(options->schedule);
	isolate_say(options, ISOLATE_RUNNING);
	channel->area->longest_ms = (uint64_t)(options->launch->timeout_s * 1000 / LONG_PART);
	TRY(run_traced(options->launch, out, channel, options->schedule));
	TRY(check_length(options, out, channel));
	if (was_ended(out))
		TRY(run_until_quiet(options, out, channel));
	if (!has_failed(options, out) && !options->schedule && out->original.schedule.nturns &&
	    out->original.observations.nthreads > 1) {
		out->others_pass = true;
		out->runs.hunt++;
		for (uint64_t seed = options->seed;
		     !has_failed(options, out) && !isolate_is_over(options, deadline); seed += 2) {
			schedule_free(schedule);
			*schedule = (struct schedule){ 0 };
			TRY(hunt_once(options, out, channel, seed, deadline, schedule));
			if (!schedule->nturns) /* nothing failed */
				break;
		}
	}
	if (has_failed(options, out) && !schedule->nturns)
		*schedule = schedule_copy(&out->original.schedule);
	out->runs.original = has_failed(options, out);
	if (out->runs.original && options->watch && out->original.outcome == OUTCOME_EXIT &&
	    channel->area->failure.kind != FAILED_WATCH)
		return error_new("nothing that the program reads from memory at %s was seen in the failing "
				 "run: give a "
				 "line that is executed and where the wrong value is read",
				 options->watch);
	return NULL;
}
