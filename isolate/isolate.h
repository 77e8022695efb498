/* From a crash back to its root cause by suppressed re-execution (SUPPRESS, Figure 1): the
 * failure, what it used, who last defined that; is the order of two threads to blame, by
 * re-execution with an access moved; else the definition and all that depends on it is
 * left out and the program runs again, until it fails no more. */
#ifndef ISOLATE_ISOLATE_H
#define ISOLATE_ISOLATE_H

#include "loom/launch.h"
#include "model/isolation.h"
#include "model/schedule.h"
#include "report/isolate_words.h"

/* ---- channel.c: runs in which values are followed ---- */
struct channel {
	int fd;
	struct isolate_area *area;
};
struct error *channel_open(struct channel *channel);
void channel_close(struct channel *channel);
/* What the user watches, for all runs. */
struct error *channel_watch(struct channel *channel, const char *watch, const char *program);
/* Runs once with what the area plans. A schedule is followed as far as that can be; NULL: none. */
struct error *channel_run(struct channel *channel, const struct launch_options *launch,
			  const struct schedule *schedule, bool traced, struct run *run);

/* ---- isolate.c ---- */
struct isolate_options {
	const struct launch_options *launch; /* on the binary loom */
	const struct schedule *schedule;     /* that fails; NULL: the failure is looked for */
	bool others_pass;                    /* it is known that not every schedule fails */
	unsigned jobs;
	uint64_t seed;
	double time_s;      /* for all, about */
	uint64_t hunt_most; /* schedules in which the failure is looked for; 0: as many as the time allows */
	bool trail_only;   /* one execution with values followed: what the failure hangs on, no experiments */
	const char *watch; /* FILE:LINE:EXPRESSION, FILE:LINE or an address whose value is wrong; NULL */
	bool (*stop)(void);                    /* may be NULL */
	void (*stage)(enum isolate_stage now); /* may be NULL */
};

struct error *isolate(const struct isolate_options *options, struct isolation *out);
void isolate_say(const struct isolate_options *options, enum isolate_stage now);
bool isolate_is_over(const struct isolate_options *options, double deadline);
/* Ends a run after so many seconds at most, and not at once. */
void isolate_bound(struct launch_options *launch, double seconds);

/* ---- original.c ---- */
bool isolate_hangs(enum outcome outcome);
/* Does a run that ended so start the search? With a watch every failing one does. */
bool isolate_fails(const struct isolate_options *options, enum outcome outcome, enum label label);
/* The failing run into out->original and its schedule; without one out->runs.original is 0. */
struct error *isolate_original(const struct isolate_options *options, struct isolation *out,
			       struct channel *channel, double deadline, struct schedule *schedule);

/* ---- provoke.c ---- */
/* Forces interleavings that a run which passed, out->original, did not have, until one fails. */
struct error *isolate_provoke(const struct isolate_options *options, struct isolation *out, double until,
			      struct run *failed);

/* ---- root.c: the finding when no order is to blame ---- */
void isolation_tell_root(struct isolation *isolation);

/* ---- crash_values.c: the finding when only the trail is asked for ---- */
void isolation_tell_trail(struct isolation *isolation, const struct isolate_failure *failure);

/* ---- order_check.c ---- */
/* Is the order of two threads to blame for what the failure depends on? Then *found and the finding is filled.
 * At most so many experiments are made, with those that were made before. */
struct error *order_check(const struct isolate_options *options, struct isolation *isolation,
			  const struct schedule *schedule, const struct isolate_failure *failure,
			  uint64_t most, bool *found);

#endif
