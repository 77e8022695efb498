/* What isolate says about failures, definitions and orders of accesses. */
#ifndef REPORT_ISOLATE_WORDS_H
#define REPORT_ISOLATE_WORDS_H

#include "model/isolate_format.h"

enum isolate_story {
	ORDER_BETWEEN,       /* another thread changed the location between two accesses */
	ORDER_READ_BETWEEN,  /* the location was read between two writes */
	ORDER_CHANGED_EARLY, /* it was changed before another thread was done with it */
	ORDER_READ_EARLY,    /* it was read before another thread had given it its value */
	ORDER_MISSED,        /* a thread looked, was told that it need not wait, and waited */
	ORDER_CYCLE,         /* threads wait for each other's locks */
	ORDER_CYCLE_MENDED,  /* and do not when one of them waits before its first */
};

const char *isolate_order_words(enum isolate_story story);       /* what a moved access has shown */
const char *isolate_failed_words(enum isolate_kind kind);        /* a clause */
const char *isolate_failed_name(enum isolate_kind kind);         /* for JSON */
const char *isolate_definer_words(enum isolate_definer definer); /* a participle */
const char *isolate_definer_name(enum isolate_definer definer);  /* for JSON */

#endif
