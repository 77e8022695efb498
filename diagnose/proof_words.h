/* The counts of an experiment in sentences, for the screen. */
#ifndef DIAGNOSE_PROOF_WORDS_H
#define DIAGNOSE_PROOF_WORDS_H

#include "diagnose/diagnosis.h"

char *proof_words(const struct diagnosis *diagnosis, const struct cause *cause); /* the caller frees it */

#endif
