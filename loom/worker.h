/* A worker is a small process that runs the program once per order, one run at a
 * time, and answers with a report and the run area. It keeps all processes of
 * the run: they end with it, and it ends with its parent. */
#ifndef LOOM_WORKER_H
#define LOOM_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "loom/launch.h"
#include "loom/output.h"

struct worker_setup {
	const struct launch_options *options;
	const struct expect *expect; /* NULL = none */
	int socket;                  /* SOCK_SEQPACKET to the parent */
	int parent;                  /* pidfd of the parent */
	size_t number;               /* of the worker, from 0 */
	bool served;                 /* runs are forked from a server, on a core of their own */
};

/* Parent to worker, with up to two descriptors beside it: a file of turns as they stand in an
 * area, the plan, and one of the ids of sites that are always points. Without them those of the
 * options are meant. */
struct worker_order {
	uint64_t index, seed;
	struct area_options area; /* its seed is the one above */
	struct area_control control;
	double timeout_s;
	enum label force;
	bool keep;        /* send the area also when the run passes and shows nothing new */
	bool spare;       /* and only when it shows something new, also when it fails */
	bool plan, sites; /* which descriptors come, in this order */
};

/* Worker to parent: this, then both texts with their NUL. Several of them may come in one
 * message, so that the parent is not woken for each short run; the descriptor beside it is
 * the area of the one that was `sent`. */
struct worker_report {
	uint64_t index, seed;
	bool is_error; /* `reason` is the error's message, the rest is void */
	bool sent;
	bool served;  /* the run was forked from a server */
	bool light;   /* as it was ordered */
	bool binds;   /* the program binds ports by number (struct world) */
	unsigned met; /* bits of enum world_met */
	enum outcome outcome;
	int code;
	enum label label;
	double wall_s, cpu_s;
	double beside_s; /* processor time of the worker and its server since the last report */
	uint64_t peak_kib;
	int64_t started;
	uint64_t output_hash;
	uint64_t points, contested, hash, turns; /* of the schedule; filled when served */
	struct claim_counts claim;               /* what became of it; filled when served */
	uint32_t reason_size, output_size;       /* bytes with NUL; output 0 = none */
};

#define WORKER_REASON_SIZE 1024u
#define WORKER_OUTPUT_SIZE (OUTPUT_TAIL + 8)
#define WORKER_REPORT_MOST (sizeof(struct worker_report) + WORKER_REASON_SIZE + WORKER_OUTPUT_SIZE)
#define WORKER_HELD_MOST 8u /* reports that nobody waits for, in one message */
#define WORKER_MESSAGE_SIZE (WORKER_HELD_MOST * WORKER_REPORT_MOST)

/* The life of a worker, in a process forked for it. */
_Noreturn void worker_main(const struct worker_setup *setup);

#endif
