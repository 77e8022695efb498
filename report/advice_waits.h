/* The fix for threads that cannot go on, by who has what and where each of them is stuck. */
#ifndef REPORT_ADVICE_WAITS_H
#define REPORT_ADVICE_WAITS_H

#include "model/finding.h"

/* A fresh string. */
char *advice_on_waits(const struct finding *finding);

#endif
