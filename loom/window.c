/* An edge is looked for by steps that grow, then by halving. So the two sides of an
 * edge are neighbours, one that fails and one that does not, whatever lies between
 * others. Where the switch stands in a region that the others wait for, they wait and
 * nothing happens: a short stretch behind an edge is looked at for failures again.
 */
#include "loom/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define CONFIRMED 3      /* times that the failure has to come before anything is moved */
#define SWITCHES_MOST 3u /* forced switches that are measured: the last ones */
#define STEPS_SINGLE 12u /* then they double */
#define STRETCH 24u      /* points in which others wait */
#define STRETCHES_MOST 3u
#define UNKNOWN_MOST 1000000u /* points */
#define NOWHERE UINT64_MAX

/* A planned turn that is moved. */
struct probe {
	reduce_try *try;
	void *context;
	unsigned left; /* tries */
	const struct schedule *base;
	struct schedule_turn *plan;
	size_t nplan, turn;
	uint64_t before; /* points of its thread before the turn */
	bool loose;      /* how the plan is made */
	uint32_t ended;  /* in which thread the failure ends the process */
};

static void edge_free(struct window_edge *edge)
{
	schedule_free(&edge->schedule);
	schedule_free(&edge->beyond);
}

void windows_free(struct windows *windows)
{
	for (size_t i = 0; i < windows->n; i++) {
		edge_free(&windows->items[i].early);
		edge_free(&windows->items[i].late);
		edge_free(&windows->items[i].brief);
	}
	VEC_FREE(windows);
}

static uint32_t last_thread(const struct schedule *schedule)
{
	return schedule->nturns ? schedule->turns[schedule->nturns - 1].thread : THREAD_NONE;
}

static struct error *try_at(struct probe *probe, uint64_t points, bool *same, struct schedule *took)
{
	bool over = false;

	*same = false;
	if (!probe->left)
		return NULL;
	probe->left--;
	probe->plan[probe->turn].points = SCHEDULE_UNTIL | (probe->before + points);
	TRY(probe->try(probe->context, probe->plan, probe->nplan, same, took, &over));
	/* Threads that change roles fail alike, but elsewhere. */
	*same = *same && last_thread(took) == probe->ended;
	if (over)
		probe->left = 0;
	return NULL;
}

/* Where the thread stood at the end of the turn, an id. */
static uint64_t site_at(const struct schedule *schedule, size_t turn)
{
	return turn < schedule->nturns && schedule->turns[turn].stop == STOP_PREEMPTED
		       ? schedule->turns[turn].site
		       : 0;
}

/* Between which points the edge lies. */
struct span {
	uint64_t fails, passes; /* passes: NOWHERE when nothing up to the limit did */
};

/* Tries one position and takes note. */
static struct error *look(struct probe *probe, uint64_t points, struct span *span, struct window_edge *edge,
			  bool *same)
{
	_cleanup_(schedule_free) struct schedule took = { 0 };

	TRY(try_at(probe, points, same, &took));
	if (!took.nturns) { /* nobody ran */
		*same = false;
		probe->left = 0;
		return NULL;
	}
	struct schedule *place = *same ? &edge->schedule : &edge->beyond, swapped = *place;

	*place = took;
	took = swapped;
	*(*same ? &span->fails : &span->passes) = points;
	edge->moved |= *same;
	return NULL;
}

