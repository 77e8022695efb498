/* Leaves nothing running of what a program started. */
#ifndef LOOM_SWEEP_H
#define LOOM_SWEEP_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

/* From now on every orphaned descendant becomes a child of this process, and
 * its end makes the returned descriptor readable. The process must be single-
 * threaded and have no children of its own that it wants to keep. */
struct error *sweep_prepare(int *children);

/* Reaps orphans that ended on their own; true when `program` has ended, which
 * is left to sweep. */
bool sweep_ended(int children, pid_t program);

/* Reaps orphans that ended on their own; true when this process has living children
 * beside `program`. */
bool sweep_others(pid_t program);

/* Kills the session of `program` and every descendant of this process, reaps
 * them all and gives how `program` ended. */
struct error *sweep(pid_t program, int *status, struct rusage *usage);

#endif
