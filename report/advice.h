/* What kind of fix fits a finding, in a sentence or two. From its class and
 * shape, and from the locks that are held where these are known. */
#ifndef REPORT_ADVICE_H
#define REPORT_ADVICE_H

#include "model/finding.h"
#include "report/excerpt.h"

/* A fresh string. */
char *advice_for(const struct finding *finding, struct excerpts *excerpts);

#endif
