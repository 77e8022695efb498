/* What a scan found, in words for people. */
#ifndef REPORT_CANDIDATE_WORDS_H
#define REPORT_CANDIDATE_WORDS_H

#include "static/static.h"

const char *candidate_kind_words(enum candidate_kind kind);
const char *candidate_parallel_words(enum candidate_parallel parallel); /* a clause */
/* A clause, owned by the caller; NULL: it is about the weight alone. */
char *candidate_note_words(const struct candidate_reason *reason);
/* Why pairs were left out, a clause. */
const char *pruned_words(enum pruned rule);

#endif
