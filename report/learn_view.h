/* What unsnarl learn says, on the terminal and as JSON. */
#ifndef REPORT_LEARN_VIEW_H
#define REPORT_LEARN_VIEW_H

#include "analysis/invariant/bias.h"
#include "analysis/invariant/training.h"

/* How much was learned from how many runs, and whether more would teach more. */
void learn_print(struct training *training, const struct guard_set *set);
void learn_groups_print(const struct guard_set *set, const struct bias *bias);
/* The sets of one line of source, FILE:LINE[:COLUMN]. */
/* Is it a place at all? */
struct error *learn_explain_check(const char *where);
struct error *learn_explain_print(struct training *training, const char *where);
/* What to do next; path NULL: it was not written. */
void learn_saved_print(const char *path, size_t accesses);
/* `file` may be NULL. */
void learn_json(struct training *training, const struct guard_set *set, const struct bias *bias,
		const char *file);

#endif
