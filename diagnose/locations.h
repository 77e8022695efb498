/* The accesses of a traced run by where they are in memory: for each granule of 8 bytes
 * that more than one thread has touched, its accesses in their order. Pure. */
#ifndef DIAGNOSE_LOCATIONS_H
#define DIAGNOSE_LOCATIONS_H

#include "base/hash.h"
#include "base/memory.h"
#include "model/run.h"

struct location {
	size_t *events; /* numbers, rising */
	size_t n, room;
	bool shared;
};

struct locations {
	struct map index; /* granule to number + 1 */
	VEC(struct location) items;
};

void locations_read(struct locations *locations, const struct observations *run);
void locations_free(struct locations *locations);

/* The first event in from .. to - 1 that conflicts with the access, or with `last` the last one; SIZE_MAX. */
size_t locations_find(const struct locations *locations, const struct observations *run,
		      const struct event *event, size_t from, size_t to, bool last);

bool locations_conflict(const struct event *a, const struct event *b); /* overlap, one writes */

#endif
