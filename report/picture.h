/* The difference of graphs as a picture, in the language of Graphviz: code points as
 * boxes, their contexts as nodes, edges that only failed runs have in red, the usual
 * ones beside them in grey.
 */
#ifndef REPORT_PICTURE_H
#define REPORT_PICTURE_H

#include "report/rank_view.h"

/* Writes the graph around the first `view->top` points of the ranking. `most` is how many
 * edges of each kind a point may have: the most telling ones. */
void picture_write(FILE *out, const struct rank_view *view, size_t most);

/* Text for a label between quotes. */
char *picture_escape(const char *text);

#endif
