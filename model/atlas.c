/* Reads the site tables of ELF files once each.
 */
#include "model/atlas.h"

#include <stdlib.h>
#include <string.h>

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

void atlas_read(struct atlas *atlas, const struct observations *o)
{
	atlas->nnumbered = numbers_of(o);
	atlas->numbered = memory_alloc((atlas->nnumbered + 1) * sizeof *atlas->numbered);
	for (size_t i = 0; i < o->nunits; i++) {
		const struct unit *unit = unit_of(atlas, &o->units[i]);

		if (!unit && o->units[i].is_place) {
			take_place(atlas, &o->units[i]);
			unit = unit_of(atlas, &o->units[i]);
		} else if (!unit) {
			atlas_read_file(atlas, o->units[i].path);
			unit = unit_of(atlas, &o->units[i]);
		}
		for (uint32_t s = 0; unit && s < unit->nsites; s++)
			atlas->numbered[o->units[i].first + s] = &unit->sites[s];
	}
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
