/* What isolate has come to: the answer, the chain of failures behind it, the experiments and what they cost.
 * isolate/ fills it, report/isolate_view.c tells it. */
#ifndef MODEL_ISOLATION_H
#define MODEL_ISOLATION_H

#include "model/finding.h"
#include "model/isolate_format.h"
#include "model/run.h"
#include "model/symbols.h"

/* One failure and what was left out because of it. */
struct isolate_step {
	enum outcome outcome;
	int code;
	struct isolate_failure failure;
	size_t used,
		hop;   /* of the failure: whose definition was suppressed; used == nuses: nothing could be */
	bool left_out; /* and a run was made without it */
};

enum isolate_verdict {
	ISOLATE_NOTHING,   /* no run failed */
	ISOLATE_ORDER,     /* the order of threads is the cause, by experiment */
	ISOLATE_KEPT_LOCK, /* a lock was not given back that somebody wants */
	ISOLATE_ROOT,      /* without the last definition nothing fails any more */
	ISOLATE_UNDEFINED, /* what was used had never been given a value */
	ISOLATE_BEST,      /* the search ended before that; the last definition is the best answer */
	ISOLATE_UNKNOWN,   /* it failed, but not at a place that uses memory */
};

/* Why the answer is not certain, of ISOLATE_BEST and ISOLATE_UNKNOWN. */
enum isolate_why {
	WHY_NOT,
	WHY_NO_MEMORY,    /* what failed had used none */
	WHY_CONSTANT,     /* what failed came from no memory: NULL was returned, say */
	WHY_NO_WRITE,     /* what it used was written by nothing that can be left out */
	WHY_USED_UP,      /* the time or the number of steps */
	WHY_RUNS_ON,      /* the suppressed program does not end */
	WHY_ELSEWHERE,    /* without it the program takes another way and fails there */
	WHY_OTHER_ORDERS, /* of the threads pass, and no moved access showed which order it is */
};

/* A run in which an access was moved. */
enum isolate_moved { MOVED_ATOMIC, MOVED_ORDER, MOVED_ONCE, MOVED_FORCED, MOVED_DEFERRED };
struct isolate_experiment {
	enum isolate_moved use;
	struct finding_accesses accesses;
	bool passes, given_up, came;
};

struct isolation {
	enum isolate_verdict verdict;
	bool others_pass; /* not every order of its threads fails */
	bool sure;        /* of ISOLATE_ORDER: every experiment that was made agrees */
	enum isolate_why why;
	VEC(struct isolate_step) steps;
	struct isolate_place
		check; /* a branch without which, had it gone the other way, nothing fails; no address: none known */
	bool renewed; /* nothing fails when what an owner of memory had left there is cleared for the next one */
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
	struct isolate_led *led; /* of the original execution: accesses of code of headers */
	size_t nled;
};
void isolation_free(struct isolation *isolation);

/* The source of a place, as a site; the caller frees the unit. */
struct unit isolation_place(struct isolation *isolation, const struct isolate_place *place,
			    enum site_kind kind);
/* Is it in a function that was inlined there? */
bool isolation_is_inlined(struct isolation *isolation, const struct isolate_place *place);
/* Keeps what the original execution told of code of headers. */
void isolation_keep_led(struct isolation *isolation, const struct isolate_area *area);
/* The source of a traced access of a thread, its so many-th, that code of a header made; no site: of none. */
struct unit isolation_led_place(struct isolation *isolation, uint32_t thread, uint64_t order,
				enum site_kind kind);
/* Where the value of a hop came into being that came from nothing in memory: at another instruction that made it, or where
 * a function was called that was given it; no address: at the definition itself, or not known. */
struct isolate_place isolation_given(struct isolation *isolation, const struct isolate_use *use, size_t hop);
/* The hop of a use at which its value came into being; those before it only copied it. */
size_t isolation_origin(struct isolation *isolation, const struct isolate_use *use);
/* The hop whose definition is left out first: the origin; where nobody had written, what had said where to read; else
 * the last one before that. use->nhops: none. */
size_t isolation_suppressible(struct isolation *isolation, const struct isolate_use *use);

#endif
