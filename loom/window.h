/* How far a forced switch of a failing schedule can be moved until the failure goes
 * away, everything else being equal: an experiment on the program itself. What the
 * stopped thread does at the early edge must come before the others' part, what it
 * does at the late edge after it. Knows no processes: somebody else tries. */
#ifndef LOOM_WINDOW_H
#define LOOM_WINDOW_H

#include "loom/reduce.h"

/* One end of what was moved. */
struct window_edge {
	bool moved;               /* `schedule` is another one than that which was measured */
	bool sharp;               /* one point further and the failure is gone */
	struct schedule schedule; /* that still fails, when moved */
	struct schedule beyond;   /* that does not, when sharp */
	uint64_t site;            /* id of what stands at the edge, 0 = not known; when sharp */
};

struct window {
	size_t turn;                    /* in the schedule: the one that the switch ends */
	struct window_edge early, late; /* the switch, as early and as late as it may be */
	struct window_edge brief;       /* what the others do meanwhile, as little as is enough */
};

struct windows {
	struct window *items;
	size_t n, room; /* as VEC */
};
void windows_free(struct windows *windows);

/* The windows of the last few forced switches of `schedule`, which fails, within `most` tries. None
 * when following it does not lead to the failure again, each time. */
struct error *windows_measure(const struct schedule *schedule, reduce_try *try, void *context, unsigned most,
			      struct windows *out);

/* The same on workers, for `seconds` at most; `failed` says which failure is meant. */
struct error *windows_steered(struct steer *steer, const struct run *failed, const struct schedule *schedule,
			      double seconds, bool (*stop)(void), struct windows *out);

#endif
