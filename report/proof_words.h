/* The counts of an experiment in sentences, and the verdict in a word. */
#ifndef REPORT_PROOF_WORDS_H
#define REPORT_PROOF_WORDS_H

#include "model/cause.h"

const char *verdict_word(enum verdict verdict); /* "proven", "likely", "a guess" */
/* The counts of one of the causes, beside those of the program as it is; the caller frees it. */
char *proof_words(const struct causes *causes, const struct cause *cause);

#endif
