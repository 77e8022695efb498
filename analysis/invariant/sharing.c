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
	uint32_t last[GRANULE];  /* by byte that has a node: the thread that touched it last */
	uint32_t seen[GRANULE];  /* and a bit for each that ever did; several threads may share one */
	uint8_t memory;          /* enum guard_memory of the small blocks in it; 0 unknown */
};

/* A block that is too large for a mark in each of its granules. */
struct large {
	uint64_t address, size;
	uint8_t memory;
};
#define LARGE (64u << 10)

/* A byte, from the beginning of its life on: who touched it first. */
struct node {
	uint32_t place, thread;
	bool shared;
	bool marked; /* UNSNARL_GUARD_ADDRESS was there */
};

struct walk {
	struct training *training;
	struct map at; /* granule to its place in `granules`, plus 1 */
	VEC(struct granule) granules;
	VEC(struct node) nodes;
	VEC(struct large) large; /* the latest last */
	const bool *marks;       /* by place: it is the read of UNSNARL_GUARD_ADDRESS */
	bool marking;            /* the second walk: nodes are there in the same order */
	size_t next;
};

/* Stacks and the like are larger than all that was ever touched: that is gone through instead. */
static void begin_lives(struct walk *walk, uint64_t address, uint64_t size)
{
	for (size_t i = 0; i < walk->at.room; i++) {
		const struct map_slot *slot = &walk->at.slots[i];

		for (uint64_t byte = 0; slot->used && byte < GRANULE; byte++)
			if (slot->key * GRANULE + byte - address < size) {
				walk->granules.items[slot->value].nodes[byte] = 0;
				walk->granules.items[slot->value].memory = 0;
			}
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

static void forget_nodes(struct granule *granule, uint64_t from, uint64_t to)
{
	for (uint64_t byte = from; byte < to; byte++)
		granule->nodes[byte % GRANULE] = 0;
}

static void begin_large(struct walk *walk, uint64_t address, uint64_t size, uint8_t memory)
{
	*VEC_PUSH(&walk->large) = (struct large){ address, size, memory };
	if (size / GRANULE > walk->at.room) {
		begin_lives(walk, address, size);
		return;
	}
	for (uint64_t at = address; at < address + size; at = (at / GRANULE + 1) * GRANULE) {
		const uint64_t *place = map_get(&walk->at, at / GRANULE);
		uint64_t end = (at / GRANULE + 1) * GRANULE;

		if (!place)
			continue;
		forget_nodes(&walk->granules.items[*place], at, end < address + size ? end : address + size);
		walk->granules.items[*place].memory = 0;
	}
}

static void begin_life(struct walk *walk, const struct block *block)
{
	uint64_t stop = block->address + block->size;
	uint8_t memory = block->stack              ? GUARD_MEMORY_STACK
			 : block->site == SITE_NIL ? GUARD_MEMORY_LASTING
						   : GUARD_MEMORY_HEAP;

	if (block->size >= LARGE) {
		begin_large(walk, block->address, block->size, memory);
		return;
	}
	for (uint64_t at = block->address; at < stop;) {
		struct granule *granule = granule_of(walk, at / GRANULE);
		uint64_t end = (at / GRANULE + 1) * GRANULE;
		bool whole = at % GRANULE == 0 && end <= stop;

		forget_nodes(granule, at, end < stop ? end : stop);
		granule->memory = (uint8_t)(memory | (whole ? 0 : granule->memory));
		at = end;
	}
}

/* What kind of memory an address is now. */
static uint8_t memory_at(const struct walk *walk, const struct granule *granule, uint64_t address)
{
	if (granule->memory)
		return granule->memory;
	for (size_t i = walk->large.n; i-- > 0;)
		if (address - walk->large.items[i].address < walk->large.items[i].size)
			return walk->large.items[i].memory;
	return GUARD_MEMORY_LASTING;
}

static uint32_t new_node(struct walk *walk, uint32_t place, uint32_t thread)
{
	if (walk->marking)
		return (uint32_t)++walk->next;
	*VEC_PUSH(&walk->nodes) = (struct node){ .place = place, .thread = thread };
	return (uint32_t)walk->nodes.n;
}

static void meet(struct walk *walk, struct node *met, uint32_t place, uint32_t thread)
{
	met->shared |= met->thread != thread;
	met->marked |= walk->marks && walk->marks[place];
	if (met->place != place)
		training_join(walk->training, met->place, place);
	if (walk->marking && met->shared)
		walk->training->shared.items[place] = true;
	if (walk->marking && met->marked)
		walk->training->marked.items[place] = true;
}

/* A byte that somebody has touched before. */
static void come_again(const struct walk *walk, struct guard_site *site, const struct granule *granule,
		       uint64_t at, uint32_t thread)
{
	uint64_t trace = walk->training->traces + 1;

	site->again |= granule->last[at] == thread;
	if (granule->last[at] == thread || !(granule->seen[at] >> thread % 32 & 1) || site->returned == trace)
		return;
	site->returned = trace;
	site->returns++;
}

static void touch(struct walk *walk, uint32_t place, const struct event *event)
{
	uint64_t size = event->size < LONGEST ? event->size : LONGEST, end = event->address + size;

	for (uint64_t byte = event->address; byte < end;) {
		struct granule *granule = granule_of(walk, byte / GRANULE);
		struct guard_site *site = guard_set_site(&walk->training->places, place);

		site->memory |= memory_at(walk, granule, byte);
		do {
			uint32_t *node = &granule->nodes[byte % GRANULE];

			if (!*node) {
				*node = new_node(walk, place, event->thread);
				site->begins = true;
				granule->seen[byte % GRANULE] = 0;
			} else {
				come_again(walk, site, granule, byte % GRANULE, event->thread);
			}
			granule->last[byte % GRANULE] = event->thread;
			granule->seen[byte % GRANULE] |= 1u << event->thread % 32;
			meet(walk, &walk->nodes.items[*node - 1], place, event->thread);
			byte++;
		} while (byte < end && byte % GRANULE);
	}
}

static void walk_over(struct walk *walk, const struct observations *traced, const uint32_t *places)
{
	size_t block = 0;

	map_free(&walk->at);
	walk->granules.n = 0;
	walk->large.n = 0;
	for (size_t i = 0; i < traced->nevents; i++) {
		const struct event *event = &traced->events[i];

		for (; block < traced->nblocks && traced->blocks[block].before <= i; block++)
			begin_life(walk, &traced->blocks[block]);
		if (event->site != SITE_NIL && places[event->site])
			touch(walk, places[event->site], event);
	}
}

uint32_t *training_places_of(struct training *training, const struct observations *traced,
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

bool *training_mark_reads(const struct guard_set *places)
{
	bool *marks = memory_alloc(places->sites.n + 1);

	for (uint32_t m = 1; m <= places->sites.n; m++) {
		const struct guard_site *mark = guard_set_site(places, m);

		if (strcmp(mark->variable, "unsnarl_mark_address") != 0)
			continue;
		for (uint32_t i = 1; i <= places->sites.n; i++) {
			const struct guard_site *site = guard_set_site(places, i);

			marks[i] |= i != m && site->kind == SITE_READ && site->line == mark->line &&
				    site->column == mark->column && strcmp(site->file, mark->file) == 0;
		}
	}
	return marks;
}

/* How often each access ran. What a trace lacks may be what is hot, so with one whole trace only whole ones
 * count. */
static void count_accesses(struct training *training, const struct observations *traced,
			   const uint32_t *places)
{
	bool cut = traced->dropped > 0;

	if (!cut && !training->whole)
		for (uint32_t number = 1; number <= training->places.sites.n; number++)
			guard_set_site(&training->places, number)->count = 0;
	if (cut && training->whole)
		return;
	training->counted = !cut && !training->whole ? 1 : training->counted + 1;
	training->whole |= !cut;
	training->cut = cut;
	for (size_t i = 0; i < traced->nevents; i++)
		if (traced->events[i].site != SITE_NIL && places[traced->events[i].site])
			guard_set_site(&training->places, places[traced->events[i].site])->count++;
}

/* What traces have told of accesses: was it the first at a location, did its thread come back to one? */
static size_t count_told(const struct training *training)
{
	size_t n = 0;

	for (uint32_t number = 1; number <= training->places.sites.n; number++)
		n += guard_set_site(&training->places, number)->begins +
		     (size_t)guard_set_site(&training->places, number)->again;
	return n;
}

void training_trace(struct training *training, const struct observations *traced, const struct atlas *atlas)
{
	_cleanup_free_ uint32_t *places = training_places_of(training, traced, atlas);
	_cleanup_free_ bool *marks = training_mark_reads(&training->places);
	struct walk walk = { .training = training, .marks = marks };
	size_t began = count_told(training);

	count_accesses(training, traced, places);
	walk_over(&walk, traced, places);
	walk.marking = true;
	walk_over(&walk, traced, places);
	map_free(&walk.at);
	VEC_FREE(&walk.granules);
	VEC_FREE(&walk.nodes);
	VEC_FREE(&walk.large);
	training->traces++;
	training->quiet = count_told(training) > began ? 0 : training->quiet + 1;
}
