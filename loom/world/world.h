/* The world that runs start in, as whoever asks for runs knows it: what they share
 * with the caller, what they read from standard input, and what was met on the way.
 * One struct serves all launches of a verb. The worker's side of it is view.h. */
#ifndef LOOM_WORLD_WORLD_H
#define LOOM_WORLD_WORLD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* What runs met, for a sentence in the end. */
enum world_met {
	WORLD_WROTE = 1,        /* into the working folder; it was thrown away */
	WORLD_COPIED = 2,       /* the kernel gives no view: each job works in a copy of the folder */
	WORLD_SAME_FILES = 4,   /* nor is a copy possible: one run at a time, in the folder itself */
	WORLD_SAME_NETWORK = 8, /* a port is bound and there is no network of its own: one run at a time */
};

struct world {
	bool share_files;   /* runs read and write the caller's files */
	bool share_network; /* and use the caller's network */
	int input;          /* standard input of the runs, a file; -1 = empty */
	off_t input_from;   /* where in that file they begin */
	int turns;          /* a file whose lock is held by the one run that may go on; -1 */
	/* Learnt from runs, so that later workers need not: */
	bool binds;   /* to a port of a number that the program chose */
	unsigned met; /* bits of enum world_met */
};

/* Before it is opened: world_close has nothing to do. */
#define WORLD_CLOSED { .input = -1, .turns = -1 }

/* A world with nothing shared and empty input. */
struct error *world_open(struct world *world);
void world_close(struct world *world);

/* Standard input for all runs: the file `path`; NULL = what this process has as standard input, unless that
 * is a terminal. What cannot be read twice is read to its end here. *silent when it is a pipe from which
 * neither a byte nor its end has come yet: input stays empty. */
struct error *world_take_input(struct world *world, const char *path, bool *silent);

#endif
