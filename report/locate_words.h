/* What speaks for the findings of locate, in words. */
#ifndef REPORT_LOCATE_WORDS_H
#define REPORT_LOCATE_WORDS_H

#include "analysis/locon/locate_answer.h"

void locate_words(struct locon_answer *answer); /* sets the evidence of each finding from its reason */
char *locate_falcon_words(uint32_t shown, size_t passed, double score);

#endif
