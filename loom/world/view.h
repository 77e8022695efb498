/* A worker's place in the world: folders, network and standard input of the runs it
 * makes. Set up once, put back as it was after every run. Where the kernel refuses a
 * private view, the runs of a worker happen in a copy of the folder; where that would
 * be too large, runs of all workers take turns in the folder itself. */
#ifndef LOOM_WORLD_VIEW_H
#define LOOM_WORLD_VIEW_H

#include <stdbool.h>

#include "base/error.h"
#include "loom/world/world.h"

struct view;

/* Moves this process into its place. `world` NULL = everything is shared, input is empty. */
struct error *view_open(const struct world *world, struct view **out);
void view_close(struct view *view); /* removes what is left on disk */

/* Standard input for runs. */
int view_input(const struct view *view);

/* The working folder that runs are to start in, and its number, which is another whenever
 * the folder is: a server that was started in an earlier one must be told. */
int view_folder(const struct view *view, unsigned *number);

/* Before a run; waits for its turn where there is only one at a time. */
struct error *view_begin(struct view *view);

enum view_next {
	VIEW_GO_ON,
	VIEW_REPEAT,        /* the run was not yet alone with its files: it does not count */
	VIEW_REPEAT_AFRESH, /* nor with its network: processes started before this stay in the old one */
};
/* After a run, when nothing of it is wanted any more. `bound`: it bound a port by number. */
struct error *view_end(struct view *view, bool bound, enum view_next *next);

/* What was met, as in struct world. */
unsigned view_met(const struct view *view);
bool view_binds(const struct view *view);

#endif
