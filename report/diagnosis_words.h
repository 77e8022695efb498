/* What the stages of a diagnosis do, how its methods know what they claim, and what they say of a failure. diagnose/
 * finds out which of these holds; the words are here alone. */
#ifndef REPORT_DIAGNOSIS_WORDS_H
#define REPORT_DIAGNOSIS_WORDS_H

#include "model/finding.h"
#include "model/run.h"

/* What goes on. */
enum diagnosis_stage {
	DIAGNOSIS_PLAIN,
	DIAGNOSIS_HUNTING,
	DIAGNOSIS_REPLAYING,
	DIAGNOSIS_SHORTENING,
	DIAGNOSIS_MOVING,
	DIAGNOSIS_MOVING_BAR, /* the same beside a bar, where there is less room */
	DIAGNOSIS_TRACING,
	DIAGNOSIS_EXPLAINING,
	DIAGNOSIS_PROVING,
	DIAGNOSIS_ISOLATING,
};
const char *diagnosis_stage_words(enum diagnosis_stage stage); /* a participle */

/* How a method knows: "comparison with passing runs"; its name where nothing better is known. */
const char *diagnosis_method_words(const char *method);

/* What a method, or an experiment, has found. */
enum diagnosis_told {
	TOLD_CANDIDATE,   /* the program's text lets accesses meet */
	TOLD_NEAR_SWITCH, /* they conflict nearest to a switch that the failure needs */
	TOLD_TOO_EARLY,   /* an experiment: the first of two waits for the second */
	TOLD_TORN,        /* an experiment: a group is made one step */
	TOLD_FREED_TWICE,
	TOLD_USED_FREED,
	TOLD_BEYOND_BLOCK,
	TOLD_LEAVES_MEMORY, /* a write that every schedule makes */
	TOLD_LAST_READ,     /* where every schedule ends */
	TOLD_LAST_WRITE,
	TOLD_OWN_LOCK,       /* a thread waits for what it has */
	TOLD_LOCK_CYCLE,     /* `one` threads take part */
	TOLD_JOIN_CYCLE,     /* the same, and one of them waits for the end of another */
	TOLD_SIGNAL_MISSED,  /* `one` signals, then `other` waits */
	TOLD_SIGNAL_TAKEN,   /* a signal wakes `one`, and `other` waits on */
	TOLD_LOCK_KEPT,      /* `one` waits to be woken with a lock that `other` waits for */
	TOLD_LOCK_LEFT,      /* `one` has ended with a lock that `other` waits for */
	TOLD_LOCK_COPIED,    /* `one` is the child of a fork, and `other` of its parent had the lock then */
	TOLD_HANG,           /* none of these */
	TOLD_WOKEN_FOR_NONE, /* `one` was woken, did not look again, and nobody had changed anything */
	TOLD_WOKEN_TOO_LATE, /* the same, and others were quicker */
};
/* Sets the summary of a finding and the evidence that is known before any experiment. */
void diagnosis_tell(struct finding *finding, enum diagnosis_told told, uint32_t one, uint32_t other);

char *diagnosis_block_words(const struct site *site, uint64_t size); /* of a heap block; fresh */

#endif
