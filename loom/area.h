/* The run area: the one shared memory file (memfd) in which the runtime keeps
 * all that a run teaches, so that launch can harvest it however the program
 * ends. Written by loom/runtime inside the program, read by loom/harvest.c.
 * Layout: doc/formats.md, "Run area". Plain C types only: the runtime has
 * nothing but libc. */
#ifndef LOOM_AREA_H
#define LOOM_AREA_H

#include <stdint.h>

#include "model/claim.h"

#define AREA_ENVIRONMENT "UNSNARL_AREA" /* number of the inherited descriptor */
#define AREA_MAGIC 0x61657261736e75ull  /* "unsarea" */
#define AREA_VERSION 14u

/* Bits of area_options.observe. */
enum {
	OBSERVE_PAIRS = 1,
	OBSERVE_PREDECESSORS = 2,
	OBSERVE_EDGES = 4,
	OBSERVE_ALL = 7,
	OBSERVE_TRACE = 8, /* the whole sequence of accesses, in one global order */
	OBSERVE_LOOPS =
		16, /* binary loom: in which entry and iteration of which loop the ends of pairs stood */
};

#define AREA_PROCESSES 64u /* observed processes of one run (fork, exec) */
#define AREA_SLOTS 1024u   /* threads alive at once; slot 0 is nobody */
#define AREA_UNITS 16384u
#define AREA_PATH_BYTES (1u << 20)
#define AREA_PAIRS (1u << 21)
#define AREA_PREDECESSORS (1u << 22)
#define AREA_EDGES (1u << 22)
#define AREA_EVENTS (1u << 22)
#define AREA_COUPLES (1u << 21)
#define AREA_PLACES (1u << 18)
#define AREA_MODULES 1024u

/* In area_options.line. */
#define AREA_MACHINE 0x100u
#define AREA_MACHINE_CORES 0xffu

/* Of so many accesses of a traced run it can be asked from where their functions were called. */
#define AREA_TOLD 48u

/* Set by the parent before the program starts. */
struct area_options {
	uint32_t observe;   /* OBSERVE_* */
	uint32_t context;   /* events kept per thread, 0..8 */
	uint32_t line;      /* 1: edges between 64-byte lines instead of exact locations;
			       AREA_MACHINE | cores: what a simulated machine's caches see */
	uint32_t jitter_us; /* longest random delay at shared accesses, 0 = none */
	uint64_t seed;      /* of the random delays */
	uint32_t ntold, reserved;
	uint32_t told[AREA_TOLD]; /* accesses of the trace, by number, rising, whose callers are wanted */
};

/* Controlled mode: one thread runs at a time, and at every point the policy decides who goes on. A
 * point is a synchronisation call, an access to a place that another thread has touched in this run,
 * and an access at one of the sites in area_schedule.sites. Nobody else's access depends on the order
 * of the others. */
enum area_policy {
	POLICY_FREE,   /* not controlled */
	POLICY_RANDOM, /* random walk: any thread that can run, at every point */
	POLICY_PCT,    /* random priorities, `depth` - 1 changes at random points */
	POLICY_POS,    /* partial order sampling */
	POLICY_SURW,   /* threads weighted by the points they have left */
	POLICY_STAY,   /* the running thread goes on until it blocks: for plans and reduced schedules */
	/* The same for threads that run the same code: the choice is among the places where threads are about to
	 * go on, then among the threads there; with PCT groups of threads have priorities. */
	POLICY_RANDOM_PLACES,
	POLICY_PCT_GROUPS,
	POLICY_POS_PLACES,
	POLICY_SURW_PLACES,
	POLICY_CLOCK, /* who has run for the shortest time: as with a processor for each thread */
};

/* The policy without regard to places. */
static inline uint32_t area_policy_base(uint32_t policy)
{
	switch (policy) {
	case POLICY_RANDOM_PLACES:
		return POLICY_RANDOM;
	case POLICY_PCT_GROUPS:
		return POLICY_PCT;
	case POLICY_POS_PLACES:
		return POLICY_POS;
	case POLICY_SURW_PLACES:
		return POLICY_SURW;
	default:
		return policy;
	}
}

