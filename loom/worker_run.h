/* What the two files of a worker share: worker.c takes orders and reports, worker_run.c makes the run of one. */
#ifndef LOOM_WORKER_RUN_H
#define LOOM_WORKER_RUN_H

#include <sched.h>

#include "loom/binary.h"
#include "loom/post.h"
#include "loom/reuse.h"
#include "loom/server.h"
#include "loom/spawn.h"
#include "loom/worker.h"
#include "loom/world/view.h"

struct worker {
	const struct worker_setup *setup;
	struct launch_options options; /* of the run at hand: those of the setup, with what its order says */
	struct server server;
	struct reuse reuse;
	bool served;            /* until servers turn out not to work */
	unsigned lost;          /* servers in a row */
	uint64_t nserved;       /* runs */
	double own_s, server_s; /* processor time at the last report */
	int children;           /* from sweep_prepare */
	struct view *view;
	struct binary binary; /* what is executed, when it is not the program itself */
	bool still;
	bool has_core; /* it sits on one core; where it could sit before: */
	cpu_set_t processors;
	char entry[SPAWN_ENTRY_SIZE];
	char **environment;
	struct output out, err, check;
	struct post post;
};

/* What one run leaves besides the report's numbers. */
struct worker_result {
	int area;
	bool novel; /* it showed what no run of this worker had shown */
	bool bound; /* a port by its number */
	char *reason, *output;
};

/* What comes beside an order; -1 = none. */
struct worker_files {
	int plan, sites;
};

/* Makes the run of one order, in whatever way it can be made, and says what became of it. */
struct error *worker_run(struct worker *worker, const struct worker_order *order,
			 const struct worker_files *files, struct worker_report *report,
			 struct worker_result *result);
void worker_free_result(struct worker_result *result);

/* The end of a worker, with all that it has started. */
_Noreturn void worker_leave(struct worker *worker);

#endif
