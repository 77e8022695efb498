/* A schedule: which thread ran when, as a list of turns that can be followed
 * again, exactly, by the same build of the same program. Also as a small text
 * that a person can read and mail (format: doc/formats.md, "Schedule"). */
#ifndef MODEL_SCHEDULE_H
#define MODEL_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "model/claim.h"
#include "model/run_end.h"

enum schedule_policy {
	SCHEDULE_FREE, /* the machine decided: no schedule is known */
	SCHEDULE_RANDOM,
	SCHEDULE_PCT,
	SCHEDULE_POS,
	SCHEDULE_SURW,
	SCHEDULE_STAY,
	SCHEDULE_RANDOM_PLACES, /* of threads that run the same code: see enum area_policy */
	SCHEDULE_PCT_GROUPS,
	SCHEDULE_POS_PLACES,
	SCHEDULE_SURW_PLACES,
	SCHEDULE_CLOCK,
	SCHEDULE_POLICIES
};

/* Why a turn was over; the last one was when the process ended. */
enum schedule_stop { STOP_LAST, STOP_PREEMPTED, STOP_BLOCKED, STOP_ENDED, STOP_YIELDED };
#define SCHEDULE_ENDLESS (UINT64_C(1) << 62) /* points of a planned turn: until it blocks, ends or yields */
/* In the points of a planned turn: counted from the beginning of its thread; and a yield ends it, too. */
#define SCHEDULE_UNTIL (UINT64_C(1) << 61)
#define SCHEDULE_LOOSE (UINT64_C(1) << 60)
/* With SCHEDULE_UNTIL: as soon as the thread stands before `site`, after so many points. */
#define SCHEDULE_PLACE (UINT64_C(1) << 59)
/* Passed over when the thread of the planned turn before it, an UNTIL, has come where that one ends. */
#define SCHEDULE_GUARDED (UINT64_C(1) << 58)

/* `thread` runs for `points` points and stands before `site` then. With `wake` it
 * is no turn but a choice: of the thread that an unlock or a signal lets go on. */
struct schedule_turn {
	uint32_t thread;
	bool wake;
	enum schedule_stop stop;
	uint64_t points;
	uint64_t site; /* an id, 0 = not known */
};

enum schedule_waiting {
	WAITING_NOTHING,
	WAITING_MUTEX,
	WAITING_CONDITION,
	WAITING_READ_LOCK,
	WAITING_WRITE_LOCK,
	WAITING_BARRIER,
	WAITING_SEMAPHORE,
	WAITING_SPINLOCK,
	WAITING_ONCE,
	WAITING_JOIN,
	WAITING_ADDRESS,
	WAITING_INPUT,
	WAITING_KINDS
};

#define THREAD_NONE UINT32_MAX

/* What a thread waited for when the run could not go on. */
struct schedule_wait {
	uint32_t thread;
	enum schedule_waiting kind;
	uint64_t site; /* id of the call that waits */
	uint64_t address;
	uint32_t object;        /* objects are numbered by first use */
	uint32_t holder;        /* thread that has it, THREAD_NONE when none is known */
	uint64_t holder_site;   /* id of the call by which it got it */
	uint64_t missed_site;   /* the last signal that came when nobody waited, 0 = none */
	uint32_t missed_thread; /* who gave it */
	uint64_t fork_site;     /* it is the child of this fork, which copied the holder's lock; 0 = not */
	uint64_t taken_site;    /* the last signal while it waited that woke another, 0 = none, */
	uint32_t taken_thread;  /* who gave it, */
	uint64_t taker_site;    /* the wait from which that one was woken, */
	uint32_t taker_thread;  /* and who that was */
};

/* The access that does not keep to a heap block, with which a run ended. Sites are ids, 0 = not known;
 * threads may be THREAD_NONE. */
struct schedule_fault {
	enum memory_fault kind; /* MEMORY_NO_FAULT for most runs */
	uint32_t thread;
	bool write;
	uint64_t site;
	int64_t offset; /* in the block */
	uint64_t size, block;
	uint64_t born_site, freed_site;
	uint32_t born_thread, freed_thread;
};

struct schedule {
	uint64_t
		early_ns; /* an experiment: so much was left of a long wait that ran out while others could */
	uint32_t early_thread; /* go on, and whose it was; early_ns 0 = none. Not kept in files and stores. */
	char *program;         /* as it was started; may be NULL */
	char **arguments;      /* argv[1..], NULL-terminated; may be NULL */
	uint64_t build;
	enum schedule_policy policy;
	uint32_t depth; /* of PCT */
	uint64_t seed;
	uint64_t points;      /* of the whole run */
	uint64_t contested;   /* of these: when another thread could have gone on instead */
	enum outcome outcome; /* how it ended */
	int code;
	uint64_t output; /* hash of what it printed, 0 = not known */
	struct schedule_turn *turns;
	size_t nturns;
	/* What counts as a point besides synchronisation and what other threads have touched: every access,
	 * as in schedules of version 1, or those at the sites with these ids, which rise. */
	bool everywhere;
	uint64_t *sites;
	size_t nsites;
	struct schedule_wait *waits;
	size_t nwaits;
	struct schedule_fault fault;
	char *uncontrolled; /* what was not under control, one name per line; may be NULL */
	/* Where a run left the plan it was to follow: turn of the plan, thread, id of its site. */
	uint64_t diverged_turn;
	uint32_t diverged_thread;
	uint64_t diverged_site;
	struct claim *claim;        /* that was forced or forbidden; NULL: none */
	struct claim_counts counts; /* what became of it */
};

void schedule_free(struct schedule *schedule); /* what it holds, not the struct */
struct schedule schedule_copy(const struct schedule *schedule);

/* Names the interleaving: equal for equal turns. 0 when there are none. */
uint64_t schedule_hash(const struct schedule_turn *turns, size_t n);
/* The same turn by turn, from HASH_START on. */
uint64_t schedule_hash_turn(uint64_t hash, const struct schedule_turn *turn);

/* Turns that ended although their thread could have gone on. */
size_t schedule_preemptions(const struct schedule_turn *turns, size_t n);
/* How often another thread went on than the one before. */
size_t schedule_switches(const struct schedule_turn *turns, size_t n);

const char *schedule_policy_name(enum schedule_policy policy); /* "random", "pct" … */
const char *schedule_waiting_name(enum schedule_waiting kind); /* "mutex", "condition variable" … */

struct site;
/* Finds a site by its id; NULL when it is not known. */
typedef const struct site *schedule_lookup(void *context, uint64_t id);

/* Writes the text. `find` may be NULL. */
void schedule_write(FILE *out, const struct schedule *schedule, schedule_lookup *find, void *context);

/* Reads a text of any origin; the error names the line. `name` is for the error. */
struct error *schedule_parse(const char *text, size_t size, const char *name, struct schedule *out);
struct error *schedule_read(const char *path, struct schedule *out);

#endif
