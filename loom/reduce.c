/* Delta debugging over turns. Candidates are plans with turns left out, made longer
 * or swapped; a plan is a wish, and the schedule that a run really took is what is
 * kept, if it fails alike and is shorter. So all stays true, whatever a wish leads
 * to.
 */
#include "loom/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "loom/watch.h"

#define WAIT_S 0.5
#define AHEAD 16u
#define SINGLES_MOST 64 /* switches tried alone */
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

/* A plan out of some turns of the best schedule. What matters of a turn is how far its
 * thread had come at its end: a turn that is left out is made up for by the thread's next
 * one. Wake-ups stay with the turn before them. */
enum {
	TURN_LEFT_OUT, /* not in the plan */
	TURN_EXACT,    /* up to where it came then */
	TURN_LOOSE,    /* until it blocks */
};

struct wish {
	unsigned char *turns;
	size_t n;
};

static size_t compile(const struct schedule *from, const struct wish *wish, struct schedule_turn *plan)
{
	_cleanup_(map_free) struct map come = { 0 }, planned = { 0 }; /* how far threads are */
	bool kept = false;
	size_t n = 0;

	for (size_t i = 0; i < wish->n; i++) {
		const struct schedule_turn *turn = &from->turns[i];

		if (turn->wake && kept)
			plan[n++] = *turn;
		if (turn->wake)
			continue;
		uint64_t end = *map_put(&come, turn->thread, NULL) += turn->points;

		kept = wish->turns[i] != TURN_LEFT_OUT;
		if (!kept)
			continue;
		uint64_t *at = map_put(&planned, turn->thread, NULL);

		plan[n] = *turn;
		plan[n++].points = wish->turns[i] == TURN_LOOSE ? SCHEDULE_ENDLESS : end - *at;
		*at = end;
	}
	return n;
}

static struct error *attempt_wish(struct reduction *reduction, const struct wish *wish, bool *better)
{
	_cleanup_free_ struct schedule_turn *plan = memory_alloc((wish->n + 1) * sizeof *plan);
	size_t n = compile(&reduction->best, wish, plan);

	return attempt(reduction, plan, n, better);
}

/* The whole schedule as a wish. With `loose` only forced switches come at exact points. */
static struct wish all_of(const struct schedule *schedule, bool loose)
{
	struct wish wish = { .turns = memory_alloc(schedule->nturns + 1), .n = schedule->nturns };

	for (size_t i = 0; i < wish.n; i++)
		wish.turns[i] = loose && schedule->turns[i].stop != STOP_PREEMPTED ? TURN_LOOSE : TURN_EXACT;
	return wish;
}

static void wish_free(struct wish *wish)
{
	free(wish->turns);
}

/* Without turns at .. at + size - 1, which nothing makes up for. */
static struct error *drop(struct reduction *reduction, size_t at, size_t size, bool *better)
{
	const struct schedule *best = &reduction->best;
	_cleanup_free_ struct schedule_turn *plan = memory_alloc((best->nturns + 1) * sizeof *plan);
	size_t behind = at + size < best->nturns ? best->nturns - at - size : 0;

	memcpy(plan, best->turns, at * sizeof *plan);
	if (behind)
		memcpy(plan + at, best->turns + at + size, behind * sizeof *plan);
	return attempt(reduction, plan, at + behind, better);
}

/* Without turns at .. at + size - 1. */
static struct error *leave_out(struct reduction *reduction, size_t at, size_t size, bool *better)
{
	*better = false;
	for (int loose = 1; loose >= 0 && !*better; loose--) {
		_cleanup_(wish_free) struct wish wish = all_of(&reduction->best, loose);

		for (size_t i = at; i < at + size && i < wish.n; i++)
			wish.turns[i] = TURN_LEFT_OUT;
		TRY(attempt_wish(reduction, &wish, better));
	}
	return *better ? NULL : drop(reduction, at, size, better);
}

