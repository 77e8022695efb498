/* unsnarl rank, shared by its parts: rank.c chooses runs and ranks them,
 * rank_picture.c draws, rank_compare.c tells what another way of seeing misses.
 */
#ifndef CMDS_RANK_PARTS_H
#define CMDS_RANK_PARTS_H

#include "report/rank_view.h"

/* FILE.dot as it is; FILE.svg (or another format that dot knows) through Graphviz. */
struct error *rank_picture(const struct rank_view *view, const char *file);

/* "line" or "machine", else WAY_ANY: then it is the folder of another store. */
enum graphs_way rank_compare_way(const char *with);
/* What runs that were seen in another way show of the code points that the runs in `graphs` show to
 * communicate: those of the same campaign, or those of the same program in another store. */
struct error *rank_compare_runs(struct store *store, const struct graphs *graphs, const char *with,
				bool json);

#endif
