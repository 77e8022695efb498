/* The emergency patch, proven: a guard set made of one finding, and runs of the program
 * with it and without it. What `diagnose` offers must have held in an experiment. */
#ifndef DIAGNOSE_PATCH_H
#define DIAGNOSE_PATCH_H

#include "loom/launch.h"
#include "model/finding.h"
#include "model/guard_set.h"
#include "model/patch_proof.h"

/* The patch of a finding of the program at `path`. */
struct error *patch_make(const struct finding *finding, const char *path, struct guard_set *out);

/* Turns of a proof, at most, and failures without the patch that decide it. Runs with and without it come by turns:
 * if the patch did nothing each failure would be as likely with it as without it, and the first seven would all be
 * without it by chance in one of 128 cases, less than the level of statistics.h. */
#define PATCH_RUNS 40u
#define PATCH_FAILED_LEAST 7u

/* Is nothing to be learnt from further turns: the patch has failed, it has held, or the program fails so rarely that
 * as many turns as there may be would hardly show enough failures? */
bool patch_is_decided(const struct patch_proof *proof);
/* Has it held often enough? */
bool patch_can_be_offered(const struct patch_proof *proof);

/* What ends the turns early; either may be NULL. */
struct patch_limits {
	bool (*stop)(void);
	bool (*is_decided)(const struct patch_proof *proof);
};

/* Runs the program up to `runs` times without and with the patch, by turns, freely and with random delays of up to
 * `jitter_us`. The launch options say how a run is judged. */
struct error *patch_prove(const struct launch_options *launch, const struct guard_set *patch, uint64_t runs,
			  uint32_t jitter_us, const struct patch_limits *limits, struct patch_proof *out);

#endif
