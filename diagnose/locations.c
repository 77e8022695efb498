/* One pass over the run.
 */
#include "diagnose/locations.h"

#include <stdlib.h>

#define GRANULES_MOST 64u /* of one access: of longer ones the rest is left out */

bool locations_conflict(const struct event *a, const struct event *b)
{
	return (a->write || b->write) && a->address < b->address + b->size &&
	       b->address < a->address + a->size;
}

static void add(struct locations *locations, const struct observations *run, uint64_t granule, size_t event)
{
	bool fresh;
	uint64_t *number = map_put(&locations->index, granule, &fresh);

	if (fresh) {
		VEC_PUSH(&locations->items);
		*number = locations->items.n;
	}
	struct location *location = &locations->items.items[*number - 1];

	if (location->n && run->events[location->events[0]].thread != run->events[event].thread)
		location->shared = true;
	location->events =
		memory_grow(location->events, location->n, &location->room, sizeof *location->events);
	location->events[location->n++] = event;
}

void locations_read(struct locations *locations, const struct observations *run)
{
	for (size_t i = 0; i < run->nevents; i++) {
		const struct event *event = &run->events[i];
		uint64_t first = event->address >> 3, last = (event->address + event->size - 1) >> 3;

		for (uint64_t g = first; event->size && g <= last && g - first < GRANULES_MOST; g++)
			add(locations, run, g, i);
	}
}

void locations_free(struct locations *locations)
{
	for (size_t i = 0; i < locations->items.n; i++)
		free(locations->items.items[i].events);
	VEC_FREE(&locations->items);
	map_free(&locations->index);
}
