/* Who shares memory with whom, from a trace (AI, section 3.4.1): a walk over all accesses
 * in their order keeps for each byte, since its life began, which node of the union-find
 * it belongs to and which thread came first. A second walk marks the accesses that
 * touched a byte of several threads, also those that came before the second thread did:
 * they are no predecessor in any set, but what comes between them and the next may be.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/invariant/training.h"

#define GRANULE 8u
#define LONGEST 4096u /* bytes of one access that are looked at: the rest of a copy is like its beginning */

struct granule {
	uint32_t nodes[GRANULE]; /* by byte; 0 untouched in this life */
};

/* A stretch of bytes that were touched first by the same access. */
struct node {
	uint32_t place, thread;
	bool shared;
};

struct walk {
	struct training *training;
	struct map at; /* granule to its place in `granules`, plus 1 */
	VEC(struct granule) granules;
	VEC(struct node) nodes;
	bool marking; /* the second walk: nodes are there in the same order */
	size_t next;
};

static void begin_life(struct walk *walk, uint64_t address, uint64_t size)
{
	for (uint64_t at = address; at < address + size;) {
		uint64_t number = at / GRANULE, end = (number + 1) * GRANULE;
		const uint64_t *place = map_get(&walk->at, number);

		if (place)
			for (uint64_t byte = at; byte < end && byte < address + size; byte++)
				walk->granules.items[*place].nodes[byte % GRANULE] = 0;
		at = end;
	}
}

static struct granule *granule_of(struct walk *walk, uint64_t number)
{
	bool fresh;
	uint64_t *place = map_put(&walk->at, number, &fresh);

	if (fresh) {
		*place = walk->granules.n;
		VEC_PUSH(&walk->granules);
	}
	return &walk->granules.items[*place];
}

static uint32_t new_node(struct walk *walk, uint32_t place, uint32_t thread)
{
	if (walk->marking)
		return (uint32_t)++walk->next;
	*VEC_PUSH(&walk->nodes) = (struct node){ .place = place, .thread = thread };
	return (uint32_t)walk->nodes.n;
}

static void touch(struct walk *walk, uint32_t place, const struct event *event)
{
	uint64_t size = event->size < LONGEST ? event->size : LONGEST, end = event->address + size;
	uint32_t fresh = 0, last = 0;

	for (uint64_t byte = event->address; byte < end;) {
		struct granule *granule = granule_of(walk, byte / GRANULE);

		do {
			uint32_t *node = &granule->nodes[byte % GRANULE];

			if (!*node)
				*node = fresh = fresh ? fresh : new_node(walk, place, event->thread);
			if (*node != last) {
				struct node *met = &walk->nodes.items[*node - 1];

				last = *node;
				met->shared |= met->thread != event->thread;
				training_join(walk->training, met->place, place);
				if (walk->marking && met->shared)
					walk->training->shared.items[place] = true;
			}
			byte++;
		} while (byte < end && byte % GRANULE);
	}
}

static void walk_over(struct walk *walk, const struct observations *traced, const uint32_t *places)
{
	size_t block = 0;

	map_free(&walk->at);
	walk->granules.n = 0;
	for (size_t i = 0; i < traced->nevents; i++) {
		const struct event *event = &traced->events[i];

		for (; block < traced->nblocks && traced->blocks[block].before <= i; block++)
			begin_life(walk, traced->blocks[block].address, traced->blocks[block].size);
		if (event->site != SITE_NIL && places[event->site])
			touch(walk, places[event->site], event);
	}
}

/* The place of each of the run's sites, by number. */
static uint32_t *places_of_run(struct training *training, const struct observations *traced,
			       const struct atlas *atlas)
{
	uint32_t most = 0;

	for (size_t i = 0; i < traced->nunits; i++)
		if (traced->units[i].first + traced->units[i].nsites > most)
			most = traced->units[i].first + traced->units[i].nsites;
	for (size_t i = 0; i < traced->nevents; i++)
		if (traced->events[i].site >= most && traced->events[i].site != SITE_NIL)
			most = traced->events[i].site + 1;
	uint32_t *places = memory_alloc(((size_t)most + 1) * sizeof *places);

	for (size_t u = 0; u < traced->nunits; u++) {
		const struct run_unit *unit = &traced->units[u];
		_cleanup_free_ struct site *sites = memory_alloc((unit->nsites + 1) * sizeof *sites);
		_cleanup_free_ struct place_rank *ranks = memory_alloc((unit->nsites + 1) * sizeof *ranks);

		for (uint32_t i = 0; i < unit->nsites; i++) {
			const struct site *site = atlas_number(atlas, unit->first + i);

			if (site)
				sites[i] = *site;
			else
				sites[i] = (struct site){
					.kind = SITE_SYNC, .file = "", .function = "", .variable = ""
				};
		}
		place_ranks(sites, unit->nsites, ranks);
		for (uint32_t i = 0; i < unit->nsites; i++)
			if (ranks[i].of)
				places[unit->first + i] = training_place(training, &sites[i], ranks[i]);
	}
	return places;
}

void training_trace(struct training *training, const struct observations *traced, const struct atlas *atlas)
{
	_cleanup_free_ uint32_t *places = places_of_run(training, traced, atlas);
	struct walk walk = { .training = training };

	for (size_t i = 0; i < traced->nevents; i++)
		if (traced->events[i].site != SITE_NIL && places[traced->events[i].site])
			guard_set_site(&training->places, places[traced->events[i].site])->count++;
	walk_over(&walk, traced, places);
	walk.marking = true;
	walk_over(&walk, traced, places);
	map_free(&walk.at);
	VEC_FREE(&walk.granules);
	VEC_FREE(&walk.nodes);
	training->traces++;
	training->cut |= traced->dropped > 0;
}
