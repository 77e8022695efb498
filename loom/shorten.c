/* Reduction on workers: tries are forked runs. What they may cost is counted in tries
 * and in points, so that the same failure gives the same result on a slow machine; the
 * time is a limit for programs that compute for long between their points.
 */
#include "loom/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "loom/watch.h"
#include "loom/window.h"

#define WAIT_S 0.5
#define BATCH 16u
#define SEARCHED_MOST 512u     /* runs of policies that switch seldom */
#define POINTS_MOST 200000000u /* of all tries */
#define RUN_POINTS 5000u       /* what a run costs besides its points, in points */
#define ALLOWED_LEAST 200000u  /* points of a single try */
#define WINDOW_TRIES 160u      /* of one forced switch */
#define ALLOWED_TIMES 4u       /* times the points of the failure */

struct steered {
	struct steer *steer;
	const struct run *failed;
	uint64_t index;
	uint64_t points; /* that may still be passed */
	double deadline; /* watch_now() */
	const struct reduce_watch *watch;
	struct point_sites *sites; /* of the failure: its turns are counted with these */
};

static bool is_stopped(const struct steered *steered)
{
	return steered->watch && steered->watch->stop && steered->watch->stop();
}

static bool is_over(const struct steered *steered)
{
	return !steered->points || watch_now() >= steered->deadline || is_stopped(steered);
}

static void pay(struct steered *steered, uint64_t points)
{
	points += RUN_POINTS;
	steered->points -= points < steered->points ? points : steered->points;
}

static struct error *note_passed(const struct steered *steered, struct steer_report *report)
{
	const struct reduce_watch *watch = steered->watch;

	if (!watch || !watch->passed || report->label != LABEL_PASS || !report->harvested)
		return NULL;
	return watch->passed(watch->context, &report->run, report->hash);
}

static uint64_t most_points(const struct schedule *known)
{
	return known->points * ALLOWED_TIMES + ALLOWED_LEAST;
}

static bool is_same(const struct run *failed, const struct steer_report *report)
{
	return report->label == LABEL_FAIL && report->outcome == failed->outcome &&
	       report->code == failed->code;
}

/* Waits for a report; *got stays false when it is not to be waited for any more. */
static struct error *await(struct steered *steered, struct steer_report *report, bool *got)
{
	*got = false;
	while (!*got && !is_stopped(steered))
		TRY(steer_take(steered->steer, WAIT_S, report, got));
	if (*got)
		pay(steered, report->points);
	return NULL;
}

static struct error *try_steered(void *context, const struct schedule_turn *plan, size_t n, bool *same,
				 struct schedule *took, bool *over)
{
	struct steered *steered = context;
	const struct run *failed = steered->failed;
	struct steer_order order = {
		.index = steered->index++,
		.policy = SCHEDULE_STAY,
		.seed = failed->schedule.seed,
		.plan = memory_alloc((n + 1) * sizeof *plan),
		.nplan = n,
		.sites = point_sites_hold(steered->sites),
		.keep = true,
		.light = !steered->watch || !steered->watch->passed,
		.most_points = most_points(&failed->schedule),
	};
	struct steer_report report;
	bool got;

	if (failed->schedule.claim)
		order.claim = *failed->schedule.claim;
	if (n)
		memcpy(order.plan, plan, n * sizeof *plan);
	TRY(steer_give(steered->steer, &order));
	TRY(await(steered, &report, &got));
	*over = is_over(steered);
	if (!got)
		return NULL;
	*same = is_same(failed, &report);
	struct error *error = note_passed(steered, &report);

	*took = report.run.schedule; /* what note_passed left of it */
	report.run.schedule = (struct schedule){ 0 };
	steer_report_free(&report);
	return error;
}

static struct error *give_batch(struct steered *steered, unsigned from)
{
	const struct schedule *known = &steered->failed->schedule;

	for (unsigned i = from; i < from + BATCH; i++) {
		struct steer_order order = {
			.index = steered->index++,
			.policy = SCHEDULE_PCT,
			.depth = 2 + i % 3,
			.seed = known->seed + i + 1,
			.sites = point_sites_hold(steered->sites),
			.light = true,
			.points = known->contested,
			.most_points = most_points(known),
		};

		if (known->claim)
			order.claim = *known->claim;
		TRY(steer_give(steered->steer, &order));
	}
	return NULL;
}

/* Policies that switch seldom often find the failure again, once it is known that there
 * is one: a short schedule to begin with. `best` is replaced by the shortest; of equal
 * ones by the first, in whatever order they come. */
static struct error *search(struct steered *steered, struct schedule *best)
{
	uint64_t reserve = steered->points - steered->points / 3;
	double deadline = steered->deadline - (steered->deadline - watch_now()) * 2 / 3;
	uint64_t best_index = UINT64_MAX;

	for (unsigned given = 0; given < SEARCHED_MOST && steered->points > reserve; given += BATCH) {
		TRY(give_batch(steered, given));
		for (unsigned i = 0; i < BATCH; i++) {
			struct steer_report report;
			bool got;

			TRY(await(steered, &report, &got));
			if (!got)
				return NULL;
			struct schedule *taken = &report.run.schedule;

			if (is_same(steered->failed, &report) &&
			    (reduce_is_shorter(taken, best) ||
			     (!reduce_is_shorter(best, taken) && report.index < best_index))) {
				struct schedule swapped = *best;

				*best = *taken;
				*taken = swapped;
				best_index = report.index;
			}
			steer_report_free(&report);
		}
		/* One is as good as it gets without none at all. */
		if (schedule_preemptions(best->turns, best->nturns) <= 1 || watch_now() >= deadline)
			break;
	}
	return NULL;
}

struct error *reduce_steered(struct steer *steer, const struct run *failed, unsigned most, double seconds,
			     const struct reduce_watch *watch, struct schedule *best)
{
	struct steered steered = { .steer = steer,
				   .failed = failed,
				   .points = POINTS_MOST,
				   .deadline = watch_now() + seconds,
				   .watch = watch };
	_cleanup_(point_sites_dropp) struct point_sites *sites = point_sites_of(&failed->schedule);
	_cleanup_(schedule_free) struct schedule start = schedule_copy(&failed->schedule);

	steered.sites = sites;
	TRY(search(&steered, &start));
	if (is_stopped(&steered)) {
		*best = start;
		start = (struct schedule){ 0 };
		return NULL;
	}
	return reduce(&start, try_steered, &steered, most, best);
}

struct error *windows_steered(struct steer *steer, const struct run *failed, const struct schedule *schedule,
			      double seconds, bool (*stop)(void), struct windows *out)
{
	const struct reduce_watch watch = { .stop = stop };
	struct steered steered = { .steer = steer,
				   .failed = failed,
				   .points = POINTS_MOST,
				   .deadline = watch_now() + seconds,
				   .watch = &watch };
	_cleanup_(point_sites_dropp) struct point_sites *sites = point_sites_of(schedule);

	steered.sites = sites;
	return windows_measure(schedule, try_steered, &steered, WINDOW_TRIES, out);
}
