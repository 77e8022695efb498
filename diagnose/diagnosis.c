/* The stages, and how they share the time.
 */
#include "diagnose/diagnosis.h"

#include <stdlib.h>

#include "diagnose/told_callers.h"
#include "diagnose/judge.h"
#include "loom/watch.h"

#define WAIT_S 0.1
#define PASSES 100 /* runs to compare with */
#define REPLAYS 5
#define CAUSES_KEPT 16 /* that can be forced and forbidden later */
#define CAUSES_TOLD 3  /* of these the run is asked for more: heap blocks, locks, callers */

/* Shares of the whole time. What a stage leaves goes to the next. */
#define HUNT_SHARE 0.95     /* as long as nothing has failed there is nothing else to do */
#define HUNT_CRASHED 0.8    /* unless it crashes without control: isolate is to follow that */
#define PATIENCE_SHARE 0.25 /* for passing runs once something has */
#define PATIENCE_MOST 15.0  /* seconds */
#define REPLAY_SHARE 0.1
#define SHORTEN_SHARE 0.2
#define JUDGE_SHARE 0.4
#define MEASURE_SHARE 0.1
#define MEASURE_MOST 3.0
#define SHORTEN_MOST 6.0 /* seconds: what is short is found early or not at all */
#define LATE_SHARE 0.15  /* what may be added for a failure that was found late */

/* With a budget in schedules nothing is cut by time, and experiments have so many runs for each schedule. */
#define EXPERIMENT_TIMES 8u
#define FOREVER_S 1e6

/* Forced switches of the shortest schedule from which on no few accesses explain it: LOCON's widest kind, two
 * variables in two threads, needs three. */
#define TIMING_SWITCHES 100

static void say(const struct diagnosis *diagnosis, enum diagnosis_stage now)
{
	if (diagnosis->options->stage)
		diagnosis->options->stage(now);
}