static uint64_t toward(uint64_t from, uint64_t limit, uint64_t step)
{
	if (from > limit)
		return from - limit > step ? from - step : limit;
	return limit - from > step ? from + step : limit;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* From where it fails toward the limit, by growing steps and then by halves. */
static struct error *narrow(struct probe *probe, uint64_t limit, struct span *span, struct window_edge *edge)
{
	uint64_t step = 1;
	bool same = true;

	span->passes = NOWHERE;
	for (unsigned n = 0; same && span->fails != limit && probe->left; n++) {
		TRY(look(probe, toward(span->fails, limit, step), span, edge, &same));
		step *= n < STEPS_SINGLE ? 1 : 2;
	}
	while (span->passes != NOWHERE && distance(span->passes, span->fails) > 1 && probe->left)
		TRY(look(probe, toward(span->fails, span->passes, distance(span->fails, span->passes) / 2),
			 span, edge, &same));
	return NULL;
}

/* Did the others have to wait for the thread where it stood, so that their part never came? */
static bool are_blocked(const struct probe *probe, const struct schedule *took)
{
	size_t next = probe->turn + 1;

	return next < took->nturns && next < probe->base->nturns && took->turns[next].stop == STOP_BLOCKED &&
	       took->turns[next].points < probe->base->turns[next].points;
}

/* Behind a stretch in which the others wait there may be a failure again: then it goes on from there. */
static struct error *cross(struct probe *probe, uint64_t limit, struct span *span, struct window_edge *edge,
			   bool *found)
{
	struct window_edge behind = { 0 };
	struct span at = *span;
	struct error *error = NULL;
	bool waits = are_blocked(probe, &edge->beyond);

	*found = false;
	for (unsigned i = 0; i < STRETCH && !*found && !error && waits && at.passes != limit && probe->left;
	     i++) {
		error = look(probe, toward(at.passes, limit, 1), &at, &behind, found);
		waits = *found || are_blocked(probe, &behind.beyond);
	}
	if (*found) {
		struct window_edge swapped = *edge;

		*span = at;
		*edge = behind;
		behind = swapped;
	}
	edge_free(&behind);
	return error;
}

/* The edge between `from`, which fails, and the limit. */
static struct error *find_edge(struct probe *probe, uint64_t from, uint64_t limit, struct window_edge *edge)
{
	struct span span = { .fails = from };
	bool again = true;

	for (unsigned i = 0; again && i < STRETCHES_MOST; i++) {
		TRY(narrow(probe, limit, &span, edge));
		again = false;
		if (span.passes == NOWHERE || distance(span.passes, span.fails) > 1)
			break;
		TRY(cross(probe, limit, &span, edge, &again));
	}
	edge->sharp = span.passes != NOWHERE && distance(span.passes, span.fails) == 1;
	edge->site = site_at(&edge->beyond, probe->turn);
	return NULL;
}

/* Points of the thread in turns from .. to - 1. */
static uint64_t points_of(const struct schedule *schedule, uint32_t thread, size_t from, size_t to)
{
	uint64_t sum = 0;

	for (size_t i = from; i < to; i++)
		if (!schedule->turns[i].wake && schedule->turns[i].thread == thread)
			sum += schedule->turns[i].points;
	return sum;
}

static struct error *move_switch(struct probe *probe, const struct schedule *schedule, struct window *window)
{
	const struct schedule_turn *turn = &schedule->turns[window->turn];
	uint64_t all = points_of(schedule, turn->thread, window->turn, schedule->nturns);

	/* The run ended before the thread went on: nobody knows how much it still had to do. */
	if (all == turn->points)
		all += UNKNOWN_MOST;
	uint64_t kept = probe->plan[window->turn].points;

	probe->turn = window->turn;
	probe->before = points_of(schedule, turn->thread, 0, window->turn);
	TRY(find_edge(probe, turn->points, 1, &window->early));
	TRY(find_edge(probe, turn->points, all, &window->late));
	/* Later means: behind what stands before the latest place. */
	window->late.site = site_at(window->late.moved ? &window->late.schedule : schedule, window->turn);
	probe->plan[window->turn].points = kept;
	return NULL;
}

/* The last turn of the others before the thread goes on, then the one before it, as long as they can
 * be left out. */
static struct error *shorten_gap(struct probe *probe, const struct schedule *schedule, struct window *window)
{
	uint32_t thread = schedule->turns[window->turn].thread;
	size_t end = window->turn + 1;

	while (end < schedule->nturns && (schedule->turns[end].wake || schedule->turns[end].thread != thread))
		end++;
	/* The run ended before the thread went on: with less of the others' part it is its turn. */
	if (end == schedule->nturns)
		probe->plan[probe->nplan++] =
			(struct schedule_turn){ .thread = thread, .points = SCHEDULE_ENDLESS };
	for (size_t i = end; i-- > window->turn + 1 && probe->left;) {
		const struct schedule_turn *turn = &schedule->turns[i];

		if (turn->wake)
			continue;
		probe->turn = i;
		probe->before = points_of(schedule, turn->thread, 0, i);
		TRY(find_edge(probe, turn->points, 0, &window->brief));
		if (window->brief.sharp)
			break;
	}
	return NULL;
}

static struct error *measure(const struct schedule *schedule, struct probe *probe, struct window *window)
{
	probe->nplan = reduce_plan(schedule, probe->loose, probe->plan);
	TRY(move_switch(probe, schedule, window));
	return shorten_gap(probe, schedule, window);
}

/* What comes after a moved switch should find its own way; if it does, without being moved. Several
 * times, or the failure depends on something else: on chance, an oracle that is not sure. */
static struct error *choose_plan(const struct schedule *schedule, struct probe *probe, bool *same)
{
	bool over = false;

	for (int exact = 0; exact < 2 && !*same && !over; exact++) {
		probe->loose = !exact;
		probe->nplan = reduce_plan(schedule, probe->loose, probe->plan);
		for (int i = 0; i < CONFIRMED && (*same || !i) && !over; i++) {
			_cleanup_(schedule_free) struct schedule took = { 0 };

			TRY(probe->try(probe->context, probe->plan, probe->nplan, same, &took, &over));
			*same = *same && last_thread(&took) == probe->ended;
		}
	}
	*same = *same && !over;
	return NULL;
}

struct error *windows_measure(const struct schedule *schedule, reduce_try *try, void *context, unsigned most,
			      struct windows *out)
{
	_cleanup_free_ struct schedule_turn *plan = memory_alloc((schedule->nturns + 2) * sizeof *plan);
	struct probe probe = { .try = try,
			       .context = context,
			       .left = most,
			       .base = schedule,
			       .plan = plan,
			       .ended = last_thread(schedule) };
	bool same = false;

	TRY(choose_plan(schedule, &probe, &same));
	for (size_t i = schedule->nturns; i-- > 0 && same && out->n < SWITCHES_MOST && probe.left;) {
		if (schedule->turns[i].wake || schedule->turns[i].stop != STOP_PREEMPTED)
			continue;
		struct window *window = VEC_PUSH(out);

		window->turn = i;
		probe.left = most;
		TRY(measure(schedule, &probe, window));
	}
	return NULL;
}
