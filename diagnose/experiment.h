/* The experiment on a failing schedule: its forced switches are moved until the failure
 * goes away, the runs at the edges are followed access by access, and what all that
 * points at becomes claims. For the verbs that have a failure and its program at hand.
 */
#ifndef DIAGNOSE_EXPERIMENT_H
#define DIAGNOSE_EXPERIMENT_H

#include "diagnose/retell.h"
#include "loom/window.h"
#include "model/hint.h"

/* Claims of a traced run that followed `schedule`, best first. The caller frees them with VEC_FREE. */
struct error *experiment_claims(const struct launch_options *launch, const struct schedule *schedule,
				struct retold *retold, const struct windows *windows, struct hints *out);

#endif
