/* A worker is a small process that runs the program once per job, one run at a
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
};

/* Parent to worker: a run's index, a bare uint64_t. Worker to parent: this, then
 * both texts with their NUL, with the area's descriptor unless it is an error. */
struct worker_report {
	uint64_t index;
	bool is_error; /* `reason` is the error's message, the rest is void */
	enum outcome outcome;
	int code;
	enum label label;
	double wall_s, cpu_s;
	uint64_t peak_kib;
	int64_t started;
	uint32_t reason_size, output_size; /* bytes with NUL; output 0 = none */
};

#define WORKER_REASON_SIZE 1024u
#define WORKER_OUTPUT_SIZE (OUTPUT_TAIL + 8)
#define WORKER_MESSAGE_SIZE (sizeof(struct worker_report) + WORKER_REASON_SIZE + WORKER_OUTPUT_SIZE)

/* The life of a worker, in a process forked for it. */
_Noreturn void worker_main(const struct worker_setup *setup);

#endif
