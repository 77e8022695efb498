/* A ranking as JSON: findings of the common form, each with what this method adds.
 */
#ifndef REPORT_RANK_ANSWER_H
#define REPORT_RANK_ANSWER_H

#include <jansson.h>

#include "report/rank_view.h"

/* The array of findings, the first `view->top` points. */
json_t *rank_answer(const struct rank_view *view);

#endif
