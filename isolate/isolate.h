/* From a crash back to its root cause by suppressed re-execution (SUPPRESS, Figure 1): the
 * failure, what it used, who last defined that; is the order of two threads to blame, by
 * re-execution with an access moved; else the definition and all that depends on it is
 * left out and the program runs again, until it fails no more. */
#ifndef ISOLATE_ISOLATE_H
#define ISOLATE_ISOLATE_H

#include "model/isolate_format.h"
#include "loom/launch.h"
#include "model/finding.h"
#include "model/schedule.h"
#include "model/symbols.h"

/* ---- channel.c: runs in which values are followed ---- */
struct channel {
	int fd;
	struct isolate_area *area;
	const char *watched; /* name of the variable that is watched; NULL */
};
struct error *channel_open(struct channel *channel);
void channel_close(struct channel *channel);
/* What the user watches, for all runs; *variable is NULL or a part of `watch`. */
struct error *channel_watch(struct channel *channel, const char *watch, const char *program,
			    const char **variable);
/* Runs once with what the area plans. A schedule is followed as far as that can be; NULL: none. */
struct error *channel_run(struct channel *channel, const struct launch_options *launch,
			  const struct schedule *schedule, bool traced, struct run *run);

/* ---- isolate.c ---- */
struct isolate_options {
	const struct launch_options *launch; /* on the binary loom */
	const struct schedule *schedule;     /* that fails; NULL: the failure is looked for */
	unsigned jobs;
	uint64_t seed;
	double time_s;      /* for all, about */
	const char *watch;  /* FILE:LINE:VARIABLE, FILE:LINE or an address whose value is wrong; NULL */
	bool (*stop)(void); /* may be NULL */
	void (*stage)(const char *now); /* may be NULL */
};

/* One failure and what was left out because of it. */
struct isolate_step {
	enum outcome outcome;
	int code;
	struct isolate_failure failure;
	size_t used,
		hop; /* of the failure: whose definition was suppressed; used == nuses: nothing could be */
};

enum isolate_verdict {
	ISOLATE_NOTHING,   /* no run failed */
	ISOLATE_ORDER,     /* the order of threads is the cause, by experiment */
	ISOLATE_ROOT,      /* without the last definition nothing fails any more */
	ISOLATE_UNDEFINED, /* what was used had never been given a value */
	ISOLATE_BEST,      /* the search ended before that; the last definition is the best answer */
	ISOLATE_UNKNOWN,   /* it failed, but not at a place that uses memory */
};

/* A run in which an access was moved. */
enum isolate_moved { MOVED_ATOMIC, MOVED_ORDER, MOVED_ONCE, MOVED_FORCED, MOVED_DEFERRED };
struct isolate_experiment {
	enum isolate_moved use;
	char *accesses; /* "T1 read file.c:12, T2 write file.c:30" */
	bool passes, given_up, came;
};

struct isolation {
	enum isolate_verdict verdict;
	bool hunted;     /* it does not fail in every order of its threads */
	bool sure;       /* of ISOLATE_ORDER: every experiment that was made agrees */
	const char *why; /* of ISOLATE_BEST and ISOLATE_UNKNOWN, a clause. A constant */
	VEC(struct isolate_step) steps;
	VEC(struct isolate_experiment) experiments;
	struct finding finding;
	struct {
		uint64_t original, suppression, race, violation, hunt; /* executions */
	} runs;
	uint64_t skipped; /* in the last suppressed run: loads, stores, branches and calls */
	double deadline, wall_s;
	struct symbols *symbols;
	char modules[ISOLATE_MODULES][ISOLATE_PATH];
	struct run original;
};

struct error *isolate(const struct isolate_options *options, struct isolation *out);
void isolation_free(struct isolation *isolation);

/* The source of a place, as a site; the caller frees the unit. */
struct unit isolation_place(struct isolation *isolation, const struct isolate_place *place,
			    enum site_kind kind);

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

/* ---- order_check.c ---- */
/* Is the order of two threads to blame for what the failure depends on? Then *found and the finding is filled.
 * At most so many experiments are made, with those that were made before. */
struct error *order_check(const struct isolate_options *options, struct isolation *isolation,
			  const struct schedule *schedule, const struct isolate_failure *failure,
			  uint64_t most, bool *found);

#endif
