/* The two files of the monitor, as they lie on disk (doc/formats.md, "Testing graph" and
 * "Monitor log"). Plain C types only: the runtime reads the one and writes the other. */
#ifndef MODEL_MONITOR_FORMAT_H
#define MODEL_MONITOR_FORMAT_H

#include <stdint.h>

#define MONITOR_ENVIRONMENT "UNSNARL_MONITOR"         /* path of the testing graph */
#define MONITOR_LOG_ENVIRONMENT "UNSNARL_MONITOR_LOG" /* of the log; else the graph names one */

#define MONITOR_GRAPH_MAGIC 0x68706172676e7375ull /* "usngraph" */
#define MONITOR_LOG_MAGIC 0x676f6c6d6e736e75ull   /* "unsnmlog" */
#define MONITOR_VERSION 1u
#define MONITOR_NULL UINT32_MAX /* unit of the null source */
#define MONITOR_PATH 1024u      /* longest path of a log, its NUL included */
#define MONITOR_UNITS 16384u
#define MONITOR_EDGES (1u << 20)

/* The testing graph: head, units, edges; nothing follows. */
struct monitor_graph {
	uint64_t magic;
	uint32_t version;
	uint32_t context;    /* events kept, 0..8 */
	uint32_t line;       /* 1: edges between lines of 64 bytes */
	uint32_t threshold;  /* an edge is logged when it differs with at most so many events */
	uint32_t interval_s; /* at least 1 */
	uint32_t nunits, nedges;
	uint32_t reserved;
	char log[MONITOR_PATH]; /* ends with a NUL; empty: only the environment names a log */
};

struct monitor_unit {
	uint64_t hash;
	uint32_t nsites;
	uint32_t reserved;
};

struct monitor_edge {
	uint32_t source_unit, source_site; /* places in the list of units and in the unit; MONITOR_NULL */
	uint32_t sink_unit, sink_site;
	uint16_t source_context, sink_context;
	uint32_t write;
};

/* The log: blocks of this size, one for each process that had something to say. */
#define MONITOR_BLOCK 65536u

struct monitor_entry {
	uint64_t source_unit, sink_unit; /* hashes; source 0 = null */
	uint32_t source_site, sink_site;
	uint16_t source_context, sink_context;
	uint8_t write, depth;
	uint16_t state; /* 1 when whole: written last */
	uint32_t interval;
	uint32_t reserved;
};

struct monitor_block {
	uint64_t magic;
	uint32_t version;
	int32_t pid;
	uint32_t context, interval_s;
	int64_t started;   /* Unix time, seconds */
	uint32_t nentries; /* may exceed the room: then the rest was dropped */
	uint32_t line;
	uint64_t dropped; /* beyond the room of the block or of an interval */
	char program[208];
	struct monitor_entry entries[];
};

#define MONITOR_ENTRIES ((MONITOR_BLOCK - sizeof(struct monitor_block)) / sizeof(struct monitor_entry))

#endif
