/* unsnarl rank, shared by its parts: rank.c chooses runs and ranks them,
 * rank_picture.c draws, rank_compare.c tells what another way of seeing misses.
 */
#ifndef CMDS_RANK_H
#define CMDS_RANK_H

#include "report/rank_view.h"

/* FILE.dot as it is; FILE.svg (or another format that dot knows) through Graphviz. */
struct error *rank_picture(const struct rank_view *view, const char *file);

/* What the runs of the same program in the store `other` show of the code points that the
 * runs in `graphs` show to communicate. */
struct error *rank_compare_stores(struct store *store, const struct graphs *graphs, const char *other,
				  bool json);

#endif