static bool is_stopped(const struct diagnosis *diagnosis)
{
	return diagnosis->options->stop && diagnosis->options->stop();
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* Seconds for a stage: its share, but not more than is left of all, with what may be added to it. */
static double seconds_for(const struct diagnosis *diagnosis, double share)
{
	if (diagnosis->options->schedules)
		return FOREVER_S;
	double whole = diagnosis->options->time_s,
	       left = diagnosis->deadline + whole * LATE_SHARE - watch_now();

	return least(whole * share, left > 0 ? left : 0);
}

/* Also the order in which their findings stand that no experiment could try. */
static const struct method *const methods[] = {
	&method_waits,  &method_memory,          &method_isolate,  &method_fault, &method_wakes,
	&method_locate, &method_locate_shortest, &method_switches, &method_rank,  &method_candidates,
};

/* A failure that needs so many switches hangs on how long things take, not on an order of a few accesses. */
static bool depends_on_timing(const struct diagnosis *diagnosis)
{
	const struct run *failure = &diagnosis->tally.failure;

	return failure->outcome != OUTCOME_DEADLOCK && failure->outcome != OUTCOME_LOST_WAKEUP &&
	       failure->outcome != OUTCOME_MEMORY &&
	       schedule_preemptions(failure->reduced.turns, failure->reduced.nturns) >= TIMING_SWITCHES;
}

/* Alone, as the user would start it: does the oracle like it? */
static struct error *run_plain(struct diagnosis *diagnosis)
{
	struct launch_options launch = diagnosis->launch;
	struct launch_pool *pool = NULL;
	struct error *error = NULL;
	bool done = false;

	say(diagnosis, DIAGNOSIS_PLAIN);
	launch.control = (struct area_control){ .policy = POLICY_FREE };
	TRY(launch_pool_start(&launch, 1, 1, &pool));
	while (!error && !done && !diagnosis->has_plain && !is_stopped(diagnosis))
		error = launch_pool_next(pool, WAIT_S, &diagnosis->plain, &diagnosis->has_plain, &done);
	launch_pool_stop(pool);
	return error;
}

bool diagnosis_crashed_plainly(const struct diagnosis *diagnosis)
{
	return diagnosis->has_plain && diagnosis->plain.label == LABEL_FAIL &&
	       diagnosis->plain.outcome == OUTCOME_SIGNAL;
}

static struct error *hunt(struct diagnosis *diagnosis, double deadline, struct chase **chase)
{
	const struct diagnosis_options *options = diagnosis->options;
	double left = deadline - watch_now();
	const struct chase_options chasing = {
		.launch = &diagnosis->launch,
		.jobs = options->jobs,
		.arms = EXPLORE_ALL,
		.seed = options->seed,
		.schedules = options->schedules,
		.seconds = options->schedules ? 0
			   : left > 0
				   ? left * (diagnosis_crashed_plainly(diagnosis) ? HUNT_CRASHED : HUNT_SHARE)
				   : 0.1,
		.patience_s = options->schedules ? 0 : least(options->time_s * PATIENCE_SHARE, PATIENCE_MOST),
		.plain = diagnosis->has_plain ? &diagnosis->plain : NULL,
		.stop = options->stop,
	};

	say(diagnosis, DIAGNOSIS_HUNTING);
	TRY(chase_start(&chasing, diagnosis->store, &diagnosis->tally, chase));
	TRY(chase_follow(*chase));
	diagnosis->always = diagnosis->tally.found && !diagnosis->tally.passed;
	return NULL;
}

/* Seconds for a stage that needs few as a rule: a share, and a limit. */
static double short_while(const struct diagnosis *diagnosis, double share, double most)
{
	double seconds = seconds_for(diagnosis, share);

	return diagnosis->options->schedules ? seconds : least(seconds, most);
}

static struct error *replay(struct diagnosis *diagnosis)
{
	const struct diagnosis_options *options = diagnosis->options;
	const struct schedule *schedule = &diagnosis->tally.failure.schedule;

	if (is_stopped(diagnosis) || !schedule->nturns)
		return NULL;
	say(diagnosis, DIAGNOSIS_REPLAYING);
	return replays_do(&diagnosis->launch, schedule, options->jobs, REPLAYS,
			  seconds_for(diagnosis, REPLAY_SHARE), options->stop, &diagnosis->replays);
}

static const struct schedule *shortest_of(const struct diagnosis *diagnosis)
{
	const struct run *failure = &diagnosis->tally.failure;

	return failure->reduced.nturns ? &failure->reduced : &failure->schedule;
}

/* Traces the shortest run and records it as a failed run of its own, to be compared. */
static struct error *retell_shortest(struct diagnosis *diagnosis, const struct chase *chase)
{
	const struct run *failure = &diagnosis->tally.failure;
	const struct schedule *schedule = shortest_of(diagnosis);
	struct retold *retold = &diagnosis->retold;
	struct launch_options launch = diagnosis->launch;

	launch.server = chase_server(chase);
	if (is_stopped(diagnosis) || !schedule->nturns)
		return NULL;
	say(diagnosis, DIAGNOSIS_TRACING);
	TRY(retell(&launch, schedule, retold));
	diagnosis->has_story = true;
	if (!retold->story.traced)
		return NULL;
	diagnosis->trace = (struct trace){ .run = &retold->run.observations, .atlas = &retold->atlas };
	if (failure->reduced.nturns)
		TRY(experiment_claims(&launch, schedule, retold, &diagnosis->windows, &diagnosis->claims));
	if (diagnosis->claims.n && diagnosis->claims.items[0].measured && failure->number)
		TRY(store_claim(diagnosis->store, failure->number, &diagnosis->claims));
	if (!failure->reduced.nturns || retold->run.label != LABEL_FAIL)
		return NULL;
	TRY(store_add(diagnosis->store, diagnosis->tally.campaign, &retold->run));
	diagnosis->shortest = retold->run.number;
	return NULL;
}

/* What is known of the accesses of the causes that are told. */
static void name_accesses(struct diagnosis *diagnosis, const struct chase *chase)
{
	struct launch_options launch = diagnosis->launch;
	struct finding *findings[CAUSES_TOLD];
	size_t n = 0;

	for (; n < diagnosis->causes.n && n < CAUSES_TOLD; n++) {
		findings[n] = diagnosis->causes.items[n].finding;
		trace_name_blocks(&diagnosis->trace, findings[n]);
		trace_name_accesses(&diagnosis->trace, findings[n]);
	}
	if (!diagnosis->trace.run || is_stopped(diagnosis) || watch_now() > diagnosis->deadline)
		return;
	launch.server = chase_server(chase);
	/* The answer stands without them. */
	error_free(callers_name(&launch, shortest_of(diagnosis), diagnosis->trace.run, findings, n));
}

/* All methods also after Ctrl-C: they only compute, and what is known is wanted. */
static struct error *explain(struct diagnosis *diagnosis, struct chase *chase)
{
	say(diagnosis, DIAGNOSIS_EXPLAINING);
	if (!diagnosis->has_story)
		atlas_read_file(&diagnosis->retold.atlas, diagnosis->options->program);
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		struct opinion opinion = methods[i]->head;

		struct error *error = methods[i]->ask(diagnosis, &opinion);

		for (size_t f = 0; f < opinion.findings.n; f++)
			finding_settle(&opinion.findings.items[f]);
		*VEC_PUSH(&diagnosis->opinions) = opinion;
		if (error)
			return error;
	}
	say(diagnosis, DIAGNOSIS_PROVING);
	TRY(judge(diagnosis, chase, watch_now() + seconds_for(diagnosis, JUDGE_SHARE),
		  diagnosis->options->schedules * EXPERIMENT_TIMES));
	/* Something was not under control: what was seen may not come again. */
	for (size_t i = 0; i < diagnosis->causes.n; i++)
		if (diagnosis->replays.identical < diagnosis->replays.runs &&
		    diagnosis->causes.items[i].verdict == VERDICT_PROVEN)
			diagnosis->causes.items[i].verdict = VERDICT_LIKELY;
	name_accesses(diagnosis, chase);
	return NULL;
}

