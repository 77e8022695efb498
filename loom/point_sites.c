/* Sets of sites that are always points. Workers get them as a file, one for all runs of a set. */
#include "loom/point_sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "loom/area.h"
#include "loom/spawn.h"

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

struct point_sites *point_sites_new(const uint64_t *ids, size_t n, bool everywhere)
{
	struct point_sites *sites = memory_alloc(sizeof *sites + n * sizeof *ids);

	*sites = (struct point_sites){ .refs = 1, .everywhere = everywhere, .file = -1 };
	if (n)
		memcpy(sites->ids, ids, n * sizeof *ids);
	qsort(sites->ids, n, sizeof *ids, compare);
	for (size_t i = 0; i < n; i++)
		if (!sites->n || sites->ids[i] != sites->ids[sites->n - 1])
			sites->ids[sites->n++] = sites->ids[i];
	if (sites->n > AREA_POINT_SITES) {
		sites->everywhere = true;
		sites->n = 0;
	}
	return sites;
}

struct point_sites *point_sites_of(const struct schedule *schedule)
{
	return point_sites_new(schedule->sites, schedule->nsites, schedule->everywhere);
}

struct point_sites *point_sites_hold(struct point_sites *sites)
{
	if (sites)
		sites->refs++;
	return sites;
}

void point_sites_drop(struct point_sites *sites)
{
	if (!sites || --sites->refs)
		return;
	cleanup_close(&sites->file);
	free(sites);
}

void point_sites_dropp(struct point_sites **sites)
{
	point_sites_drop(*sites);
}

struct error *point_sites_file(struct point_sites *sites, int *file)
{
	if (sites->file < 0 && sites->n)
		TRY(spawn_sites_file(sites->ids, sites->n, &sites->file));
	*file = sites->file;
	return NULL;
}

/* ---- the collector ---- */

void point_collector_free(struct point_collector *collector)
{
	map_free(&collector->ids);
	map_free(&collector->numbers);
	atlas_free(&collector->atlas);
	point_sites_drop(collector->sites);
	*collector = (struct point_collector){ 0 };
}

/* Runs number their sites alike as long as they load the same units. */
static void know_units(struct point_collector *collector, const struct observations *seen)
{
	uint64_t units = HASH_START;

	for (size_t i = 0; i < seen->nunits; i++) {
		uint64_t words[] = { seen->units[i].hash, seen->units[i].first };

		units = hash_bytes(units, words, sizeof words);
	}
	if (units == collector->units)
		return;
	atlas_free(&collector->atlas);
	collector->atlas = (struct atlas){ 0 };
	map_free(&collector->numbers);
	collector->numbers = (struct map){ 0 };
	atlas_read(&collector->atlas, seen);
	collector->units = units;
}

/* On the binary loom runs differ in their units, each of which is one site; an id needs no table there. */
static uint64_t id_of_place(const struct observations *seen, uint32_t number)
{
	size_t low = 0, high = seen->nunits;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (seen->units[middle].first < number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == seen->nunits || seen->units[low].first != number || !seen->units[low].is_place)
		return 0;
	const struct run_unit *unit = &seen->units[low];
	const char *slash = strrchr(unit->path, '/');

	return code_place_id(slash ? slash + 1 : unit->path, &unit->place, unit->what ? unit->what : "");
}

/* Is it the first pair of a site? */
static bool add_end(struct point_collector *collector, const struct observations *seen, uint32_t number)
{
	bool fresh;

	if (seen->units[0].is_place) {
		uint64_t id = id_of_place(seen, number);

		if (id)
			map_put(&collector->ids, id, &fresh);
		return id && fresh;
	}
	map_put(&collector->numbers, number, &fresh);
	const struct site *site = fresh ? atlas_number(&collector->atlas, number) : NULL;

	if (!site)
		return false;
	map_put(&collector->ids, site->id, &fresh);
	return fresh;
}

#define SHORT_RUN 100000u /* accesses of a run in which those of any site may be points */

/* The ids in a table as a set. */
static void make_set(struct point_collector *collector, const struct map *known)
{
	_cleanup_free_ uint64_t *ids = memory_alloc((known->n + 1) * sizeof *ids);
	size_t n = 0;

	for (size_t i = 0; i < known->room; i++)
		if (known->slots[i].used)
			ids[n++] = known->slots[i].key;
	point_sites_drop(collector->sites);
	collector->sites = point_sites_new(ids, n, false);
}

void point_collector_begin(struct point_collector *collector, const struct observations *first)
{
	_cleanup_(map_free) struct map ids = { 0 };

	if (!first->npairs || first->accesses > SHORT_RUN)
		return;
	know_units(collector, first);
	for (size_t i = 0; i < 2 * first->npairs; i++) {
		const struct pair *pair = &first->pairs[i / 2];
		const struct site *site =
			atlas_number(&collector->atlas, i % 2 ? pair->tail_site : pair->head_site);

		if (site)
			map_put(&ids, site->id, NULL);
	}
	make_set(collector, &ids);
}

void point_collector_add(struct point_collector *collector, const struct observations *seen)
{
	bool fresh = false;

	if (!seen->npairs || !seen->nunits)
		return;
	if (!seen->units[0].is_place)
		know_units(collector, seen);
	for (size_t i = 0; i < seen->npairs; i++) {
		if (!seen->pairs[i].open)
			continue;
		fresh |= add_end(collector, seen, seen->pairs[i].head_site);
		fresh |= add_end(collector, seen, seen->pairs[i].tail_site);
	}
	if (fresh)
		make_set(collector, &collector->ids);
}
