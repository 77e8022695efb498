/* Invariants of the same family over the same traces, for comparison (AI, section 5.2):
 * AVIO, the three kinds of DUI, CCI, PSet and AI itself. Each watches the accesses of one
 * location in their order and says things of them; what a failed run says and no passing
 * run did is a violation. Accesses are places, runs are traced.
 */
#ifndef ANALYSIS_INVARIANT_DETECTORS_H
#define ANALYSIS_INVARIANT_DETECTORS_H

#include "base/hash.h"
#include "base/memory.h"
#include "model/run.h"

enum detector {
	DETECTOR_AI,           /* which access of another thread came last */
	DETECTOR_AVIO,         /* two accesses of a thread with another's between that cannot be serialised */
	DETECTOR_DUI_LOCAL,    /* does a read see its own thread's value or another's? */
	DETECTOR_DUI_FOLLOWER, /* do two reads of a thread see the same value? */
	DETECTOR_DUI_SET,      /* whose value does a read see? */
	DETECTOR_CCI_PREVIOUS, /* was the access before it of the same thread? */
	DETECTOR_CCI_CHANGED,  /* has the location changed since the thread was there? */
	DETECTOR_PSET,         /* on which access of another thread does it depend, right before it? */
	DETECTORS
};

const char *detector_name(enum detector detector);

struct detectors {
	struct map said; /* by passing runs: hash of detector and statement */
	uint64_t runs;
};

struct detector_violation {
	enum detector detector;
	size_t event;           /* index in the trace */
	uint32_t place, before; /* before: the other access, 0 when there is none or it does not matter */
};

struct detector_violations {
	VEC(struct detector_violation) list; /* the first of each detector at each place, in order */
};

/* places[site] is the place of a site of the trace, 0 for what is left out. */
void detectors_train(struct detectors *detectors, const struct observations *traced, const uint32_t *places);
void detectors_check(struct detectors *detectors, const struct observations *traced, const uint32_t *places,
		     struct detector_violations *out);
void detectors_free(struct detectors *detectors);

#endif
