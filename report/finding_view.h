/* Findings on the terminal and as JSON, whatever method made them: the accesses
 * in columns of threads in the failing order, with source lines, and below what
 * runs that passed did.
 */
#ifndef REPORT_FINDING_VIEW_H
#define REPORT_FINDING_VIEW_H

#include <jansson.h>
#include <stdio.h>

#include "model/finding.h"
#include "report/excerpt.h"

/* Fits 80 columns. */
void finding_print(const struct finding *finding, struct excerpts *excerpts, FILE *out);

/* Only the accesses in columns of threads. */
void finding_draw(const struct finding *finding, struct excerpts *excerpts, FILE *out);

/* As in unsnarl(1), "JSON". */
json_t *finding_json(const struct finding *finding);
json_t *findings_json(const struct findings *findings);

#endif
