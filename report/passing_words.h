/* What passing runs do instead of what a finding tells, as a sentence. */
#ifndef REPORT_PASSING_WORDS_H
#define REPORT_PASSING_WORDS_H

#include "model/finding.h"

char *passing_words(const struct finding *finding); /* a fresh sentence; NULL when nothing is known */

#endif
