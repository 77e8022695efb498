/* A hunt whose runs are recorded: schedule after schedule until one fails and enough
 * others have passed, then the failing one is made short. For the verbs that need a
 * failure and runs to compare it with.
 */
#ifndef DIAGNOSE_CHASE_H
#define DIAGNOSE_CHASE_H

#include "loom/hunt.h"
#include "loom/launch.h"
#include "loom/window.h"
#include "model/tally.h"
#include "store/store.h"

struct chase_options {
	const struct launch_options *launch;
	unsigned jobs, arms;
	uint64_t seed, schedules;  /* at most; 0: as the time allows */
	double seconds;            /* at most; 0: no limit */
	double patience_s;         /* for enough passing runs after a failure; 0: no limit */
	const struct claim *claim; /* in every schedule; NULL: none */
	const struct run *plain;   /* of the program as it is, when it was run; NULL */
	/* As in loom/hunt.h; must live as long as the chase. */
	const struct claim *focus;
	size_t nfocus;
	unsigned focus_every;
	bool keep_going;    /* use all up also after a failure */
	bool (*stop)(void); /* Ctrl-C; may be NULL */
};

#define CHASE_NEAR 40 /* runs that pass while the schedule is made short: as many are recorded, as a rule */

struct chase;
/* Runs once without forced switches, to see that the program runs at all, and starts
 * the workers. `tally` says how many passing runs are wanted, and in which campaign. */
struct error *chase_start(const struct chase_options *options, struct store *store, struct tally *tally,
			  struct chase **out);
/* Until nothing more is to be learnt. */
struct error *chase_follow(struct chase *chase);
/* Makes tally->failure.reduced, for `seconds` at most. With `near` runs that pass on the
 * way, so many at most, are recorded too: they differ least from the failure. */
struct error *chase_shorten(struct chase *chase, double seconds, uint64_t near);
/* How far the forced switches of tally->failure.reduced can be moved, for `seconds` at most. The
 * caller frees *out, also after an error. */
struct error *chase_measure(struct chase *chase, double seconds, struct windows *out);
/* The workers, when nothing of the hunt is to come any more. */
struct steer *const *chase_server(const struct chase *chase); /* for single runs: launch_options.server */
struct error *chase_steer(struct chase *chase, struct steer **out);
void chase_stop(struct chase *chase);
void chase_stopp(struct chase **chase);

#endif
