/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which accesses are points (struct area_control): those to a place that another
 * thread has touched, and those at a site of the run's set, which is fixed when the
 * run starts. */
#include "loom/grind/control.h"

#define SITE_LOOKED_UP (1u << 31)
#define SITE_ALWAYS (1u << 30)
#define SITE_VISITS (SITE_ALWAYS - 1)

static bool is_in_set(uint64_t id)
{
	const uint64_t *sites = control.schedule->sites;
	uint32_t low = 0, high = control.options.nsites;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (sites[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < control.options.nsites && sites[low] == id;
}

bool points_always(uint32_t site)
{
	uint32_t *note = &control.notes[site];

	if (UNLIKELY(!(*note & SITE_LOOKED_UP)))
		*note |= SITE_LOOKED_UP |
			 (control.options.everywhere || is_in_set(site_id(site)) ? SITE_ALWAYS : 0);
	return *note & SITE_ALWAYS;
}

bool points_of_claim(uint32_t site, Addr address, SizeT size)
{
	return control.intervenes && (intervene_wants(site) || intervene_covers(grind.thread, address, size));
}

uint32_t points_visit(uint32_t site)
{
	return ++control.notes[site] & SITE_VISITS;
}

/* Every access comes by here anyway. */
void points_look(bool on)
{
	control.looking = on;
	shadow_choose_way();
}
