/* From where the functions were called that made the accesses of findings. */
#ifndef DIAGNOSE_TOLD_CALLERS_H
#define DIAGNOSE_TOLD_CALLERS_H

#include "loom/launch.h"
#include "model/finding.h"

/* Follows the schedule of the trace once more. Accesses whose event is not known stay without a caller, and all do when
 * the run is another one. */
struct error *callers_name(const struct launch_options *launch, const struct schedule *schedule,
			   const struct observations *trace, struct finding *const *findings, size_t n);

#endif
