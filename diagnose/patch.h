/* The emergency patch, proven: a guard set made of one finding, and runs of the program
 * with it and without it. What `diagnose` offers must have held in an experiment. */
#ifndef DIAGNOSE_PATCH_H
#define DIAGNOSE_PATCH_H

#include "loom/launch.h"
#include "model/finding.h"
#include "model/guard_set.h"

struct patch_proof {
	uint64_t runs;             /* of either kind, with the same random delays */
	uint64_t failed, held;     /* failed runs without the patch, and with it */
	double plain_s, patched_s; /* medians of processor time, observed */
};

/* The patch of a finding of the program at `path`. */
struct error *patch_make(const struct finding *finding, const char *path, struct guard_set *out);
/* Runs the program `runs` times without and with the patch, by turns, freely and with random delays of up to
 * `jitter_us`. The launch options say how a run is judged. `stop` may be NULL. */
struct error *patch_prove(const struct launch_options *launch, const struct guard_set *patch, uint64_t runs,
			  uint32_t jitter_us, bool (*stop)(void), struct patch_proof *out);
/* It failed without, and never with the patch. */
bool patch_is_proven(const struct patch_proof *proof);
/* A sentence for people; the caller frees it. */
char *patch_words(const struct patch_proof *proof);

#endif
