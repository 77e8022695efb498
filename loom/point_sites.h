/* Which accesses are always points of a controlled run: a set of sites that does not change once it
 * is made, shared by all orders that use it, and the collector that lets it grow from run to run. */
#ifndef LOOM_POINT_SITES_H
#define LOOM_POINT_SITES_H

#include "base/error.h"
#include "base/hash.h"
#include "model/atlas.h"
#include "model/schedule.h"

struct point_sites {
	size_t refs;
	bool everywhere; /* every access is a point */
	int file;        /* with the ids, for workers; -1 = not made yet */
	size_t n;
	uint64_t ids[]; /* rising */
};

/* Of any ids; more than a run can take become `everywhere`. */
struct point_sites *point_sites_new(const uint64_t *ids, size_t n, bool everywhere);
/* As the schedule was found with. */
struct point_sites *point_sites_of(const struct schedule *schedule);
struct point_sites *point_sites_hold(struct point_sites *sites); /* NULL stays NULL */
void point_sites_drop(struct point_sites *sites);
void point_sites_dropp(struct point_sites **sites);
/* The descriptor stays the set's; -1 when it is empty. */
struct error *point_sites_file(struct point_sites *sites, int *file);

/* What runs have shown so far: the sites at either end of a pair that was open, so that the two accesses might
 * as well have come in the other order. */
struct point_collector {
	struct map ids, numbers; /* ids that are known; numbers whose ids are */
	struct atlas atlas;
	uint64_t units; /* which ones the atlas has read: their hashes */
	struct point_sites *sites;
};
void point_collector_free(struct point_collector *collector);
/* What to begin with, from a run of the program: the sites of all its pairs, unless it is too long for so
 * many points. They stay until a run shows which pairs are open. */
void point_collector_begin(struct point_collector *collector, const struct observations *first);
/* Takes the open pairs in; the set is another one afterwards if there was a new site. */
void point_collector_add(struct point_collector *collector, const struct observations *seen);

#endif
