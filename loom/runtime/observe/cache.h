/* A simulated multiprocessor as BUGABOO's hardware variant sees it (section 4.2): one
 * cache per core, kept coherent by MESI; lines carry who wrote them and in which
 * context, for as long as they are in a cache. No memory is allocated and nothing
 * of the runtime is used, so that tests can run it alone. */
#ifndef RUNTIME_CACHE_H
#define RUNTIME_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/run.h" /* enum machine_count, enum context_event */

#define CACHE_CORES 64u /* at most */
#define CACHE_SETS 64u  /* 32 KiB: 64 sets of 8 lines of 64 bytes */
#define CACHE_WAYS 8u

enum cache_state { CACHE_INVALID, CACHE_SHARED, CACHE_EXCLUSIVE, CACHE_MODIFIED };

struct cache_line {
	uint64_t line;    /* address / 64 */
	uint64_t used;    /* time of the last access, for LRU */
	uint32_t site;    /* of the write that made it, 0 = not known */
	uint16_t context; /* of the writing core at that time */
	uint16_t state;   /* enum cache_state */
};

struct machine {
	uint32_t cores;
	uint32_t context_mask, context_full, context_most; /* as in context.c */
	uint64_t time;
	uint32_t table;    /* entries in the communication table */
	uint64_t trap_end; /* the table is being read until then */
	uint64_t counts[MACHINE_COUNTS];
	uint32_t context[CACHE_CORES];
	struct cache_line lines[CACHE_CORES][CACHE_SETS][CACHE_WAYS];
};

/* What the communication table gets. */
struct machine_edge {
	uint32_t source; /* 0 = null */
	uint16_t source_context, sink_context;
};

/* `events` of context are kept, 0 to 8; `cores` 1 to CACHE_CORES. The struct is zeroed before. */
void machine_init(struct machine *machine, uint32_t cores, uint32_t events);

/* An access of `core` to one line; says whether an edge enters the communication table. */
bool machine_access(struct machine *machine, uint32_t core, uint64_t line, bool write, uint32_t site,
		    struct machine_edge *edge);

#endif