#define CONTROL_THREADS 64u
struct area_control {
	uint32_t policy; /* enum area_policy */
	uint32_t depth;  /* of PCT */
	uint32_t nplan;  /* turns in the plan, followed before the policy decides */
	uint32_t strict; /* 1: the plan is all; a turn that cannot be taken ends the run as diverged */
	uint32_t carry;  /* 1: threads run on each other's kernel threads: fast, but debuggers are confused */
	uint32_t light;  /* 1: nobody looks for couples, which takes the most time of all observations */
	uint64_t stop_order;   /* for debuggers: unsnarl_here is called before this access, from 1 on, */
	uint32_t stop_thread;  /* of this thread; order 0 = nowhere */
	uint32_t everywhere;   /* 1: every hooked access is a point */
	uint32_t nsites;       /* in area_schedule.sites */
	uint32_t aside;        /* 1: the plan does not count points that only the claim makes (binary loom) */
	uint64_t points;       /* contested points expected in a run, from earlier ones; 0 = unknown */
	uint64_t most_points;  /* the run ends as a livelock beyond this; 0 = no limit */
	uint64_t slow_points;  /* the run ends as too slow beyond this; 0 = no limit */
	uint64_t still_points; /* points without any news that are a livelock; at least a million */
	uint32_t early;        /* 1, an experiment: long waits may run out while others can go on */
	uint32_t reserved_too;
	uint32_t thread_points
		[CONTROL_THREADS]; /* points expected of each thread (the sum over its turns), 0 =
						    unknown: for SURW */
	struct claim claim;        /* forced or forbidden, when it says so */
};

/* First page of the file. */
struct area_head {
	uint64_t magic;
	uint32_t version;
	uint32_t processes; /* claimed process areas, by atomic increment; may exceed AREA_PROCESSES */
	uint32_t threads;   /* thread numbers given out over all processes */
	uint32_t
		bound; /* 1: a socket was bound to a port, or a name without a file, of the program's choice */
	struct area_options options;
	struct area_control control;
};

/* A logged observation counts when its `state` is AREA_VALID: it is set last. */
enum { AREA_VALID = 1 };

/* Stands for threads that ended so long ago that their slot was needed again. */
#define AREA_THREAD_GONE UINT32_MAX

#define AREA_LOOP_NONE 0u
#define AREA_ITERATION_UNKNOWN UINT64_MAX

struct area_loop {
	uint32_t site; /* AREA_LOOP_NONE outside of loops */
	uint32_t entry;
	uint64_t iteration;
};

struct area_pair { /* in order of first occurrence */
	uint32_t state;
	uint32_t kind;                     /* enum pair_kind of model/run.h */
	uint32_t head_site, tail_site;     /* process-wide numbers, from 1 */
	uint32_t head_thread, tail_thread; /* run-wide numbers, 0 = the first thread; AREA_THREAD_GONE */
	uint64_t head_order, tail_order;
	uint64_t address;
	struct area_loop head_loop, tail_loop;
	uint32_t open; /* under control: once, the head's thread had passed no synchronisation call since */
	uint32_t reserved;
};

/* Of these there may be many: sites have 22 bits, and stand beside smaller things. */
struct area_predecessor {
	uint32_t site : 24;
	uint8_t state;
	uint32_t before; /* 0 = nil */
};

struct area_edge {
	uint32_t source : 24; /* 0 = null */
	uint8_t state;
	uint32_t sink : 24;
	uint8_t write;
	uint16_t source_context, sink_context;
};

/* Two pairs of the log: one with its head in a thread, then one with its tail in the same one, on the
 * same or another location, before that thread came back to the first. */
struct area_couple {
	uint32_t first : 24; /* numbers of pairs */
	uint8_t state;
	uint32_t second : 24;
	uint8_t crossed; /* 1: the other thread is one, and it did the second's head before the first's tail; or
			  * they are two, and the first's also came to the second's location, after the first's
			  * tail and before the second's head */
	uint32_t span;   /* accesses of the thread from the head of the first to the tail of the second */
};
_Static_assert(AREA_PAIRS <= 1u << 24, "a couple names any pair");

/* AREA_FORGET: a range began a new life; `site`, if not 0, is the call that allocated it, and `order` is 1 for a
 * variable on a stack. */
/* Calls, under control only: a lock was taken or given back (its address), a thread was made or joined (its
 * number instead of an address). */
enum area_action {
	AREA_READ = 1,
	AREA_WRITE,
	AREA_FORGET,
	AREA_ACQUIRE,
	AREA_RELEASE,
	AREA_CREATE,
	AREA_JOIN
};

struct area_event {
	uint64_t address, size;
	uint64_t order; /* in its thread */
	uint32_t site;
	uint32_t thread; /* run-wide */
	uint32_t action; /* enum area_action */
	uint32_t state;
};

struct area_unit {
	uint64_t hash;
	uint32_t first, nsites; /* process-wide numbers first .. first + nsites - 1 */
	uint32_t path;          /* offset of the ELF file's path in area_process.paths */
	uint32_t state;
};

/* The binary loom has no units: it numbers the places (model/code_place.h) that it meets, from 1, and the files that
 * they are in. */
struct area_module {
	uint32_t path; /* offset of the file's path in area_process.paths */
	uint32_t state;
};

