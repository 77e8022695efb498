/* Accesses in source terms on the terminal: lines of location, function, thread,
 * kind, variable and source text in aligned columns, from which pairs,
 * predecessors and edges are put together.
 */
#ifndef REPORT_LISTING_H
#define REPORT_LISTING_H

#include <stdio.h>

#include "base/memory.h"
#include "model/run.h"
#include "report/excerpt.h"
#include "store/store.h"

#define LISTING_NO_THREAD UINT32_MAX

struct listing_row {
	char lead[16];      /* before the location: a number, an arrow, "after" */
	char *where, *what; /* NULL: `text` stands alone */
	char *text;         /* source line; may be NULL */
};

struct listing {
	struct store *store;
	struct excerpts excerpts;
	int width;                    /* of the terminal; 0: nothing is cut but source lines */
	VEC(struct listing_row) rows; /* waiting to be printed */
};

/* One access. `kind` NULL takes the site's; SITE_NIL is "nil". */
void listing_access(struct listing *listing, const char *lead, uint32_t site, uint32_t thread,
		    const char *kind);
/* A line of its own below the accesses. Cleaned. */
void listing_note(struct listing *listing, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the rows in columns and forgets them. */
void listing_print(struct listing *listing, FILE *out);

/* Two accesses, the second behind an arrow; threads may be LISTING_NO_THREAD. */
void listing_pair(struct listing *listing, const char *lead, const struct pair *pair);

/* A run's observations. With `details` pairs tell order, address and loops. */
void listing_pairs(struct listing *listing, const struct pair *pairs, size_t n, bool details);
void listing_predecessors(struct listing *listing, const struct predecessor *predecessors, size_t n);
void listing_edges(struct listing *listing, const struct edge *edges, size_t n);
/* Orders edges by their ends, those from nil first; 0 when both ends are the same. */
int listing_compare_ends(const struct edge *a, const struct edge *b);
/* A note with both contexts of an edge and `after` behind them. */
void listing_contexts(struct listing *listing, const struct edge *edge, unsigned events, const char *after);

/* "counter.c:14", or "site #7" when the store does not know it. Clean. */
char *listing_location(struct listing *listing, uint32_t site) __attribute__((returns_nonnull));

void listing_free(struct listing *listing);

#endif