static struct error *keep_causes(const struct diagnosis *diagnosis)
{
	struct claim claims[CAUSES_KEPT] = { 0 };
	size_t kept = diagnosis->causes.n < CAUSES_KEPT ? diagnosis->causes.n : CAUSES_KEPT;

	for (size_t i = 0; i < kept; i++)
		claims[i] = diagnosis->causes.items[i].claim;
	return store_causes(diagnosis->store, diagnosis->tally.campaign, claims, kept);
}

/* The stages that run the program. */
static struct error *run_stages(struct diagnosis *diagnosis)
{
	const struct diagnosis_options *options = diagnosis->options;
	_cleanup_(chase_stopp) struct chase *chase = NULL;

	diagnosis->deadline = watch_now() + options->time_s;

	TRY(run_plain(diagnosis));
	if (is_stopped(diagnosis))
		return NULL;
	TRY(hunt(diagnosis, diagnosis->deadline, &chase));
	if (!diagnosis->tally.found) {
		crash_trail_follow(diagnosis);
		return NULL;
	}
	TRY(replay(diagnosis));
	if (!diagnosis->always && !is_stopped(diagnosis)) {
		say(diagnosis, DIAGNOSIS_SHORTENING);
		TRY(chase_shorten(chase, short_while(diagnosis, SHORTEN_SHARE, SHORTEN_MOST), CHASE_NEAR));
		say(diagnosis, DIAGNOSIS_MOVING);
		TRY(chase_measure(chase, short_while(diagnosis, MEASURE_SHARE, MEASURE_MOST),
				  &diagnosis->windows));
	}
	TRY(retell_shortest(diagnosis, chase));
	diagnosis->timing = depends_on_timing(diagnosis);
	if (!diagnosis->timing)
		TRY(explain(diagnosis, chase));
	crash_trail_follow(diagnosis);
	return keep_causes(diagnosis);
}

struct error *diagnose(const struct diagnosis_options *options, struct diagnosis *out)
{
	double started = watch_now();

	*out = (struct diagnosis){
		.options = options,
		.launch = { .loom = options->loom,
			    .path = options->program,
			    .only = options->only,
			    .argv = options->argv,
			    .area = { .observe = OBSERVE_ALL, .context = 5, .seed = options->seed },
			    .control = { .policy = POLICY_STAY, .carry = 1 },
			    .still = true,
			    .timeout_s = options->timeout_s,
			    .world = options->world,
			    .expect = options->expect,
			    .check = options->check },
		.tally = { .passes = PASSES,
			   .failures = TALLY_FAILURES,
			   .seed = options->seed,
			   .build = options->build,
			   .store = options->store,
			   .program = options->program,
			   .arguments = options->argv + 1 },
	};
	TRY(store_open(options->store, true, &out->store));
	TRY(store_campaign(out->store, options->program, options->argv + 1, options->build,
			   &out->tally.campaign));
	struct error *error = run_stages(out);

	out->interrupted = is_stopped(out);
	if (error && out->interrupted) { /* a run that was cut short is no mistake */
		error_free(error);
		error = NULL;
	}
	out->wall_s = watch_now() - started;
	return error;
}

void diagnosis_free(struct diagnosis *diagnosis)
{
	free(diagnosis->trail.why);
	causes_free(&diagnosis->causes);
	VEC_FREE(&diagnosis->claims);
	windows_free(&diagnosis->windows);
	opinions_free(&diagnosis->opinions);
	retold_free(&diagnosis->retold);
	tally_free(&diagnosis->tally);
	run_free(&diagnosis->plain);
	store_close(diagnosis->store);
}
