/* Reads the site tables of ELF files once each.
 */
#include "model/atlas.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"

static void take_unit(struct atlas *atlas, struct unit *unit)
{
	atlas->units = memory_resize(atlas->units, (atlas->nunits + 1) * sizeof *atlas->units);
	*map_put(&atlas->by_hash, unit->hash, NULL) = atlas->nunits;
	atlas->units[atlas->nunits++] = *unit;
	for (uint32_t i = 0; i < unit->nsites; i++)
		*map_put(&atlas->by_id, unit->sites[i].id, NULL) = (uint64_t)(uintptr_t)&unit->sites[i];
}

void atlas_read_file(struct atlas *atlas, const char *path)
{
	struct unit *units = NULL;
	size_t n = 0;

	error_free(unit_read_elf(path, &units, &n));
	for (size_t i = 0; i < n; i++)
		take_unit(atlas, &units[i]);
	free(units);
}

static void take_place(struct atlas *atlas, const struct run_unit *place)
{
	struct unit unit;

	if (!atlas->symbols)
		atlas->symbols = symbols_new();
	symbols_unit(atlas->symbols, place->path, &place->place, place->what ? place->what : "", place->hash,
		     &unit);
	take_unit(atlas, &unit);
}

static const struct unit *unit_of(const struct atlas *atlas, const struct run_unit *wanted)
{
	const uint64_t *at = map_get(&atlas->by_hash, wanted->hash);
	const struct unit *unit = at ? &atlas->units[*at] : NULL;

	return unit && unit->nsites == wanted->nsites ? unit : NULL;
}

static size_t numbers_of(const struct observations *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->nunits; i++)
		if ((size_t)o->units[i].first + o->units[i].nsites > n)
			n = (size_t)o->units[i].first + o->units[i].nsites;
	return n;
}

/* The unit, read when it is not known yet; NULL when it cannot be. */
static const struct unit *find_unit(struct atlas *atlas, const struct run_unit *wanted)
{
	const struct unit *unit = unit_of(atlas, wanted);

	if (unit)
		return unit;
	if (wanted->is_place)
		take_place(atlas, wanted);
	else
		atlas_read_file(atlas, wanted->path);
	return unit_of(atlas, wanted);
}

static void number_unit(struct atlas *atlas, const struct run_unit *numbered)
{
	const struct unit *unit = find_unit(atlas, numbered);

	for (uint32_t s = 0; unit && s < unit->nsites; s++)
		atlas->numbered[numbered->first + s] = &unit->sites[s];
}

void atlas_read(struct atlas *atlas, const struct observations *o)
{
	atlas->nnumbered = numbers_of(o);
	atlas->numbered = memory_alloc((atlas->nnumbered + 1) * sizeof *atlas->numbered);
	for (size_t i = 0; i < o->nunits; i++)
		number_unit(atlas, &o->units[i]);
}

/* ---- one numbering for two runs ---- */

static void renumber(const uint32_t *numbers, size_t n, uint32_t *site)
{
	if (*site < n)
		*site = numbers[*site];
}

static void renumber_run(struct observations *o, const uint32_t *numbers, size_t n)
{
	for (size_t i = 0; i < o->npairs; i++) {
		renumber(numbers, n, &o->pairs[i].head_site);
		renumber(numbers, n, &o->pairs[i].tail_site);
	}
	for (size_t i = 0; i < o->npredecessors; i++) {
		renumber(numbers, n, &o->predecessors[i].site);
		renumber(numbers, n, &o->predecessors[i].before);
	}
	for (size_t i = 0; i < o->nedges; i++) {
		renumber(numbers, n, &o->edges[i].source);
		renumber(numbers, n, &o->edges[i].sink);
	}
	for (size_t i = 0; i < o->nevents; i++)
		renumber(numbers, n, &o->events[i].site);
	for (size_t i = 0; i < o->nblocks; i++)
		renumber(numbers, n, &o->blocks[i].site);
	for (size_t i = 0; i < o->ncalls; i++)
		renumber(numbers, n, &o->calls[i].site);
}

/* Where the unit's numbers begin in the atlas, behind all others when it is not there yet. */
static uint32_t first_number(struct atlas *atlas, struct map *by_id, const struct run_unit *wanted)
{
	const struct unit *unit = find_unit(atlas, wanted);
	const uint64_t *known = unit && unit->nsites ? map_get(by_id, unit->sites[0].id) : NULL;
	uint32_t first = (uint32_t)atlas->nnumbered;

	if (known)
		return (uint32_t)*known;
	atlas->nnumbered += wanted->nsites;
	atlas->numbered = memory_resize(atlas->numbered, (atlas->nnumbered + 1) * sizeof *atlas->numbered);
	for (uint32_t s = 0; s < wanted->nsites; s++)
		atlas->numbered[first + s] = unit ? &unit->sites[s] : NULL;
	atlas->numbered[atlas->nnumbered] = NULL;
	return first;
}

void atlas_number_alike(struct atlas *atlas, struct observations *run, struct atlas *other)
{
	size_t n = numbers_of(run);
	_cleanup_free_ uint32_t *numbers = memory_alloc((n + 1) * sizeof *numbers);
	struct map by_id = { 0 };

	for (size_t i = 0; i < n; i++)
		numbers[i] = (uint32_t)i;
	for (size_t i = 0; i < atlas->nnumbered; i++)
		if (atlas->numbered[i])
			*map_put(&by_id, atlas->numbered[i]->id, NULL) = i;
	for (size_t i = 0; i < run->nunits; i++) {
		struct run_unit *unit = &run->units[i];
		uint32_t first = first_number(atlas, &by_id, unit);

		for (uint32_t s = 0; s < unit->nsites; s++)
			numbers[unit->first + s] = first + s;
		unit->first = first;
	}
	map_free(&by_id);
	renumber_run(run, numbers, n);
	free(other->numbered);
	atlas_read(other, run);
}

const struct site *atlas_number(const struct atlas *atlas, uint32_t number)
{
	return number < atlas->nnumbered ? atlas->numbered[number] : NULL;
}

const struct site *atlas_find(void *atlas, uint64_t id)
{
	const uint64_t *at = map_get(&((struct atlas *)atlas)->by_id, id);

	return at ? (const struct site *)(uintptr_t)*at : NULL;
}

void atlas_free(struct atlas *atlas)
{
	for (size_t i = 0; i < atlas->nunits; i++)
		unit_free(&atlas->units[i]);
	free(atlas->units);
	free(atlas->numbered);
	map_free(&atlas->by_id);
	map_free(&atlas->by_hash);
	symbols_free(atlas->symbols);
	*atlas = (struct atlas){ 0 };
}
