/* The emergency patch, proven: a guard set made of one finding, and runs of the program
 * with it and without it. What `diagnose` offers must have held in an experiment. */
#ifndef DIAGNOSE_PATCH_H
#define DIAGNOSE_PATCH_H

#include "loom/launch.h"
#include "model/finding.h"
#include "model/guard_set.h"
#include "model/patch.h"

/* The patch of a finding of the program at `path`. */
struct error *patch_make(const struct finding *finding, const char *path, struct guard_set *out);
/* Runs the program `runs` times without and with the patch, by turns, freely and with random delays of up to
 * `jitter_us`. The launch options say how a run is judged. `stop` may be NULL. */
struct error *patch_prove(const struct launch_options *launch, const struct guard_set *patch, uint64_t runs,
			  uint32_t jitter_us, bool (*stop)(void), struct patch_proof *out);

#endif
