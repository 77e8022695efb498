/* The main job: make the program fail, be sure of it, find out why. Stage by stage;
 * a stage that runs out of time or is interrupted leaves what it has. The methods that
 * explain a failure each add an opinion (method_*.c); judge.c makes one answer of them.
 */
#ifndef DIAGNOSE_DIAGNOSIS_H
#define DIAGNOSE_DIAGNOSIS_H

#include "diagnose/chase.h"
#include "diagnose/crash_trail.h"
#include "diagnose/experiment.h"
#include "diagnose/replays.h"
#include "diagnose/retell.h"
#include "diagnose/shown_accesses.h"
#include "diagnose/causes.h"
#include "report/diagnosis_view.h"
#include "report/diagnosis_words.h"

struct diagnosis;

struct diagnosis_options {
	enum loom loom;
	const char *program; /* path, as launch_check resolved it */
	const char *only;    /* as in struct launch_options */
	char **argv;         /* as the user wrote it */
	uint64_t build, seed;
	uint64_t
		schedules; /* at most, instead of time_s: then nothing depends on how fast the machine is; 0: time_s */
	unsigned jobs;
	double time_s, timeout_s;
	const char *check, *expect, *store;
	const struct findings *candidates;       /* of a scan, to be tried as well; NULL for none */
	struct world *world;                     /* of all runs */
	bool (*stop)(void);                      /* Ctrl-C */
	void (*stage)(enum diagnosis_stage now); /* what goes on now; may be NULL */
	/* Follows the crash back to what led to it; NULL: nobody does. */
	struct error *(*isolate)(const struct diagnosis *diagnosis, const struct crash_question *question,
				 struct crash_answer *out);
};

struct diagnosis {
	const struct diagnosis_options *options;
	struct launch_options launch; /* controlled */
	struct store *store;
	struct tally tally; /* of the hunt; the failure is in there */
	struct run plain;   /* alone, not controlled */
	bool has_plain;
	bool always; /* no schedule passed: the order of threads does not matter */
	bool timing; /* even the shortest schedule that was found needs too many switches to be explained */
	double deadline;
	struct replays replays;
	struct retold retold; /* the shortest failing run, traced */
	bool has_story;
	struct trace trace;
	struct windows windows; /* of its forced switches */
	struct hints claims;    /* what these point at */
	uint64_t shortest;      /* its number in the store, 0 = not recorded */
	struct opinions opinions;
	struct causes causes;
	struct crash_trail trail; /* beside them */
	double wall_s;
	bool interrupted;
};

/* Runs all stages. What was learnt is in *out, which the caller frees, also after an error. */
struct error *diagnose(const struct diagnosis_options *options, struct diagnosis *out);
void diagnosis_free(struct diagnosis *diagnosis);
/* Did the program, run as it is, end by a signal? */
bool diagnosis_crashed_plainly(const struct diagnosis *diagnosis);

/* A method: adds what it thinks to `opinion`, whose head is filled, or leaves it empty. */
struct method {
	struct opinion head;
	struct error *(*ask)(struct diagnosis *diagnosis, struct opinion *opinion);
};
extern const struct method method_waits, method_memory, method_isolate, method_fault, method_locate,
	method_locate_shortest, method_rank, method_switches, method_wakes, method_candidates;

/* What is told of it; borrowed from the diagnosis. */
struct diagnosis_view diagnosis_facts(const struct diagnosis *diagnosis);

#endif
