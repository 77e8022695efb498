/* What kind of fix fits a finding, in a sentence or two. From its class and scenario
 * alone: the person knows the program. */
#ifndef DIAGNOSE_ADVICE_H
#define DIAGNOSE_ADVICE_H

#include "model/finding.h"

/* A fresh string. */
char *advice_for(const struct finding *finding);

#endif
