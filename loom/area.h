/* The run area: the one shared memory file (memfd) in which the runtime keeps
 * all that a run teaches, so that launch can harvest it however the program
 * ends. Written by loom/runtime inside the program, read by loom/harvest.c.
 * Layout: doc/formats.md, "Run area". Plain C types only: the runtime has
 * nothing but libc. */
#ifndef LOOM_AREA_H
#define LOOM_AREA_H

#include <stdint.h>

#define AREA_ENVIRONMENT "UNSNARL_AREA" /* number of the inherited descriptor */
#define AREA_MAGIC 0x61657261736e75ull  /* "unsarea" */
#define AREA_VERSION 1u

/* Bits of area_options.observe. */
enum {
	OBSERVE_PAIRS = 1,
	OBSERVE_PREDECESSORS = 2,
	OBSERVE_EDGES = 4,
	OBSERVE_ALL = 7,
	OBSERVE_TRACE = 8, /* the whole sequence of accesses, in one global order */
};

#define AREA_PROCESSES 64u /* observed processes of one run (fork, exec) */
#define AREA_SLOTS 1024u   /* threads alive at once; slot 0 is nobody */
#define AREA_UNITS 16384u
#define AREA_PATH_BYTES (1u << 20)
#define AREA_PAIRS (1u << 21)
#define AREA_PREDECESSORS (1u << 22)
#define AREA_EDGES (1u << 22)
#define AREA_EVENTS (1u << 22)

/* Set by the parent before the program starts. */
struct area_options {
	uint32_t observe;   /* OBSERVE_* */
	uint32_t context;   /* events kept per thread, 0..8 */
	uint32_t line;      /* 1: edges between 64-byte lines instead of exact locations */
	uint32_t jitter_us; /* longest random delay at shared accesses, 0 = none */
	uint64_t seed;      /* of the random delays */
};

/* First page of the file. */
struct area_head {
	uint64_t magic;
	uint32_t version;
	uint32_t processes; /* claimed process areas, by atomic increment; may exceed AREA_PROCESSES */
	uint32_t threads;   /* thread numbers given out over all processes */
	uint32_t reserved;
	struct area_options options;
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
};

struct area_predecessor {
	uint32_t state;
	uint32_t site, before; /* before 0 = nil */
	uint32_t reserved;
};

struct area_edge {
	uint32_t state;
	uint32_t source, sink; /* source 0 = null */
	uint16_t source_context, sink_context;
	uint32_t write;
	uint32_t reserved;
};

enum area_action { AREA_READ = 1, AREA_WRITE, AREA_FORGET };

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

struct area_process {
	int32_t pid;
	uint32_t started;                               /* 1 when the runtime is ready */
	uint32_t nunits, npairs, npredecessors, nedges; /* may exceed the arrays: then the rest was dropped */
	uint32_t path_bytes;
	uint32_t live;    /* threads alive */
	uint32_t created; /* threads ever created in this process */
	uint32_t nevents;
	uint64_t dropped;  /* observations without room, or lost to a signal handler inside the runtime */
	uint64_t accesses; /* of threads that have ended; living ones: area_slot_order */
	uint64_t slot_order[AREA_SLOTS]; /* accesses so far of the thread in each slot */
	char paths[AREA_PATH_BYTES];
	struct area_unit units[AREA_UNITS];
	struct area_pair pairs[AREA_PAIRS];
	struct area_predecessor predecessors[AREA_PREDECESSORS];
	struct area_edge edges[AREA_EDGES];
	struct area_event events[AREA_EVENTS];
};

#define AREA_HEAD_SIZE 4096u
#define AREA_PROCESS_SIZE ((sizeof(struct area_process) + 4095u) & ~4095ull)
#define AREA_PROCESS_OFFSET(i) (AREA_HEAD_SIZE + (i) * AREA_PROCESS_SIZE)
#define AREA_SIZE AREA_PROCESS_OFFSET(AREA_PROCESSES)

#endif
