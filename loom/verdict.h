/* Judges a run: pass or fail, and why. */
#ifndef LOOM_VERDICT_H
#define LOOM_VERDICT_H

#include "loom/launch.h"
#include "loom/watch.h"

/* How a process ended in terms of the model. */
void verdict_outcome(const struct ending *ending, enum outcome *outcome, int *code);

/* Whether only the output can still make a run fail that ended like this. */
bool verdict_open(const struct launch_options *options, const struct ending *ending);

/* `differs` is the first line that is not as expected, 0 = none; `check` is how
 * the check command ended, NULL when it was not run. The reason is one clause. */
enum label verdict(const struct launch_options *options, const struct ending *ending, uint64_t differs,
		   const struct ending *check, char **reason);

#endif
