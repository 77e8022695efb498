/* A phase is a number of rounds in which every thread may go that did so then; the
 * one whose switch ends the phase may go before each of them. Who has come as far as it may, or cannot
 * run, is passed over, so rounds too many do no harm.
 */
#include "loom/phases.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define TURNS_MOST 200000u /* of a plan */
#define ROUNDS_MORE 4u
#define THREADS_MOST 1024u

struct progress {
	uint64_t *come;   /* points of each thread so far */
	uint64_t *before; /* when the phase began */
	uint32_t n;       /* threads */
};

static uint32_t count_threads(const struct schedule *from)
{
	uint32_t n = 0;

	for (size_t i = 0; i < from->nturns; i++)
		if (from->turns[i].thread >= n && from->turns[i].thread < THREADS_MOST)
			n = from->turns[i].thread + 1;
	return n;
}

/* Lets turns from .. to - 1 pass; returns how many they are, choices apart. */
static size_t advance(const struct schedule *schedule, size_t from, size_t to, struct progress *progress)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		const struct schedule_turn *turn = &schedule->turns[i];

		if (turn->wake)
			continue;
		n++;
		if (turn->thread < progress->n)
			progress->come[turn->thread] += turn->points;
	}
	return n;
}

/* Up to where `thread` must not go beyond in this phase or a later one; 0: anywhere. */
static uint64_t next_goal(const struct schedule *from, const size_t *exact, size_t nexact,
			  const struct progress *progress, size_t after, uint32_t thread)
{
	uint64_t come = progress->come[thread];
	size_t at = after;

	for (size_t k = 0; k < nexact; k++) {
		for (; at <= exact[k]; at++)
			if (!from->turns[at].wake && from->turns[at].thread == thread)
				come += from->turns[at].points;
		if (from->turns[exact[k]].thread == thread)
			return come;
	}
	return 0;
}

static uint64_t limit(const struct progress *progress, uint64_t goal, uint32_t thread, enum phases_hold hold)
{
	if (hold == PHASES_HOLD_ALL)
		return SCHEDULE_UNTIL | SCHEDULE_LOOSE | progress->come[thread];
	return goal ? SCHEDULE_UNTIL | SCHEDULE_LOOSE | goal : SCHEDULE_ENDLESS;
}

/* Threads that wait less often for others pass fewer points on the same way. */
static uint64_t stop_at(uint64_t come, enum phases_hold hold)
{
	if (hold != PHASES_PLACE && hold != PHASES_EARLY)
		return SCHEDULE_UNTIL | come;
	return SCHEDULE_UNTIL | SCHEDULE_PLACE | (hold == PHASES_EARLY ? come / 2 : come - come / 4);
}

size_t phases_plan(const struct schedule *from, const size_t *exact, size_t nexact, enum phases_hold hold,
		   struct schedule_turn **plan)
{
	struct progress progress = { .n = count_threads(from) };
	VEC(struct schedule_turn) turns = { 0 };
	size_t at = 0;

	progress.come = memory_alloc((progress.n + 1) * sizeof *progress.come);
	progress.before = memory_alloc((progress.n + 1) * sizeof *progress.before);
	for (size_t k = 0; k < nexact; k++) {
		uint32_t stopped = from->turns[exact[k]].thread;

		memcpy(progress.before, progress.come, progress.n * sizeof *progress.come);
		size_t rounds = advance(from, at, exact[k] + 1, &progress) + ROUNDS_MORE;
		_cleanup_free_ uint64_t *limits = memory_alloc((progress.n + 1) * sizeof *limits);

		at = exact[k] + 1;
		if (stopped >= progress.n)
			continue;
		for (uint32_t thread = 0; thread < progress.n; thread++)
			limits[thread] =
				limit(&progress,
				      next_goal(from, exact + k + 1, nexact - k - 1, &progress, at, thread),
				      thread, hold);
		limits[stopped] = stop_at(progress.come[stopped], hold);
		const struct schedule_turn first = { .thread = stopped,
						     .site = from->turns[exact[k]].site,
						     .points = limits[stopped] };

		*VEC_PUSH(&turns) = first;
		for (size_t round = 0; round < rounds && turns.n < TURNS_MOST; round++)
			for (uint32_t thread = 0; thread < progress.n; thread++) {
				if (thread == stopped || progress.come[thread] == progress.before[thread])
					continue;
				*VEC_PUSH(&turns) =
					(struct schedule_turn){ .thread = thread,
								.points = limits[thread] | SCHEDULE_GUARDED };
				*VEC_PUSH(&turns) = first;
			}
	}
	while (at < from->nturns && from->turns[at].wake)
		at++;
	if (at < from->nturns)
		*VEC_PUSH(&turns) = (struct schedule_turn){ .thread = from->turns[at].thread,
							    .points = SCHEDULE_ENDLESS };
	free(progress.come);
	free(progress.before);
	*plan = turns.items;
	return turns.n;
}
