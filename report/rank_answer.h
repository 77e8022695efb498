/* A ranking as findings of the common form, and as JSON with what this method adds.
 */
#ifndef REPORT_RANK_ANSWER_H
#define REPORT_RANK_ANSWER_H

#include <jansson.h>

#include "model/finding.h"
#include "report/rank_view.h"

/* Point number `i` of the ranking (from 0) as a finding; the caller frees it. Its accesses are
 * the ends of the odd edge, `otherwise` those of the usual one. */
void rank_finding(const struct rank_view *view, size_t i, struct finding *out);

/* The array of findings, the first `view->top` points. */
json_t *rank_answer(const struct rank_view *view);

#endif
