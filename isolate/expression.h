/* What the user watches, as C. */
#ifndef ISOLATE_EXPRESSION_H
#define ISOLATE_EXPRESSION_H

#include "base/error.h"
#include "model/isolate_format.h"
#include "model/symbols.h"

/* Fills the points and the code of the area: the expression at the beginning of each range of a line's code. Refuses
 * what cannot be evaluated, by name. */
struct error *expression_compile(struct isolate_area *area, struct symbols *symbols, const char *program,
				 const struct symbols_range *ranges, size_t n, const char *text);

#endif
