/* A finding: an answer for a person. Which accesses of which threads, in the
 * order in which they went wrong, on which variables, why it is believed, and
 * what runs that passed did instead. Whatever method found it fills the same
 * struct; report/finding_view.c shows it. It owns copies of all its strings, so that
 * it outlives stores and tables.
 */
#ifndef MODEL_FINDING_H
#define MODEL_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "model/site.h"

#define FINDING_NO_THREAD UINT32_MAX
#define FINDING_NO_SITE UINT32_MAX

enum finding_class {
	FINDING_NONE,
	FINDING_ATOMICITY,
	FINDING_MULTI_ATOMICITY,
	FINDING_ORDER,
	FINDING_RACE,
	FINDING_DEADLOCK,
	FINDING_LOST_WAKEUP,
	FINDING_MEMORY,
	FINDING_CLASSES
};

/* A lock that a thread held at an access. Two accesses of one thread with the same section did not give
 * the lock back in between. */
struct finding_lock {
	uint64_t object;           /* equal for the same lock */
	size_t section;            /* which time it was taken */
	char *file, *function;     /* where it was taken; never NULL, may be "" */
	uint32_t line, given_back; /* lines; 0 = not known, not given back */
	char *back;                /* the function in which it was given back; never NULL, "" = it was not */
};

struct finding_access {
	uint32_t thread;                  /* 0 is the main thread; FINDING_NO_THREAD */
	uint64_t order;                   /* among the accesses of its thread; 0 unknown */
	enum site_kind kind;              /* what it did: an update can be met as read or write */
	uint32_t site;                    /* the store's number; FINDING_NO_SITE */
	char *file, *function, *variable; /* never NULL, may be "" */
	char *through;                    /* what of a system header was called there; never NULL */
	uint32_t line, column;
	struct {
		char *file, *function; /* NULL: not known, or called by nobody of the program */
		uint32_t line;
	} caller;     /* of the function that made it */
	size_t event; /* of the run that is told, + 1; 0 = not known */
	bool missing; /* the failed run ended before it was done */
	const char
		*role; /* of a call: "lock", "wait", "signal", "woken"; NULL for a plain access. A constant */
	bool locks_known;
	VEC(struct finding_lock) locks; /* held, in the order in which they were taken */
};

struct finding_accesses {
	struct finding_access *items;
	size_t n, room; /* as VEC */
};

/* What passing runs did with the accesses. Two accesses came the other way round; one thread's came before or after
 * both of the other's; one thread was done with all before the other began; or they met at another moment. */
struct finding_passing {
	enum { PASSING_UNKNOWN, PASSING_REVERSED, PASSING_APART, PASSING_IN_TURN, PASSING_OTHER_MOMENT } kind;
	uint32_t one, other;           /* threads */
	bool one_writes, other_writes; /* their accesses */
	uint64_t before, after;        /* runs in which `one` came before, and after, the other */
	uint64_t runs;                 /* passing ones at hand */
};

struct finding {
	unsigned rank; /* from 1 */
	enum finding_class class;
	unsigned scenario;                 /* 1..15: kind of interleaving (finding_scenario); 0 none */
	char *method;                      /* "locon II", "falcon" … */
	double score;                      /* 0..1, comparable within one method */
	VEC(char *) variables;             /* distinct names */
	struct finding_accesses accesses;  /* in the order of the failing interleaving */
	char *summary;                     /* what happened, where accesses do not tell; NULL */
	struct finding_passing passing;    /* what passing runs did instead */
	struct finding_accesses otherwise; /* the accesses in the order of passing runs; may be empty */
	VEC(char *) blocks;                /* heap blocks it is about, in words; may be empty */
	char *evidence;                    /* why it is believed, a sentence; NULL */
	uint64_t run;                      /* the failed run it explains; 0 none */
	struct {
		uint64_t passed, failed; /* runs it rests on */
	} runs;
	char *schedule; /* how to see it again; NULL */
};

/* A list of findings; releases itself with _cleanup_(findings_free). */
struct findings {
	struct finding *items;
	size_t n, room; /* as VEC */
};

/* The access as the site table describes it, pushed to the list. `site` may be NULL. */
struct finding_access *finding_add_access(struct finding_accesses *list, uint32_t number,
					  const struct site *site);
void finding_lock_free(struct finding_lock *lock); /* what it holds, not the struct */
void finding_accesses_free(struct finding_accesses *list);
/* Does the access free the block? */
bool finding_frees(const struct finding_access *access);
const char *finding_verb(const struct finding_access *access); /* "read", "write", "free" */
/* No order can be meant between two threads at one and the same line, since both run it: what looks
 * like one is half of an atomicity violation, and gets that class. */
void finding_settle(struct finding *finding);
/* Does it hold calls that synchronise? */
bool finding_has_calls(const struct finding *finding);
/* Is it a signal that woke another thread than the one that needed it? Signals, who was woken, who waits on. */
bool finding_taken_signal(const struct finding *finding);
/* Adds a name unless it is empty or there already. */
void finding_add_variable(struct finding *finding, const char *name);

const char *finding_class_name(enum finding_class class);  /* "order-violation" … */
const char *finding_class_words(enum finding_class class); /* for people */

#define FINDING_SCENARIOS 15u
/* The kinds of unserialisable or reversed interleavings of LOCON's Table 1:
 * 1-3 order, 4-7 one variable, 8-15 two variables. "" for others. */
const char *finding_scenario_pattern(unsigned scenario); /* "R-W-R" */

void finding_free(struct finding *finding); /* what it holds, not the struct */
void findings_free(struct findings *findings);

#endif
