/* A crash followed back value by value, by suppressed re-execution: a way to the cause that
 * knows nothing of the others. isolate/ walks it; that room stands above this one and is
 * reached through diagnosis_options.isolate alone. Where every schedule crashes the end of
 * the trail is the answer. Else it is asked after the experiments. Beside a cause that they
 * have shown one execution is enough: does what the crash hangs on include its accesses?
 * Only where it does not, and the cause is no more than likely, isolate makes experiments of
 * its own. A crash of the program as it is that comes in no schedule is followed, too: what it
 * hangs on, such as what a heap block held before, is not under control. */
#ifndef DIAGNOSE_CRASH_TRAIL_H
#define DIAGNOSE_CRASH_TRAIL_H

#include "model/finding.h"
#include "report/isolate_words.h"

struct diagnosis;

/* What isolate is asked. */
struct crash_question {
	double seconds;     /* that it may take, about */
	uint64_t hunt_most; /* schedules in which the crash is looked for; 0: as many as the time allows */
	bool trail_only;    /* no experiments: only what the crash hangs on, from one execution */
};

/* What isolate comes to. */
struct crash_answer {
	bool met;               /* the crash came again; else there is nothing to say */
	bool sure;              /* every experiment that isolate made agrees */
	struct finding finding; /* may have no accesses: it came to nothing */
};

/* Follows the crash after the experiments, and compares. A finding of isolate becomes the first cause only where
 * experiments have shown none. Where isolate cannot be run that is told; what is known stays. */
void crash_trail_follow(struct diagnosis *diagnosis);

/* Do two findings name the same accesses, whoever's threads they are? */
enum crash_agreement crash_trail_compare(const struct finding *cause, const struct finding *followed);

#endif
