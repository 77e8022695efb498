/* The fix for threads that cannot go on, by who has what and where each of them is stuck, and for a
 * signal that was not enough. */
#ifndef REPORT_ADVICE_WAITS_H
#define REPORT_ADVICE_WAITS_H

#include "model/finding.h"

/* Fresh strings. */
char *advice_on_waits(const struct finding *finding);
/* The signal woke a thread that did not need it: the last but one access is where that waited. */
char *advice_on_taken_signal(const struct finding *finding);

#endif
