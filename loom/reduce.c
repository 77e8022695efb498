/* Delta debugging over turns. Candidates are plans with turns left out, or with
 * two turns of a thread made one; a plan is a wish, and the schedule that a run
 * really took is what is kept, if it fails alike and is shorter. So all stays
 * true, whatever a wish leads to.
 */
#include "loom/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define WAIT_S 0.5
#define MOST_POINTS 5000000u

struct reduction {
	reduce_try *try;
	void *context;
	unsigned left; /* tries */
	struct schedule best;
};

/* Switches that the schedule forced come first, then all of them. */
static bool is_shorter(const struct schedule *a, const struct schedule *b)
{
	size_t forced_a = schedule_preemptions(a->turns, a->nturns);
	size_t forced_b = schedule_preemptions(b->turns, b->nturns);
	size_t all_a = schedule_switches(a->turns, a->nturns), all_b = schedule_switches(b->turns, b->nturns);

	if (forced_a != forced_b)
		return forced_a < forced_b;
	return all_a != all_b ? all_a < all_b : a->nturns < b->nturns;
}

/* Tries a plan; *better when it led to a shorter failure, which is the best one then. */
static struct error *attempt(struct reduction *reduction, const struct schedule_turn *plan, size_t n,
			     bool *better)
{
	_cleanup_(schedule_free) struct schedule took = { 0 };
	bool same = false;

	*better = false;
	if (!reduction->left)
		return NULL;
	reduction->left--;
	TRY(reduction->try(reduction->context, plan, n, &same, &took));
	*better = same && is_shorter(&took, &reduction->best);
	if (*better) {
		struct schedule swap = reduction->best;

		reduction->best = took;
		took = swap;
	}
	return NULL;
}

static void copy_turns(struct schedule_turn *to, size_t *n, const struct schedule_turn *from, size_t count)
{
	if (count)
		memcpy(to + *n, from, count * sizeof *to);
	*n += count;
}

/* The plan without turns at .. at + size - 1. */
static struct error *leave_out(struct reduction *reduction, size_t at, size_t size, bool *better)
{
	const struct schedule *best = &reduction->best;
	_cleanup_free_ struct schedule_turn *plan = memory_alloc((best->nturns + 1) * sizeof *plan);
	size_t n = 0;

	copy_turns(plan, &n, best->turns, at);
	if (at + size < best->nturns)
		copy_turns(plan, &n, best->turns + at + size, best->nturns - at - size);
	return attempt(reduction, plan, n, better);
}

/* Only the first turns: the rest goes on by itself. */
static struct error *cut_behind(struct reduction *reduction)
{
	for (size_t keep = 0; keep < reduction->best.nturns && reduction->left;) {
		bool better;

		TRY(leave_out(reduction, keep, reduction->best.nturns - keep, &better));
		if (better)
			return NULL;
		keep = keep ? keep * 2 : 1;
	}
	return NULL;
}

static struct error *leave_out_all(struct reduction *reduction)
{
	for (size_t size = reduction->best.nturns / 2; size && reduction->left; size /= 2)
		for (size_t at = 0; at < reduction->best.nturns && reduction->left;) {
			bool better;

			TRY(leave_out(reduction, at, size, &better));
			/* What follows has moved up. */
			at += better ? 0 : size;
		}
	return NULL;
}

/* The next turn of the same thread; n when there is none. */
static size_t next_of(const struct schedule *schedule, size_t at)
{
	size_t i = at + 1;

	while (i < schedule->nturns &&
	       (schedule->turns[i].wake || schedule->turns[i].thread != schedule->turns[at].thread))
		i++;
	return i;
}

/* Turn `at` and the next one of its thread in one go: before what lies between, or
 * behind it. */
static struct error *join(struct reduction *reduction, size_t at, bool before, bool *better)
{
	const struct schedule *best = &reduction->best;
	size_t next = next_of(best, at), n = 0;
	_cleanup_free_ struct schedule_turn *plan = memory_alloc((best->nturns + 1) * sizeof *plan);

	*better = false;
	if (next == best->nturns)
		return NULL;
	struct schedule_turn joined = best->turns[next];

	joined.points += best->turns[at].points;
	copy_turns(plan, &n, best->turns, at);
	if (before)
		plan[n++] = joined;
	copy_turns(plan, &n, best->turns + at + 1, next - at - 1);
	if (!before)
		plan[n++] = joined;
	copy_turns(plan, &n, best->turns + next + 1, best->nturns - next - 1);
	return attempt(reduction, plan, n, better);
}

static struct error *join_all(struct reduction *reduction, bool *any)
{
	*any = false;
	for (size_t at = 0; at < reduction->best.nturns && reduction->left;) {
		const struct schedule_turn *turn = &reduction->best.turns[at];
		bool better = false;

		if (!turn->wake && turn->stop != STOP_ENDED) {
			TRY(join(reduction, at, true, &better));
			if (!better)
				TRY(join(reduction, at, false, &better));
			if (!better)
				TRY(leave_out(reduction, at, 1, &better));
		}
		*any |= better;
		at += !better;
	}
	return NULL;
}

struct error *reduce(const struct schedule *from, reduce_try *try, void *context, unsigned most,
		     struct schedule *best)
{
	struct reduction reduction = { .try = try, .context = context, .left = most };
	bool any = true;

	reduction.best = schedule_copy(from);
	struct error *error = cut_behind(&reduction);

	if (!error)
		error = leave_out_all(&reduction);
	while (!error && any && reduction.left)
		error = join_all(&reduction, &any);
	if (error)
		schedule_free(&reduction.best);
	*best = reduction.best;
	return error;
}

struct steered {
	struct steer *steer;
	const struct run *failed;
	uint64_t index;
};

static struct error *try_steered(void *context, const struct schedule_turn *plan, size_t n, bool *same,
				 struct schedule *took)
{
	struct steered *steered = context;
	const struct run *failed = steered->failed;
	uint64_t cap = failed->schedule.points * 100;
	struct steer_order order = {
		.index = steered->index++,
		.policy = SCHEDULE_STAY,
		.seed = failed->schedule.seed,
		.plan = memory_alloc((n + 1) * sizeof *plan),
		.nplan = n,
		.keep = true,
		.most_points = cap < MOST_POINTS ? MOST_POINTS : cap,
	};
	struct steer_report report;
	bool got = false;

	if (n)
		memcpy(order.plan, plan, n * sizeof *plan);
	TRY(steer_give(steered->steer, &order));
	while (!got)
		TRY(steer_take(steered->steer, WAIT_S, &report, &got));
	*same = report.label == LABEL_FAIL && report.outcome == failed->outcome && report.code == failed->code;
	if (*same) {
		*took = report.run.schedule;
		report.run.schedule = (struct schedule){ 0 };
	}
	steer_report_free(&report);
	return NULL;
}

struct error *reduce_steered(struct steer *steer, const struct run *failed, unsigned most,
			     struct schedule *best)
{
	struct steered steered = { .steer = steer, .failed = failed };

	return reduce(&failed->schedule, try_steered, &steered, most, best);
}
