/* Random runs for the tests of analysis/bugaboo, with the same sets as bytes, and what
 * its twins are made of: contexts as lists of events, everything found by search. */
#ifndef TESTS_BUGABOO_WORLD_H
#define TESTS_BUGABOO_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/bugaboo/graph.h"

#define RUNS 30

struct world {
	struct edge *edges;
	size_t n;
	roaring_bitmap_t *sets[RUNS];
	uint8_t *has[RUNS]; /* the same as bytes */
	struct graph graph;
	uint32_t *points;
};

struct events {
	int n, event[8];
};

uint32_t below(uint32_t n);
uint16_t random_context(unsigned events);
/* At most n edges between so many sites, with contexts of at most `events`. */
void world_make(struct world *world, size_t n, uint32_t sites, unsigned events);
void world_free(struct world *world);

/* The last events of a context, newest first. */
struct events naive_events(uint16_t context, unsigned last);
/* Do two edges look the same with the last events of their contexts? */
bool naive_same(const struct edge *a, const struct edge *b, unsigned last);
/* Is one of the last events of the context of edge order[at] a write, but of no edge before it in the order? */
bool naive_silent(const struct world *world, const uint32_t *order, size_t at, unsigned last);
uint32_t naive_point(const struct world *world, uint32_t site);

#endif