struct area_place {
	uint64_t address;  /* in the file, as the linker gave it */
	uint64_t variable; /* address in the file of what it always touches; 0 = it varies */
	uint32_t module;
	uint32_t kind; /* enum site_kind, and PLACE_ATOMIC */
	uint32_t size; /* bytes, 0 = varies */
	uint32_t what; /* offset in area_process.paths of the name of the function that is called; 0 = none */
	uint32_t state;
	uint32_t reserved;
};

#define AREA_MACHINE_COUNTS 8u /* MACHINE_COUNTS of model/run.h */

/* Addresses in their files behind an access and behind the call of the function that made it; 0 = not known. */
struct area_caller {
	uint32_t at, caller;
	uint32_t at_path,
		caller_path; /* offsets of the files' paths in area_process.paths, + 1; 0 = the site's file */
};

struct area_process {
	int32_t pid;
	uint32_t started;                               /* 1 when the runtime is ready */
	uint32_t nunits, npairs, npredecessors, nedges; /* may exceed the arrays: then the rest was dropped */
	uint32_t path_bytes;
	uint32_t live;    /* threads alive */
	uint32_t created; /* threads ever created in this process */
	uint32_t nevents;
	uint32_t ncouples;
	uint32_t nplaces; /* 0 unless the process was seen by the binary loom */
	uint32_t nmodules;
	uint32_t reserved;
	uint64_t dropped;  /* observations without room, or lost to a signal handler inside the runtime */
	uint64_t accesses; /* of threads that have ended; living ones: area_slot_order */
	uint64_t machine[AREA_MACHINE_COUNTS]; /* what the simulated machine counted */
	struct area_caller callers[AREA_TOLD]; /* of area_options.told */
	uint64_t slot_order[AREA_SLOTS];       /* accesses so far of the thread in each slot */
	char paths[AREA_PATH_BYTES];
	struct area_unit units[AREA_UNITS];
	struct area_pair pairs[AREA_PAIRS];
	struct area_predecessor predecessors[AREA_PREDECESSORS];
	struct area_edge edges[AREA_EDGES];
	struct area_event events[AREA_EVENTS];
	struct area_couple couples[AREA_COUPLES];
	struct area_module modules[AREA_MODULES];
	struct area_place places[AREA_PLACES];
};

/* A turn: `thread` runs for `points` points and stops before the last one's successor, at
 * `site`. The turns of a run are its schedule. The point at which a thread stood, the wait
 * in which it was blocked or its beginning counts as passed when its turn comes, so every
 * turn but the first has at least one point. The last turn is the one in which the process
 * ended: its end is 0. TURN_WAKE: no turn but a choice, made in the TURN_RUN before it, of the
 * thread that a signal lets go on. */
enum area_turn_kind { TURN_RUN = 1, TURN_WAKE };
/* TURN_YIELDED: it called sched_yield or only went in circles. A turn of a plan with AREA_ENDLESS
 * points lasts until its thread blocks, ends or yields. */
enum area_turn_end { TURN_PREEMPTED = 1, TURN_BLOCKED, TURN_ENDED, TURN_YIELDED };
#define AREA_ENDLESS (1ull << 62)
/* In the points of a planned turn: they are counted from the thread's beginning; and a yield ends it, too. Not
 * in strict plans. */
#define AREA_UNTIL (1ull << 61)
#define AREA_LOOSE (1ull << 60)
/* With AREA_UNTIL: when its thread has passed so many points and next stands before the turn's site. */
#define AREA_PLACE (1ull << 59)
/* Passed over when the thread of the turn before it, an AREA_UNTIL, has come where that one ends. */
#define AREA_GUARDED (1ull << 58)
struct area_turn {
	uint32_t thread; /* run-wide */
	uint16_t kind, end;
	uint64_t points;
	uint64_t site; /* its id (struct site), 0 = not known */
};

/* What a thread waits for when a controlled run cannot go on. */
enum area_wait_kind {
	WAIT_NOTHING,
	WAIT_MUTEX,
	WAIT_CONDITION,
	WAIT_READ_LOCK,
	WAIT_WRITE_LOCK,
	WAIT_BARRIER,
	WAIT_SEMAPHORE,
	WAIT_SPINLOCK,
	WAIT_ONCE,
	WAIT_JOIN,
	WAIT_ADDRESS, /* futex, atomic wait */
	WAIT_INPUT,   /* a pipe, a socket */
};
struct area_wait {
	uint32_t thread, kind; /* kind: enum area_wait_kind */
	uint64_t site;         /* id of the call that waits */
	uint64_t address;      /* of the object */
	uint32_t object;       /* number of the object, by first use in the run */
	uint32_t holder;       /* thread that has it, AREA_THREAD_GONE = none known */
	uint64_t holder_site;  /* id of the call by which the holder got it */
	uint64_t missed_site;  /* WAIT_CONDITION: the last signal that came when nobody waited, 0 = none */
	uint64_t taken_site;   /* WAIT_CONDITION: the last signal that woke another meanwhile, 0 = none, */
	uint64_t taker_site;   /* and the wait from which that one was woken */
	uint64_t fork_site;    /* it is the child of this fork, which copied the holder's lock; 0 = not */
	uint32_t missed_thread, taken_thread; /* who gave these signals, */
	uint32_t taker_thread, reserved;      /* and who took the second */
};