static bool is_forced(const struct schedule_turn *turn)
{
	return !turn->wake && turn->stop == STOP_PREEMPTED;
}

/* Only forced switches number at .. at + size - 1 stay as they are, or with `but` all
 * others: the rest of the turns go on until they block. */
static struct error *loosen(struct reduction *reduction, size_t at, size_t size, bool but, bool *better)
{
	_cleanup_(wish_free) struct wish wish = all_of(&reduction->best, true);
	size_t number = 0;

	for (size_t i = 0; i < wish.n; i++) {
		if (!is_forced(&reduction->best.turns[i]))
			continue;
		bool inside = number >= at && number < at + size;

		if (inside == but)
			wish.turns[i] = TURN_LOOSE;
		number++;
	}
	return attempt_wish(reduction, &wish, better);
}

static size_t forced(const struct reduction *reduction)
{
	return schedule_preemptions(reduction->best.turns, reduction->best.nturns);
}

/* Delta debugging over the forced switches: first one alone, the last ones first, since
 * a failure mostly follows soon upon its cause; then fewer and fewer at a time. */
static struct error *loosen_all(struct reduction *reduction)
{
	bool better = false;

	for (size_t i = forced(reduction), tries = 0; i-- > 0 && !better && tries < SINGLES_MOST; tries++)
		TRY(loosen(reduction, i, 1, false, &better));
	for (size_t size = forced(reduction) / 2; size && reduction->left; size /= 2)
		for (size_t at = forced(reduction); at > 0 && reduction->left;) {
			size_t from = at > size ? at - size : 0;

			TRY(loosen(reduction, from, at - from, true, &better));
			at = better && from > forced(reduction) ? forced(reduction) : from;
		}
	return NULL;
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
		/* From the end: what comes last matters least for what came before. */
		for (size_t at = reduction->best.nturns; at > 0 && reduction->left;) {
			size_t from = at > size ? at - size : 0;
			bool better;

			TRY(leave_out(reduction, from, at - from, &better));
			at = better && from > reduction->best.nturns ? reduction->best.nturns : from;
		}
	return NULL;
}

/* The turn before `at` of another thread comes after it. */
static struct error *swap(struct reduction *reduction, size_t at, bool *better)
{
	const struct schedule *best = &reduction->best;
	_cleanup_free_ struct schedule_turn *plan = memory_alloc((best->nturns + 1) * sizeof *plan);

	*better = false;
	if (at + 1 >= best->nturns || best->turns[at].wake || best->turns[at + 1].wake)
		return NULL;
	memcpy(plan, best->turns, best->nturns * sizeof *plan);
	plan[at] = best->turns[at + 1];
	plan[at + 1] = best->turns[at];
	return attempt(reduction, plan, best->nturns, better);
}

/* Everything that can be done about one turn. */
static struct error *improve_at(struct reduction *reduction, size_t at, bool *better)
{
	*better = false;
	if (reduction->best.turns[at].wake)
		return NULL;
	for (size_t size = 1; size <= 3 && !*better; size++)
		TRY(leave_out(reduction, at, size, better));
	return *better ? NULL : swap(reduction, at, better);
}

