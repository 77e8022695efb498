/* Delta debugging over turns. Candidates are plans with turns left out, made longer
 * or swapped; a plan is a wish, and the schedule that a run really took is what is
 * kept, if it fails alike and is shorter. So all stays true, whatever a wish leads
 * to. Long schedules are first cut on both sides by binary search: what comes behind
 * the cause does not matter, and before it only how far each thread had come.
 */
#include "loom/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "loom/phases.h"

#define SINGLES_MOST 64 /* switches tried alone */
#define PHASES_ALONE 16 /* that are tried alone with phases */
#define PHASES_MOST 64  /* switches that are worth phases */
#define PAIRS_LAST 6    /* of which so many are tried as the second of two */

struct reduction {
	reduce_try *try;
	void *context;
	unsigned left; /* tries */
	struct schedule best;
	struct map tried; /* plans by their hash: FAILED_ALIKE or not */
};

enum { FAILED_OTHERWISE, FAILED_ALIKE };

/* Switches that the schedule forced come first, then all of them. */
bool reduce_is_shorter(const struct schedule *a, const struct schedule *b)
{
	size_t forced_a = schedule_preemptions(a->turns, a->nturns);
	size_t forced_b = schedule_preemptions(b->turns, b->nturns);
	size_t all_a = schedule_switches(a->turns, a->nturns), all_b = schedule_switches(b->turns, b->nturns);

	if (forced_a != forced_b)
		return forced_a < forced_b;
	return all_a != all_b ? all_a < all_b : a->nturns < b->nturns;
}

/* Tries a plan; *better when it led to a shorter failure, which is the best one then.
 * *same, which may be NULL, when it led to the failure at all. */
static struct error *attempt(struct reduction *reduction, const struct schedule_turn *plan, size_t n,
			     bool *same, bool *better)
{
	_cleanup_(schedule_free) struct schedule took = { 0 };
	bool failed = false, over = false;

	*better = false;
	if (same)
		*same = false;
	if (!reduction->left)
		return NULL;
	/* A plan leads to one schedule, and that was compared with a best one that was no shorter. */
	bool fresh;
	uint64_t *outcome = map_put(&reduction->tried, schedule_hash(plan, n), &fresh);

	if (!fresh) {
		if (same)
			*same = *outcome == FAILED_ALIKE;
		return NULL;
	}
	reduction->left--;
	TRY(reduction->try(reduction->context, plan, n, &failed, &took, &over));
	if (over)
		reduction->left = 0;
	*outcome = failed ? FAILED_ALIKE : FAILED_OTHERWISE;
	*better = failed && reduce_is_shorter(&took, &reduction->best);
	if (same)
		*same = failed;
	if (*better) {
		struct schedule swap = reduction->best;

		reduction->best = took;
		took = swap;
	}
	return NULL;
}

/* A plan out of some turns of a schedule. What matters of a turn is how far its thread had
 * come at its end: a turn that is left out is made up for by the thread's next one. Wake-ups
 * stay with the turn before them. */
enum {
	TURN_LEFT_OUT, /* not in the plan */
	TURN_EXACT,    /* up to where it came then */
	TURN_LOOSE,    /* until it blocks, but not beyond the thread's next exact turn */
};

struct wish {
	unsigned char *turns;
	size_t n;
};

static void wish_free(struct wish *wish)
{
	free(wish->turns);
}

/* The whole schedule as a wish. With `loose` only forced switches come at exact points. */
static struct wish all_of(const struct schedule *schedule, bool loose)
{
	struct wish wish = { .turns = memory_alloc(schedule->nturns + 1), .n = schedule->nturns };

	for (size_t i = 0; i < wish.n; i++)
		wish.turns[i] = loose && schedule->turns[i].stop != STOP_PREEMPTED ? TURN_LOOSE : TURN_EXACT;
	return wish;
}

/* For each turn, the points that the plan gives it. */
static void set_goals(const struct schedule *from, const struct wish *wish, uint64_t *goals)
{
	_cleanup_(map_free) struct map come = { 0 }, next = { 0 };

	for (size_t i = 0; i < wish->n; i++)
		goals[i] = from->turns[i].wake
				   ? 0
				   : (*map_put(&come, from->turns[i].thread, NULL) += from->turns[i].points);
	for (size_t i = wish->n; i-- > 0;) {
		if (from->turns[i].wake || wish->turns[i] == TURN_LEFT_OUT)
			continue;
		uint64_t *exact = map_put(&next, from->turns[i].thread, NULL);

		if (wish->turns[i] == TURN_EXACT)
			*exact = goals[i] | SCHEDULE_UNTIL;
		goals[i] = wish->turns[i] == TURN_EXACT ? *exact
			   : *exact                     ? *exact | SCHEDULE_LOOSE
							: SCHEDULE_ENDLESS;
	}
}

