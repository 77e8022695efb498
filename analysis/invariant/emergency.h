/* The emergency patch (AI, section 4.2): a guard set from one finding of any method. For
 * atomicity the accesses of the one thread become one step for the others; for order the
 * early access waits for the late one. */
#ifndef ANALYSIS_INVARIANT_EMERGENCY_H
#define ANALYSIS_INVARIANT_EMERGENCY_H

#include "model/finding.h"
#include "model/guard_set.h"
#include "model/site.h"

/* `units` are those of the program the finding is of: they tell where its accesses are. */
struct error *emergency_set(const struct finding *finding, const struct unit *units, size_t nunits,
			    struct guard_set *out);

#endif