static struct error *improve_all(struct reduction *reduction, bool *any)
{
	*any = false;
	for (size_t at = reduction->best.nturns; at-- > 0 && reduction->left;) {
		bool better;

		TRY(improve_at(reduction, at, &better));
		*any |= better;
		if (at > reduction->best.nturns)
			at = reduction->best.nturns;
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
		error = loosen_all(&reduction);
	if (!error)
		error = leave_out_all(&reduction);
	while (!error && any && reduction.left) {
		size_t before = forced(&reduction);

		error = improve_all(&reduction, &any);
		if (!error && any && forced(&reduction) < before)
			error = loosen_all(&reduction);
	}
	if (error)
		schedule_free(&reduction.best);
	*best = reduction.best;
	return error;
}

struct steered {
	struct steer *steer;
	const struct run *failed;
	uint64_t index;
	double deadline; /* watch_now() */
	const struct reduce_watch *watch;
};

static bool is_over(const struct steered *steered)
{
	return watch_now() >= steered->deadline ||
	       (steered->watch && steered->watch->stop && steered->watch->stop());
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
	return known->points > MOST_POINTS / 100 ? known->points * 100 : MOST_POINTS;
}

static bool is_same(const struct run *failed, const struct steer_report *report)
{
	return report->label == LABEL_FAIL && report->outcome == failed->outcome &&
	       report->code == failed->code;
}

static struct error *try_steered(void *context, const struct schedule_turn *plan, size_t n, bool *same,
				 struct schedule *took)
{
	struct steered *steered = context;
	const struct run *failed = steered->failed;
	struct steer_order order = {
		.index = steered->index++,
		.policy = SCHEDULE_STAY,
		.seed = failed->schedule.seed,
		.plan = memory_alloc((n + 1) * sizeof *plan),
		.nplan = n,
		.keep = true,
		.light = !steered->watch || !steered->watch->passed,
		.most_points = most_points(&failed->schedule),
	};
	struct steer_report report;
	bool got = false;

	if (is_over(steered)) {
		steer_order_free(&order);
		return NULL;
	}
	if (n)
		memcpy(order.plan, plan, n * sizeof *plan);
	TRY(steer_give(steered->steer, &order));
	while (!got) {
		TRY(steer_take(steered->steer, WAIT_S, &report, &got));
		if (!got && steered->watch && steered->watch->stop && steered->watch->stop())
			return NULL;
	}
	*same = is_same(failed, &report);
	if (*same) {
		*took = report.run.schedule;
		report.run.schedule = (struct schedule){ 0 };
	}
	struct error *error = note_passed(steered, &report);

	steer_report_free(&report);
	return error;
}

/* Policies that switch seldom often find the failure again, once it is known that there
 * is one: a short schedule to begin with. `best` is replaced by the shortest. */
static struct error *search(struct steered *steered, unsigned tries, struct schedule *best)
{
	const struct schedule *known = &steered->failed->schedule;
	unsigned given = 0, taken = 0;

	/* A third of the time at most: what is found has to be made short as well. */
	double deadline = steered->deadline - (steered->deadline - watch_now()) * 2 / 3;

	while (taken < tries) {
		struct steer_report report;
		bool got = false;

		if (watch_now() >= deadline || is_over(steered))
			tries = given;
		for (; given < tries && given < taken + AHEAD; given++) {
			struct steer_order order = {
				.index = steered->index++,
				.policy = SCHEDULE_PCT,
				.depth = 2 + given % 3,
				.seed = known->seed + given + 1,
				.light = true,
				.points = known->contested,
				.most_points = most_points(known),
			};

			TRY(steer_give(steered->steer, &order));
		}
		if (taken == tries)
			break;
		TRY(steer_take(steered->steer, WAIT_S, &report, &got));
		if (!got && is_over(steered))
			break;
		if (!got)
			continue;
		taken++;
		if (is_same(steered->failed, &report) && is_shorter(&report.run.schedule, best)) {
			struct schedule swapped = *best;

			*best = report.run.schedule;
			report.run.schedule = swapped;
			/* One is as good as it gets without none at all. */
			if (schedule_preemptions(best->turns, best->nturns) <= 1)
				tries = given;
		}
		steer_report_free(&report);
	}
	return NULL;
}

struct error *reduce_steered(struct steer *steer, const struct run *failed, unsigned most, double seconds,
			     const struct reduce_watch *watch, struct schedule *best)
{
	struct steered steered = {
		.steer = steer, .failed = failed, .deadline = watch_now() + seconds, .watch = watch
	};
	_cleanup_(schedule_free) struct schedule start = schedule_copy(&failed->schedule);

	TRY(search(&steered, most / 4, &start));
	return reduce(&start, try_steered, &steered, most, best);
}
