/* Every unserialisable triple and every turned-round pair of the shortest failing run that
 * no making or joining of threads explains, each place once. A run with few switches has
 * few of them.
 */
#include <stdlib.h>

#include "diagnose/locations.h"
#include "diagnose/proposals.h"

#define MOST 400u   /* proposals of either kind */
#define BETWEEN 32u /* accesses of others between two of a thread that are looked at */

/* LOCON's Table 1: W-W-R, R-W-W, R-W-R, W-R-W. */
static bool is_unserialisable(bool a, bool b, bool c)
{
	return b ? !(a && c) : a && c;
}

struct triple {
	size_t first, middle, last; /* events */
};

struct triples {
	struct triple *items;
	size_t n, room; /* as VEC */
};

/* The next access of the same thread to the same bytes; the end of the list when there is none. */
static size_t next_own(const struct observations *run, const struct location *location, size_t i)
{
	const struct event *own = &run->events[location->events[i]];
	size_t j = i + 1;

	while (j < location->n) {
		const struct event *event = &run->events[location->events[j]];

		if (event->thread == own->thread && event->address < own->address + own->size &&
		    own->address < event->address + event->size)
			break;
		j++;
	}
	return j;
}

static void find_triples(const struct observations *run, const struct location *location, struct triples *out)
{
	for (size_t i = 0; i + 2 < location->n && out->n < MOST * 4; i++) {
		size_t j = next_own(run, location, i);

		for (size_t k = i + 1; j < location->n && k < j && k < i + 1 + BETWEEN; k++) {
			const struct event *a = &run->events[location->events[i]];
			const struct event *b = &run->events[location->events[k]];
			const struct event *c = &run->events[location->events[j]];

			if (b->thread != a->thread &&
			    locations_conflict(a, b) + locations_conflict(b, c) > 0 &&
			    is_unserialisable(a->write, b->write, c->write))
				*VEC_PUSH(out) = (struct triple){ location->events[i], location->events[k],
								  location->events[j] };
		}
	}
}

/* Late ones first: nearer to the failure. */
static int by_last(const void *left, const void *right)
{
	const struct triple *a = left, *b = right;

	if (a->last != b->last)
		return a->last > b->last ? -1 : 1;
	if (a->first != b->first)
		return a->first > b->first ? -1 : 1;
	return a->middle < b->middle ? -1 : a->middle > b->middle;
}

void propose_triples(const struct evidence *evidence, struct proposals *list)
{
	const struct observations *run = evidence->run;
	const struct locations *locations = evidence->locations;
	struct triples triples = { 0 };

	for (size_t i = 0; i < locations->items.n; i++)
		if (locations->items.items[i].shared)
			find_triples(run, &locations->items.items[i], &triples);
	if (triples.n)
		qsort(triples.items, triples.n, sizeof *triples.items, by_last);
	for (size_t i = 0, added = 0; i < triples.n && added < MOST; i++) {
		const struct claim_parts parts = {
			.items = { claim_part_of(run, evidence->atlas, triples.items[i].first),
				   claim_part_of(run, evidence->atlas, triples.items[i].middle),
				   claim_part_of(run, evidence->atlas, triples.items[i].last) },
			.n = 3
		};
		size_t before = list->n;

		proposals_add(list, evidence, CLAIM_ATOMIC, &parts);
		added += list->n > before;
	}
	VEC_FREE(&triples);
}

static void add_order(const struct evidence *evidence, const struct claim_part *early,
		      const struct claim_part *late, struct proposals *list)
{
	const struct claim_parts parts = { .items = { *early, *late }, .n = 2 };

	proposals_add(list, evidence, CLAIM_ORDER, &parts);
	proposals_add(list, evidence, CLAIM_ORDER_EACH, &parts);
	proposals_add(list, evidence, CLAIM_ORDER_LAST, &parts);
}

void propose_order(const struct evidence *evidence, const struct claim_part *early,
		   const struct claim_part *late, struct proposals *list)
{
	bool traced = early->at != CLAIM_NOT_TRACED && late->at != CLAIM_NOT_TRACED;

	if (early->thread == late->thread || (!early->write && !late->write) || !early->size || !late->size ||
	    early->address >= late->address + late->size || late->address >= early->address + early->size)
		return;
	/* What came first in the failing run came too early. */
	if (traced && (early->at > late->at || claim_is_ordered(evidence->run, early->at, late->at)))
		return;
	add_order(evidence, early, late, list);
}

static void find_orders(const struct evidence *evidence, const struct location *location,
			struct proposals *list, size_t most)
{
	const struct observations *run = evidence->run;

	for (size_t i = location->n; i-- > 1 && list->n < most;)
		for (size_t j = i; j-- > 0 && j + BETWEEN > i;) {
			const struct event *late = &run->events[location->events[i]];
			const struct event *early = &run->events[location->events[j]];

			if (late->thread == early->thread || !locations_conflict(early, late))
				continue;
			if (!claim_is_ordered(run, location->events[j], location->events[i])) {
				struct claim_part first =
					claim_part_of(run, evidence->atlas, location->events[j]);
				struct claim_part second =
					claim_part_of(run, evidence->atlas, location->events[i]);

				add_order(evidence, &first, &second, list);
			}
			break;
		}
}

void propose_orders(const struct evidence *evidence, struct proposals *list)
{
	const struct locations *locations = evidence->locations;
	size_t most = list->n + MOST;

	for (size_t i = 0; i < locations->items.n; i++)
		if (locations->items.items[i].shared)
			find_orders(evidence, &locations->items.items[i], list, most);
}
