/* Follows one started process to its end: takes what it prints, ends it at the
 * time-out, kills all it leaves behind. */
#ifndef LOOM_WATCH_H
#define LOOM_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "loom/output.h"

struct watch {
	pid_t pid;
	double start;     /* watch_now() before it was started */
	double timeout_s; /* 0 = none */
	int children;     /* from sweep_prepare */
	int stop[2];      /* when one of these hangs up or ends, the process is killed */
	int streams[2];   /* ends of pipes, -1 = none; non-blocking; closed by watch_end */
	struct output *outputs[2];
};

struct ending {
	bool stopped; /* by one of watch.stop: the rest is of no interest */
	bool timed_out;
	bool controlled; /* one thread at a time: how long that takes says little about the program */
	int status;      /* as from waitpid */
	uint32_t end;    /* enum area_end: how a controlled run says that it ended */
	uint32_t fault;  /* enum area_fault_kind, with END_MEMORY */
	double wall_s;
	struct rusage usage;
};

struct error *watch_end(struct watch *watch, struct ending *ending);

/* Seconds of a clock that only goes forward. */
double watch_now(void);

/* The deadline of the process, without the time in which it could have run but other work of the machine did. */
double watch_later(const struct watch *watch, pid_t pid, double deadline);

/* A pipe whose read end is non-blocking. */
struct error *watch_pipe(int *read_end, int *write_end);

#endif
