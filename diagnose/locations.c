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

static size_t find_in(const struct location *location, const struct observations *run,
		      const struct event *event, size_t from, size_t to, bool last)
{
	size_t low = 0, high = location->n, found = SIZE_MAX;

	while (low < high) { /* the first that is not before `from` */
		size_t middle = (low + high) / 2;

		if (location->events[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < location->n && location->events[low] < to && (last || found == SIZE_MAX); low++)
		if (locations_conflict(&run->events[location->events[low]], event))
			found = location->events[low];
	return found;
}

size_t locations_find(const struct locations *locations, const struct observations *run,
		      const struct event *event, size_t from, size_t to, bool last)
{
	uint64_t first = event->address >> 3, end = (event->address + event->size - 1) >> 3;
	size_t found = SIZE_MAX;

	for (uint64_t g = first; event->size && g <= end && g - first < GRANULES_MOST; g++) {
		const uint64_t *number = map_get(&locations->index, g);
		size_t at = number ? find_in(&locations->items.items[*number - 1], run, event, from, to, last)
				   : SIZE_MAX;

		if (at != SIZE_MAX && (found == SIZE_MAX || (last ? at > found : at < found)))
			found = at;
	}
	return found;
}

void locations_free(struct locations *locations)
{
	for (size_t i = 0; i < locations->items.n; i++)
		free(locations->items.items[i].events);
	VEC_FREE(&locations->items);
	map_free(&locations->index);
}
