/* What isolate says about failures, definitions and orders of accesses. */
#ifndef REPORT_ISOLATE_WORDS_H
#define REPORT_ISOLATE_WORDS_H

#include <stdbool.h>

#include "model/isolation.h"

enum isolate_story {
	ORDER_BETWEEN,       /* another thread changed the location between two accesses */
	ORDER_BETWEEN_ONLY,  /* and cannot come before them */
	ORDER_READ_BETWEEN,  /* the location was read between two writes */
	ORDER_CHANGED_EARLY, /* it was changed before another thread was done with it */
	ORDER_READ_EARLY,    /* it was read before another thread had given it its value */
	ORDER_MISSED,        /* a thread looked, was told that it need not wait, and waited */
	ORDER_UNSAID,        /* what it looked at was changed while it waited, and nobody told it */
	ORDER_WOKEN,         /* it was woken and did not look again */
	ORDER_CYCLE,         /* threads wait for each other's locks */
	ORDER_CYCLE_MENDED,  /* and do not when one of them waits before its first */
	ORDER_KEPT,          /* a lock is kept during a wait, and somebody wants that lock */
	ORDER_KEPT_MENDED,   /* and they go on when it is not taken yet */
	ORDER_NOT_GIVEN_BACK, /* a lock is wanted that its thread, which wants it itself or is over, has not given back */
};

/* What goes on. */
enum isolate_stage {
	ISOLATE_RUNNING,
	ISOLATE_ALONE,
	ISOLATE_HUNTING,
	ISOLATE_PROVOKING,
	ISOLATE_SHORTENING,
	ISOLATE_FOLLOWING,
	ISOLATE_MOVING,
	ISOLATE_SUPPRESSING,
};
const char *isolate_stage_words(enum isolate_stage stage); /* a participle */
const char *isolate_why_words(enum isolate_why why);       /* a clause after "because" */
/* The summary of a finding that is no order. */
const char *isolate_root_words(enum isolate_verdict verdict, enum isolate_kind kind, bool written);

char *isolate_verdict_words(const struct isolation *isolation); /* a fresh sentence that ends in a colon */

/* The finding as a cause of diagnose; `others_pass`: not every schedule fails. */
const char *isolate_cause_words(enum isolate_verdict verdict, bool others_pass);
const char *isolate_evidence_words(enum isolate_verdict verdict, bool sure);

/* Is what isolate comes to what diagnose has found? */
enum crash_agreement {
	CRASH_NOT_FOLLOWED, /* it is no crash, or nobody asked */
	CRASH_NO_TIME,
	CRASH_FAILED,    /* isolate could not be run */
	CRASH_NOT_MET,   /* the crash did not come again on the binary loom */
	CRASH_NO_ANSWER, /* it came, but led nowhere */
	CRASH_SAME,      /* all accesses of the one are among those of the other */
	CRASH_PARTLY,    /* some are */
	CRASH_ELSEWHERE, /* none is */
	CRASH_ALONE,     /* there is no other cause: isolate's is the answer */
};
struct crash_trail {
	enum crash_agreement agreement;
	bool sure;
	const struct finding *finding; /* isolate's, in its opinion; NULL: none */
	char *why;                     /* of CRASH_FAILED */
	bool trail_only;               /* values were followed once, nothing was moved */
	size_t met;                    /* accesses of the cause that are on the trail then */
	double seconds;
};

/* A fresh sentence; NULL where there is nothing to say. */
char *isolate_agreement_words(const struct crash_trail *trail);
const char *isolate_agreement_name(enum crash_agreement agreement); /* for JSON */

const char *isolate_order_words(enum isolate_story story);       /* what a moved access has shown */
const char *isolate_failed_words(enum isolate_kind kind);        /* a clause */
const char *isolate_failed_name(enum isolate_kind kind);         /* for JSON */
const char *isolate_definer_words(enum isolate_definer definer); /* a participle */
const char *isolate_definer_name(enum isolate_definer definer);  /* for JSON */

#endif
