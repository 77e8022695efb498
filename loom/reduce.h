/* Makes a failing schedule short: the fewest switches of threads that still lead
 * to the same failure. Knows no processes: somebody else tries the candidates. */
#ifndef LOOM_REDUCE_H
#define LOOM_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "loom/steer.h"
#include "model/schedule.h"

/* Runs along `plan` as far as that can be followed, each thread going on until it
 * blocks behind it. *same when the failure is the one looked for. *took, the caller's
 * to free, is the schedule that was taken. *over when it was the last try. */
typedef struct error *reduce_try(void *context, const struct schedule_turn *plan, size_t n, bool *same,
				 struct schedule *took, bool *over);

/* *best is the shortest schedule found within `most` tries, a copy of `from` when
 * there is none. It was taken by a run: it can be followed strictly. */
struct error *reduce(const struct schedule *from, reduce_try *try, void *context, unsigned most,
		     struct schedule *best);

/* Fewer forced switches, or as many and fewer switches at all. */
bool reduce_is_shorter(const struct schedule *a, const struct schedule *b);

/* The schedule as a plan, turn by turn; `plan` has room for all of them. With `loose` only its forced
 * switches come at exact points. Returns their number. */
size_t reduce_plan(const struct schedule *schedule, bool loose, struct schedule_turn *plan);

/* Somebody who looks on; members may be NULL. */
struct reduce_watch {
	bool (*stop)(void); /* no more tries */
	/* A run that passed instead: as near to the failure as runs get. May take it away. */
	struct error *(*passed)(void *context, struct run *run, uint64_t hash);
	void *context;
};

/* The same on workers, for so many points in all and `seconds` at most: a failure is the same when it ends like
 * `failed`. `watch` may be NULL. */
struct error *reduce_steered(struct steer *steer, const struct run *failed, unsigned most, double seconds,
			     const struct reduce_watch *watch, struct schedule *best);

#endif