/* A child of a fork that waits for ever. It counts when `state` is AREA_VALID. */
#define AREA_STUCK 8u
#define AREA_WAITS (AREA_SLOTS + AREA_STUCK)
struct area_stuck {
	uint32_t state;
	int32_t pid;
	struct area_wait wait;
};

/* A controlled process that cannot or must not go on ends with this status; `end` says why. */
#define CONTROL_STATUS 124
enum area_end { END_NONE, END_DEADLOCK, END_LOST_WAKEUP, END_LIVELOCK, END_DIVERGED, END_SLOW, END_MEMORY };
#define END_LAST END_MEMORY

/* END_MEMORY: an access that does not keep to a heap block. */
enum area_fault_kind { FAULT_NONE, FAULT_USE_AFTER_FREE, FAULT_DOUBLE_FREE, FAULT_BEYOND };
struct area_fault {
	uint32_t kind;   /* enum area_fault_kind */
	uint32_t thread; /* who did it */
	uint64_t site;   /* id of the access, or of the call that frees; ids are 0 when not known */
	int64_t offset;  /* of the access in the block */
	uint64_t size, block;
	uint64_t born_site, freed_site;
	uint32_t born_thread, freed_thread; /* AREA_THREAD_GONE = not known, not freed */
	uint32_t write, reserved;
};

#define AREA_TURNS (1u << 23) /* a livelock of STILL_MOST points has up to four turns a point */
#define AREA_POINT_SITES (1u << 16)
#define AREA_UNCONTROLLED_BYTES 4096u
struct area_schedule {
	uint32_t end; /* enum area_end */
	uint32_t nturns, nwaits;
	uint32_t diverged_turn; /* index into the plan */
	uint64_t points;        /* passed by all threads */
	uint64_t
		contested; /* of these: when another thread could have gone on instead; of long loops a part */
	uint64_t diverged_site; /* where the thread stood instead */
	uint64_t
		early_ns; /* the first long wait that ran out while others could go on: what was left of it, */
	uint64_t early_site;                   /* its call, */
	uint32_t early_thread, reserved_early; /* its thread; early_ns 0 = none */
	uint32_t diverged_thread;
	uint32_t claimed;          /* by the process that is controlled, on the binary loom */
	struct claim_counts claim; /* what became of control.claim */
	struct area_fault fault;
	uint32_t nstuck, reserved_stuck; /* may exceed the array */
	struct area_stuck stuck[AREA_STUCK];
	struct area_wait waits[AREA_WAITS];
	char uncontrolled[AREA_UNCONTROLLED_BYTES]; /* what was not under control, one name per line */
	uint64_t sites[AREA_POINT_SITES]; /* ids in rising order: accesses there are always points */
	struct area_turn turns[AREA_TURNS];
	struct area_turn plan[AREA_TURNS];
};

#define AREA_HEAD_SIZE 4096u
#define AREA_PROCESS_SIZE ((sizeof(struct area_process) + 4095u) & ~4095ull)
#define AREA_PROCESS_OFFSET(i) (AREA_HEAD_SIZE + (i) * AREA_PROCESS_SIZE)
#define AREA_SCHEDULE_OFFSET AREA_PROCESS_OFFSET(AREA_PROCESSES)
#define AREA_SCHEDULE_SIZE ((sizeof(struct area_schedule) + 4095u) & ~4095ull)
#define AREA_SIZE (AREA_SCHEDULE_OFFSET + AREA_SCHEDULE_SIZE)

/* Fork server: a program started with this variable forks before its first constructor for
 * every order that comes over the socket it names, and never gets to main itself. First,
 * and again whenever they change, it gets four descriptors beside a byte: area, stdout,
 * stderr and a file of one page, the note; it answers with a byte. An order is a byte alone,
 * or with one descriptor: the working folder from now on.
 * The run is a child of the server's parent, which waits for it itself; its number stands in
 * the note. The server answers an order only when it could not fork. */
#define SERVER_ENVIRONMENT "UNSNARL_SERVER"
#define SERVER_DESCRIPTORS 4
#define SERVER_NOTE_SIZE 4096u
struct server_note {         /* runs do not have it mapped */
	int32_t pid;         /* of the run; negative: fork failed, an errno */
	uint32_t controlled; /* 1: control ended the run before, it seems */
};

#endif