static size_t compile(const struct schedule *from, const struct wish *wish, struct schedule_turn *plan)
{
	_cleanup_free_ uint64_t *goals = memory_alloc((wish->n + 1) * sizeof *goals);
	bool kept = false;
	size_t n = 0;

	set_goals(from, wish, goals);
	for (size_t i = 0; i < wish->n; i++) {
		const struct schedule_turn *turn = &from->turns[i];

		if (!turn->wake)
			kept = wish->turns[i] != TURN_LEFT_OUT;
		if (!kept)
			continue;
		plan[n] = *turn;
		if (!turn->wake)
			plan[n].points = goals[i];
		n++;
	}
	return n;
}

size_t reduce_plan(const struct schedule *schedule, bool loose, struct schedule_turn *plan)
{
	_cleanup_(wish_free) struct wish wish = all_of(schedule, loose);

	return compile(schedule, &wish, plan);
}

static struct error *attempt_wish(struct reduction *reduction, const struct schedule *from,
				  const struct wish *wish, bool *same, bool *better)
{
	_cleanup_free_ struct schedule_turn *plan = memory_alloc((wish->n + 1) * sizeof *plan);
	size_t n = compile(from, wish, plan);

	return attempt(reduction, plan, n, same, better);
}

/* ---- long schedules ---- */

/* The first `end` turns of `from`, of which those before `start` only as far as they bring
 * each thread to where it stood then. */
static struct wish part_of(const struct schedule *from, size_t start, size_t end)
{
	struct wish wish = all_of(from, false);
	_cleanup_(map_free) struct map seen = { 0 };

	for (size_t i = wish.n; i-- > 0;) {
		bool fresh = true;

		if (i < start && !from->turns[i].wake)
			map_put(&seen, from->turns[i].thread, &fresh);
		if (i >= end || !fresh)
			wish.turns[i] = TURN_LEFT_OUT;
	}
	return wish;
}

/* Finds by halving how much of the end, or with `front` of the beginning, does not matter.
 * A failure that comes and goes with the length is no harm: every try stands for itself. */
static struct error *cut(struct reduction *reduction, bool front)
{
	_cleanup_(schedule_free) struct schedule from = schedule_copy(&reduction->best);
	size_t fails = front ? 0 : from.nturns, passes = front ? from.nturns + 1 : 0;

	while (reduction->left && (front ? fails + 1 < passes : passes < fails)) {
		size_t middle = (fails + passes) / 2;
		_cleanup_(wish_free) struct wish wish =
			front ? part_of(&from, middle, from.nturns) : part_of(&from, 0, middle);
		bool same, better;

		TRY(attempt_wish(reduction, &from, &wish, &same, &better));
		if (same)
			fails = middle;
		else
			passes = front ? middle : middle + 1;
	}
	return NULL;
}

/* ---- turns one by one ---- */

/* Without turns at .. at + size - 1, which nothing makes up for. */
static struct error *drop(struct reduction *reduction, size_t at, size_t size, bool *better)
{
	const struct schedule *best = &reduction->best;
	_cleanup_free_ struct schedule_turn *plan = memory_alloc((best->nturns + 1) * sizeof *plan);
	size_t behind = at + size < best->nturns ? best->nturns - at - size : 0;

	memcpy(plan, best->turns, at * sizeof *plan);
	if (behind)
		memcpy(plan + at, best->turns + at + size, behind * sizeof *plan);
	return attempt(reduction, plan, at + behind, NULL, better);
}

/* Without turns at .. at + size - 1. */
static struct error *leave_out(struct reduction *reduction, size_t at, size_t size, bool *better)
{
	*better = false;
	for (int loose = 1; loose >= 0 && !*better; loose--) {
		_cleanup_(wish_free) struct wish wish = all_of(&reduction->best, loose);

		for (size_t i = at; i < at + size && i < wish.n; i++)
			wish.turns[i] = TURN_LEFT_OUT;
		TRY(attempt_wish(reduction, &reduction->best, &wish, NULL, better));
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
	return attempt_wish(reduction, &reduction->best, &wish, NULL, better);
}

/* These turns stay as they are, each as the end of a phase. */
static struct error *attempt_phases(struct reduction *reduction, const size_t *exact, size_t n, bool *better)
{
	*better = false;
	for (int hold = 0; hold < PHASES_HOLDS && !*better; hold++) {
		_cleanup_free_ struct schedule_turn *plan = NULL;
		size_t length = phases_plan(&reduction->best, exact, n, (enum phases_hold)hold, &plan);

		TRY(attempt(reduction, plan, length, NULL, better));
	}
	return NULL;
}

/* Only forced switches number at .. at + size - 1 stay, or all others. */
static struct error *phase(struct reduction *reduction, size_t at, size_t size, bool but, bool *better)
{
	const struct schedule *best = &reduction->best;
	_cleanup_free_ size_t *exact = memory_alloc((best->nturns + 1) * sizeof *exact);
	size_t number = 0, n = 0;

	for (size_t i = 0; i < best->nturns; i++) {
		if (!is_forced(&best->turns[i]))
			continue;
		bool inside = number >= at && number < at + size;

		if (inside != but)
			exact[n++] = i;
		number++;
	}
	return attempt_phases(reduction, exact, n, better);
}

static size_t forced(const struct reduction *reduction)
{
	return schedule_preemptions(reduction->best.turns, reduction->best.nturns);
}

/* Three or four forced switches alone that follow each other. */
static struct error *groups(struct reduction *reduction)
{
	bool better = false;

