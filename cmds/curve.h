/* How the observations of a campaign accumulate from run to run. Used by
 * unsnarl runs --curve; printing and JSON are here too, because the choice of
 * rows belongs to the numbers.
 */
#ifndef CMDS_CURVE_H
#define CMDS_CURVE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct curve {
	size_t n;
	uint64_t *runs;                         /* numbers */
	uint64_t *pairs, *predecessors, *edges; /* distinct after each run */
};

struct error *curve_collect(struct store *store, uint64_t campaign, struct curve *out);
void curve_print(const struct curve *curve); /* numbers and a plot, to stdout */
json_t *curve_json(const struct curve *curve);
void curve_free(struct curve *curve);

#endif
