/* Sites get their number here: units of programs with hooks and places of the
 * binary loom, as each process numbered them, become common numbers of the run.
 * What does not end where it should, or overlaps, is dropped and counted.
 */
#include "loom/harvest_parts.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/symbols.h"

/* The text at an offset of the paths, NULL when it does not end where it should. */
static const char *text_at(const struct harvest *h, uint32_t offset)
{
	if (offset >= h->path_bytes)
		return NULL;
	const char *path = h->paths + offset;
	size_t room = h->path_bytes - offset;

	return memchr(path, '\0', room < PATH_MAX ? room : PATH_MAX) ? path : NULL;
}

/* The run's unit for one of a process, listed when new; NULL when unsound. */
static const struct run_unit *unit_of(struct harvest *h, const struct area_unit *unit)
{
	const char *path = text_at(h, unit->path);

	if (!path || unit->first == 0 || unit->nsites > UINT32_MAX - unit->first)
		return NULL;
	uint64_t *known = map_get(&h->unit_at, unit->hash);

	if (known) {
		const struct run_unit *same = &h->units.items[*known - 1];

		return same->nsites == unit->nsites ? same : NULL;
	}
	/* The highest number stands for SITE_NIL and LOOP_NONE. */
	if (unit->nsites > UINT32_MAX - h->next)
		return NULL;
	struct run_unit *new = VEC_PUSH(&h->units);

	*new = (struct run_unit){
		.hash = unit->hash, .first = h->next, .nsites = unit->nsites, .path = memory_string(path)
	};
	h->next += unit->nsites;
	*map_put(&h->unit_at, unit->hash, NULL) = h->units.n;
	return new;
}

static void take_unit(struct harvest *h, const void *item)
{
	const struct area_unit *unit = item;

	if (!harvest_is_valid(h, unit->state))
		return;
	const struct run_unit *common = unit_of(h, unit);

	if (!common)
		harvest_add(&h->dropped, 1);
	else if (unit->nsites)
		*VEC_PUSH(&h->spans) =
			(struct span){ unit->first, unit->first + unit->nsites - 1, common->first };
}

/* ---- places of the binary loom ---- */

static void take_module(struct harvest *h, const void *item)
{
	const struct area_module *module = item;
	const char *path = module->state == AREA_VALID ? text_at(h, module->path) : NULL;

	*VEC_PUSH(&h->modules) = (struct module){ path, path ? symbols_build(path) : 0 };
}

/* The run's unit for a place, listed when new; NULL when the place is unsound. */
static const struct run_unit *unit_of_place(struct harvest *h, const struct area_place *place)
{
	uint32_t kind = place->kind & ~PLACE_ATOMIC;
	const struct module *module = place->module < h->modules.n ? &h->modules.items[place->module] : NULL;
	const char *what = place->what ? text_at(h, place->what) : "";

	if (!module || !module->path || !what || kind < SITE_READ || kind > SITE_ALLOCATION)
		return NULL;
	struct code_place own = { place->address, place->variable, place->kind, place->size };
	uint64_t hash = code_place_mix(code_place_mix_text(code_place_id("", &own, what), module->path),
				       module->build);
	uint64_t *known = map_get(&h->unit_at, hash);

	if (known)
		return &h->units.items[*known - 1];
	if (h->next == UINT32_MAX)
		return NULL;
	struct run_unit *new = VEC_PUSH(&h->units);

	*new = (struct run_unit){ .hash = hash,
				  .first = h->next++,
				  .nsites = 1,
				  .path = memory_string(module->path),
				  .is_place = true,
				  .place = own,
				  .what = *what ? memory_string(what) : NULL };
	*map_put(&h->unit_at, hash, NULL) = h->units.n;
	return new;
}

static void take_place(struct harvest *h, const void *item)
{
	const struct area_place *place = item;

	if (!harvest_is_valid(h, place->state))
		return;
	const struct run_unit *common = unit_of_place(h, place);
	uint32_t number = (uint32_t)h->item + 1;

	if (common)
		*VEC_PUSH(&h->spans) = (struct span){ number, number, common->first };
	else
		harvest_add(&h->dropped, 1);
}

static struct error *take_places(struct harvest *h, const struct area_process *p, uint64_t base)
{
	h->modules.n = 0;
	TRY(harvest_each(h, base + offsetof(struct area_process, modules), sizeof(struct area_module),
			 p->nmodules, AREA_MODULES, take_module));
	return harvest_each(h, base + offsetof(struct area_process, places), sizeof(struct area_place),
			    p->nplaces, AREA_PLACES, take_place);
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

/* Sorts the spans, drops those that overlap one before and joins neighbours: a
 * process that numbers its units as the run does is left with a single span. */
static void join_spans(struct harvest *h)
{
	struct span *spans = h->spans.items;
	size_t n = 0;

	if (h->spans.n > 1)
		qsort(spans, h->spans.n, sizeof *spans, compare_spans);
	for (size_t i = 0; i < h->spans.n; i++) {
		struct span *last = n ? &spans[n - 1] : NULL;

		if (last && spans[i].first <= last->last)
			harvest_add(&h->dropped, 1);
		else if (last && spans[i].first - last->last == 1 &&
			 spans[i].common - last->common == spans[i].first - last->first)
			last->last = spans[i].last;
		else
			spans[n++] = spans[i];
	}
	h->spans.n = n;
	h->recent = n ? spans[0] : (struct span){ 1, 0, 0 };
}

bool harvest_site_of(struct harvest *h, uint32_t number, uint32_t *common)
{
	size_t low = 0, high = h->spans.n;

	while (number < h->recent.first || number > h->recent.last) {
		if (low == high)
			return false;
		size_t middle = low + (high - low) / 2;

		h->recent = h->spans.items[middle];
		if (number < h->recent.first)
			high = middle;
		else
			low = middle + 1;
	}
	*common = h->recent.common + (number - h->recent.first);
	return true;
}

static char *told_path(const struct harvest *h, uint32_t path)
{
	const char *text = path ? text_at(h, path - 1) : NULL;

	return text ? memory_string(text) : NULL;
}

/* Of the first process, as its events. */
static void take_told(struct harvest *h, const struct area_process *p)
{
	for (uint32_t i = (uint32_t)h->told.n; i < h->ntold; i++) {
		const struct area_caller *from = &p->callers[i];

		*VEC_PUSH(&h->told) = (struct told_access){ .at = from->at,
							    .caller = from->caller,
							    .at_path = told_path(h, from->at_path),
							    .caller_path = told_path(h, from->caller_path) };
	}
}

struct error *harvest_take_sites(struct harvest *h, const struct area_process *p, uint64_t base)
{
	h->path_bytes = p->path_bytes < AREA_PATH_BYTES ? p->path_bytes : AREA_PATH_BYTES;
	h->paths = memory_resize(h->paths, h->path_bytes);
	TRY(harvest_read(h->fd, base + offsetof(struct area_process, paths), h->paths, h->path_bytes));
	h->spans.n = 0;
	TRY(harvest_each(h, base + offsetof(struct area_process, units), sizeof(struct area_unit), p->nunits,
			 AREA_UNITS, take_unit));
	TRY(take_places(h, p, base));
	join_spans(h);
	take_told(h, p);
	return NULL;
}
