/* A run: one execution with its outcome, its label and what it taught. */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/code_place.h"
#include "model/run_end.h"
#include "model/schedule.h"

#define SITE_NIL UINT32_MAX  /* "no access before": nil predecessor, null source */
#define LOOP_NONE UINT32_MAX /* the access was in no loop */
#define ITERATION_UNKNOWN UINT64_MAX

enum label {
	LABEL_PASS = 1,
	LABEL_FAIL,
};

/* Where an access stood in the loops of its thread: the innermost loop, which
 * entry into it since the thread began, and the iteration, both from 1. */
struct loop_point {
	uint32_t site; /* LOOP_NONE outside of loops */
	uint64_t entry, iteration;
};

enum pair_kind {
	PAIR_WRITE_READ = 1,
	PAIR_READ_WRITE,
	PAIR_WRITE_WRITE,
};

/* Two accesses of two threads to one location, the second depending on the
 * first. Identity: kind, both sites, both threads; the rest describes the first
 * occurrence in this run. A run lists its pairs in order of first occurrence. */
struct pair {
	enum pair_kind kind;
	uint32_t head_site, tail_site;
	uint32_t head_thread, tail_thread; /* 0 is the main thread, then by creation */
	uint64_t head_order, tail_order;   /* thread-local order of the two accesses */
	uint64_t address;
	struct loop_point head_loop, tail_loop;
	bool open; /* in a controlled run: the head's thread had not synchronised since; not kept in stores */
};

/* What makes a pair the same in all runs of a campaign. */
struct pair_identity {
	enum pair_kind kind;
	uint32_t head_site, tail_site;
	uint32_t head_thread, tail_thread;
};
static inline struct pair_identity pair_identity_of(const struct pair *pair)
{
	return (struct pair_identity){ pair->kind, pair->head_site, pair->tail_site, pair->head_thread,
				       pair->tail_thread };
}

/* Two pairs, the first with its head in the thread in which the second has its tail,
 * which did not come back to the first's location in between: indexes into the run's pairs. */
struct couple {
	uint32_t first, second;
	uint32_t span; /* accesses of that thread between the two, at the first occurrence */
	/* One other thread took part, and began with the second; or two did, and the first's came to the
	 * second's location in between as well. */
	bool crossed;
};

/* `before` was the last access by another thread when `site` ran. */
struct predecessor {
	uint32_t site, before; /* before may be SITE_NIL */
};

/* BUGABOO's edge: last writer and its context, then reader or writer and its
 * context. A context is the last communication events of the thread, two bits
 * each, newest lowest, and a 1 above them that tells how many there are: an empty
 * one is 1. Runs that keep 8 events have no room for that bit: there all contexts
 * have 8, and a thread begins with 8 local reads. */
enum context_event { EVENT_LOCAL_READ, EVENT_LOCAL_WRITE, EVENT_REMOTE_READ, EVENT_REMOTE_WRITE };
#define CONTEXT_MOST 8u
#define CONTEXT_EMPTY 1u
/* How many events a context of a run that kept `kept` of them holds. */
unsigned context_events(uint16_t context, unsigned kept);
/* How many events the run must have kept that shows this context, at least. */
unsigned context_kept(uint16_t context);

struct edge {
	uint32_t source, sink; /* source may be SITE_NIL, then source_context is 0 */
	uint16_t source_context, sink_context;
	bool write; /* the sink writes (WAW), else it reads (RAW) */
};

/* An access, in the one order of all accesses of a run; only traced runs have them. */
struct event {
	uint64_t address, size;
	uint32_t site, thread;
	bool write;
};

/* Addresses in their files behind an access and behind the call of the function that made it; 0 = not known. */
struct told_access {
	uint64_t at, caller;
	char *at_path, *caller_path; /* the files; NULL: that of the access's site */
};

/* A block that was allocated, or a variable on a stack that began, when `before` events had happened;
 * only traced runs have them. */
struct block {
	uint64_t address, size;
	uint32_t site; /* SITE_NIL for those of stacks and of libraries without hooks */
	bool stack;    /* a variable on a stack, by its announcement */
	size_t before;
};

/* A call that synchronises, done when `before` events had happened; only traced runs have them. */
enum call_kind { CALL_ACQUIRE = 1, CALL_RELEASE, CALL_CREATE, CALL_JOIN };
struct call {
	enum call_kind kind;
	uint32_t site; /* SITE_NIL when it is not known */
	uint32_t thread;
	uint64_t object; /* address of the lock; number of the thread that was made or joined */
	size_t before;
};

/* A unit that was loaded in the run: its sites are first .. first + nsites - 1. On the binary loom a unit is one
 * place, which has no table: symbols_unit makes it. */
struct run_unit {
	uint64_t hash;
	uint32_t first, nsites;
	char *path; /* ELF file that holds the unit's table, or the place */
	bool is_place;
	struct code_place place;
	char *what; /* the function that is called at the place; NULL = none */
};

/* What a simulated machine counts (BUGABOO, Table 5). */
enum machine_count {
	MACHINE_ACCESSES, /* to lines */
	MACHINE_READ_MISSES,
	MACHINE_WRITE_MISSES,     /* upgrades included */
	MACHINE_COHERENCE_MISSES, /* those in which another cache took part */
	MACHINE_METADATA_WRITES,
	MACHINE_TABLE_WRITES,
	MACHINE_TRAPS,     /* the communication table was full */
	MACHINE_DISCARDED, /* what would have entered it while it was read */
	MACHINE_COUNTS
};

/* What a run taught. Site numbers are those of `units`. */
struct observations {
	struct run_unit *units;
	size_t nunits;
	struct pair *pairs;
	size_t npairs;
	struct couple *couples;
	size_t ncouples;
	struct predecessor *predecessors;
	size_t npredecessors;
	struct edge *edges;
	size_t nedges;
	struct event *events; /* of the first process */
	size_t nevents;
	struct told_access *told; /* of the accesses that were asked for, in order */
	size_t ntold;
	struct block *blocks; /* in order of allocation, of the first process */
	size_t nblocks;
	struct call *calls; /* in their order, of the first process */
	size_t ncalls;
	uint32_t nthreads, nprocesses;
	uint64_t dropped;                 /* observations that found no room: 0 means complete */
	uint64_t accesses;                /* hooked accesses executed */
	uint64_t machine[MACHINE_COUNTS]; /* of a run on a simulated machine */
};

/* How a run was observed; runs of older stores do not know. */
struct run_settings {
	bool known;
	uint32_t observe; /* bits in the order pairs, predecessors, edges, trace */
	uint32_t context; /* events kept per thread */
	bool line;        /* edges between cache lines */
	bool machine;     /* as a simulated machine sees them; then also `line` */
	uint64_t seed;    /* of the delays, or of the policy */
};

struct run {
	uint64_t number; /* given by the store, from 1 */
	enum outcome outcome;
	int code;
	enum label label;
	char *reason; /* owned; why it has its label, one clause: "exit status 3", "output differs from expect.txt" */
	double wall_s, cpu_s;
	uint64_t peak_kib;
	int64_t started; /* Unix time, microseconds */
	uint32_t jitter_us;
	struct run_settings settings;
	char *output;             /* tail of stderr and stdout, kept for failed runs; may be NULL */
	struct schedule schedule; /* policy SCHEDULE_FREE and no turns unless the run was controlled */
	struct schedule reduced;  /* with the fewest switches that still fail; mostly none */
	struct observations observations;
};

void observations_free(struct observations *observations);
void run_free(struct run *run); /* frees what it holds, not the struct */

#endif
