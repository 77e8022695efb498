/* Candidates of a scan on the terminal and as JSON. */
#ifndef REPORT_CANDIDATE_H
#define REPORT_CANDIDATE_H

#include <jansson.h>
#include <stdio.h>

#include "static/static.h"

void candidate_print(const struct candidate *candidate, FILE *out); /* fits 80 columns where names allow */
/* Beside a diagnosis: the candidate that is its cause, and another with which the same mistake may be made; the
 * first of those has a heading. */
void candidate_print_found(const struct candidate *candidate, FILE *out);
void candidate_print_alike(const struct candidate *candidate, bool first_of_all, FILE *out);
/* What a scan made of the two places. */
void candidate_print_why(const struct pairs_told *told, const char *const places[2], FILE *out);
json_t *candidate_json(const struct candidate *candidate);
/* How much was looked at and what was left out. */
void scan_print_pruned(const struct scan *scan, FILE *out);
json_t *scan_json(const struct scan *scan);

/* What a scan is doing, for a progress bar; owned by the caller. */
char *scan_stage_words(enum scan_stage stage, size_t done, size_t total);
/* What was not looked at for want of time, a sentence; nothing when all was. */
void scan_print_unfinished(const struct scan *scan, FILE *out);

/* "data-race" and so on, as in all answers. */
const char *candidate_class(enum candidate_kind kind);

#endif
