/* What the locks at the accesses tell about the fix. */
#ifndef REPORT_ADVICE_LOCKS_H
#define REPORT_ADVICE_LOCKS_H

#include "model/finding.h"
#include "report/excerpt.h"

/* A fresh string; NULL when the locks are not known, nobody holds one, or they say nothing. */
char *advice_from_locks(const struct finding *finding, struct excerpts *excerpts);

#endif