	for (size_t size = 3; size <= 4 && !better; size++)
		for (size_t end = forced(reduction);
		     end >= size && forced(reduction) > size && forced(reduction) <= PHASES_MOST && !better &&
		     reduction->left;
		     end--)
			TRY(phase(reduction, end - size, size, false, &better));
	return NULL;
}

/* Two forced switches alone, of which one is among the last. */
static struct error *pairs(struct reduction *reduction)
{
	const struct schedule *best = &reduction->best;
	_cleanup_free_ size_t *all = memory_alloc((best->nturns + 1) * sizeof *all);
	size_t n = 0;
	bool better = false;

	for (size_t i = 0; i < best->nturns; i++)
		if (is_forced(&best->turns[i]))
			all[n++] = i;
	if (n <= 2 || n > PHASES_MOST)
		return NULL;
	for (size_t second = n; second-- > 1 && n - second <= PAIRS_LAST;)
		for (size_t first = second; first-- > 0 && reduction->left;) {
			const size_t exact[] = { all[first], all[second] };

			TRY(attempt_phases(reduction, exact, 2, &better));
			if (better)
				return NULL;
		}
	return NULL;
}

/* Delta debugging over the forced switches: first one alone, the last ones first, since
 * a failure mostly follows soon upon its cause; then fewer and fewer at a time. */
static struct error *loosen_all(struct reduction *reduction)
{
	bool better = false;

	for (size_t i = forced(reduction), tries = 0;
	     i-- > 0 && !better && tries < SINGLES_MOST && reduction->left; tries++) {
		TRY(loosen(reduction, i, 1, false, &better));
		if (!better && tries < PHASES_ALONE)
			TRY(phase(reduction, i, 1, false, &better));
	}
	for (size_t size = forced(reduction) / 2; size && reduction->left; size /= 2)
		for (size_t at = forced(reduction); at > 0 && reduction->left;) {
			size_t from = at > size ? at - size : 0;

			TRY(loosen(reduction, from, at - from, true, &better));
			if (!better && forced(reduction) <= PHASES_ALONE)
				TRY(phase(reduction, from, at - from, true, &better));
			at = better && from > forced(reduction) ? forced(reduction) : from;
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
	return attempt(reduction, plan, best->nturns, NULL, better);
}

/* Without turn `at`; what its thread's neighbours on both sides do becomes one turn, which ends a
 * point before the second did: where that waited for what `at` had taken, it stands before the call. */
static struct error *join_around(struct reduction *reduction, size_t at, bool *better)
{
	const struct schedule *best = &reduction->best;

	*better = false;
	if (at == 0 || at + 1 >= best->nturns || best->turns[at + 1].wake ||
	    best->turns[at - 1].thread != best->turns[at + 1].thread ||
	    best->turns[at + 1].stop != STOP_BLOCKED)
		return NULL;
	_cleanup_(wish_free) struct wish wish = all_of(best, false);
	_cleanup_free_ struct schedule_turn *plan = memory_alloc((wish.n + 1) * sizeof *plan);

	wish.turns[at - 1] = wish.turns[at] = TURN_LEFT_OUT;
	size_t n = compile(best, &wish, plan), joined = 0;

	for (size_t i = 0; i < at - 1; i++)
		joined += wish.turns[i] != TURN_LEFT_OUT;
	plan[joined].points--;
	return attempt(reduction, plan, n, NULL, better);
}

/* Everything that can be done about one turn. */
static struct error *improve_at(struct reduction *reduction, size_t at, bool *better)
{
	*better = false;
	if (reduction->best.turns[at].wake)
		return NULL;
	for (size_t size = 1; size <= 3 && !*better; size++)
		TRY(leave_out(reduction, at, size, better));
	if (!*better)
		TRY(join_around(reduction, at, better));
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

static struct error *reduce_all(struct reduction *reduction)
{
	bool any = true;

	TRY(cut(reduction, false));
	TRY(cut(reduction, true));
	TRY(loosen_all(reduction));
	TRY(leave_out_all(reduction));
	TRY(pairs(reduction));
	TRY(groups(reduction));
	while (any && reduction->left) {
		size_t before = forced(reduction);

		TRY(improve_all(reduction, &any));
		if (!any || forced(reduction) == before)
			continue;
		TRY(loosen_all(reduction));
		TRY(pairs(reduction));
		TRY(groups(reduction));
	}
	return NULL;
}

struct error *reduce(const struct schedule *from, reduce_try *try, void *context, unsigned most,
		     struct schedule *best)
{
	struct reduction reduction = { .try = try, .context = context, .left = most };

	reduction.best = schedule_copy(from);
	struct error *error = reduce_all(&reduction);

	map_free(&reduction.tried);
	if (error)
		schedule_free(&reduction.best);
	*best = reduction.best;
	return error;
}
