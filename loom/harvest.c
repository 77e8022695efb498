/* Reads a run area into observations: what pairs, couples, predecessors, edges and
 * events say, once harvest_sites.c has given their sites common numbers. The area is read by pread in pieces, never
 * mapped: it is a huge sparse file, touching a hole of a mapping would fill it,
 * and what a hostile program did to the file cannot fault here. No number found
 * in it is believed before it was compared with a limit.
 */
#include "loom/harvest_parts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/memory.h"
#include "loom/area.h"

#define FRONT_BYTES offsetof(struct area_process, paths)
#define EXPECT_MOST 65536u /* entries for which room is made on the area's word */

static bool loop_of(struct harvest *h, const struct area_loop *loop, struct loop_point *point)
{
	if (loop->site == AREA_LOOP_NONE) {
		*point = (struct loop_point){ .site = LOOP_NONE };
		return true;
	}
	point->entry = loop->entry;
	point->iteration = loop->iteration == AREA_ITERATION_UNKNOWN ? ITERATION_UNKNOWN : loop->iteration;
	return harvest_site_of(h, loop->site, &point->site);
}

static bool is_thread(const struct harvest *h, uint32_t number)
{
	return number < h->threads || number == AREA_THREAD_GONE;
}

static bool pair_of(struct harvest *h, const struct area_pair *from, struct pair *pair)
{
	if (from->kind < PAIR_WRITE_READ || from->kind > PAIR_WRITE_WRITE)
		return false;
	if (!is_thread(h, from->head_thread) || !is_thread(h, from->tail_thread))
		return false;
	*pair = (struct pair){
		.kind = (enum pair_kind)from->kind,
		.head_thread = from->head_thread,
		.tail_thread = from->tail_thread,
		.open = from->open,
		.head_order = from->head_order,
		.tail_order = from->tail_order,
		.address = from->address,
	};
	return harvest_site_of(h, from->head_site, &pair->head_site) &&
	       harvest_site_of(h, from->tail_site, &pair->tail_site) &&
	       loop_of(h, &from->head_loop, &pair->head_loop) &&
	       loop_of(h, &from->tail_loop, &pair->tail_loop);
}

static bool same_pair(const struct pair *a, const struct pair *b)
{
	return a->kind == b->kind && a->head_site == b->head_site && a->tail_site == b->tail_site &&
	       a->head_thread == b->head_thread && a->tail_thread == b->tail_thread;
}

static void take_pair(struct harvest *h, const void *item)
{
	const struct area_pair *from = item;
	struct pair pair;

	if (!harvest_is_valid(h, from->state))
		return;
	if (!pair_of(h, from, &pair)) {
		harvest_add(&h->dropped, 1);
		return;
	}
	uint32_t identity[] = { pair.kind, pair.head_site, pair.tail_site, pair.head_thread,
				pair.tail_thread };
	uint64_t key = hash_bytes(HASH_START, identity, sizeof identity);

	/* The next key after one that belongs to a different pair with the same hash. */
	for (bool fresh;; key++) {
		uint64_t *at = map_put(&h->pair_at, key, &fresh);

		if (fresh) {
			*VEC_PUSH(&h->pairs) = pair;
			*at = h->pairs.n;
		}
		if (same_pair(&h->pairs.items[*at - 1], &pair)) {
			h->places[h->item] = (uint32_t)(*at - 1);
			return;
		}
	}
}

static void take_couple(struct harvest *h, const void *item)
{
	const struct area_couple *from = item;

	if (!harvest_is_valid(h, from->state))
		return;
	if (from->first >= h->nplaces || from->second >= h->nplaces || from->crossed > 1) {
		harvest_add(&h->dropped, 1);
		return;
	}
	struct couple couple = { h->places[from->first], h->places[from->second], from->span,
				 from->crossed == 1 };

	/* A pair whose own entry was dropped, or not finished when the program died. */
	if (couple.first == UINT32_MAX || couple.second == UINT32_MAX)
		return;
	if (h->pairs.items[couple.first].head_thread == h->pairs.items[couple.second].tail_thread)
		*VEC_PUSH(&h->couples) = couple;
	else
		harvest_add(&h->dropped, 1);
}

static void take_predecessor(struct harvest *h, const void *item)
{
	const struct area_predecessor *from = item;
	struct predecessor predecessor = { .before = SITE_NIL };
	bool fresh;

	if (!harvest_is_valid(h, from->state))
		return;
	if (!harvest_site_of(h, from->site, &predecessor.site) ||
	    (from->before && !harvest_site_of(h, from->before, &predecessor.before))) {
		harvest_add(&h->dropped, 1);
		return;
	}
	map_put(&h->predecessor_at, (uint64_t)predecessor.site << 32 | predecessor.before, &fresh);
	if (fresh)
		*VEC_PUSH(&h->predecessors) = predecessor;
}

static bool same_edge(const struct edge *a, const struct edge *b)
{
	return a->source == b->source && a->sink == b->sink && a->source_context == b->source_context &&
	       a->sink_context == b->sink_context && a->write == b->write;
}

static void take_edge(struct harvest *h, const void *item)
{
	const struct area_edge *from = item;
	struct edge edge = { .source = SITE_NIL,
			     .sink_context = from->sink_context,
			     .write = from->write != 0 };

	if (!harvest_is_valid(h, from->state))
		return;
	if (from->source)
		edge.source_context = from->source_context;
	if (from->write > 1 || !harvest_site_of(h, from->sink, &edge.sink) ||
	    (from->source && !harvest_site_of(h, from->source, &edge.source))) {
		harvest_add(&h->dropped, 1);
		return;
	}
	uint32_t identity[] = { edge.source, edge.sink,
				(uint32_t)edge.source_context << 16 | edge.sink_context, edge.write };
	uint64_t key = hash_bytes(HASH_START, identity, sizeof identity);

	for (bool fresh;; key++) {
		uint64_t *at = map_put(&h->edge_at, key, &fresh);

		if (fresh) {
			*VEC_PUSH(&h->edges) = edge;
			*at = h->edges.n;
			return;
		}
		if (same_edge(&h->edges.items[*at - 1], &edge))
			return;
	}
}

static void take_event(struct harvest *h, const void *item)
{
	const struct area_event *from = item;
	struct event event = { .address = from->address,
			       .size = from->size,
			       .thread = from->thread,
			       .write = from->action == AREA_WRITE };

	if (!harvest_is_valid(h, from->state))
		return;
	if (from->action == AREA_FORGET) {
		event.site = SITE_NIL; /* on a stack, or somebody else's */
		if (!from->site || harvest_site_of(h, from->site, &event.site))
			*VEC_PUSH(&h->blocks) = (struct block){ .address = from->address,
								.size = from->size,
								.site = event.site,
								.stack = from->order == 1,
								.before = h->events.n };
		return;
	}
	if (from->action >= AREA_ACQUIRE && from->action <= AREA_JOIN) {
		if (!from->site || !harvest_site_of(h, from->site, &event.site))
			event.site = SITE_NIL;
		if (is_thread(h, from->thread))
			*VEC_PUSH(&h->calls) = (struct call){
				.kind = (enum call_kind)(from->action - AREA_ACQUIRE + CALL_ACQUIRE),
				.site = event.site,
				.thread = from->thread,
				.object = from->address,
				.before = h->events.n
			};
		return;
	}
	if (from->action > AREA_FORGET || !is_thread(h, from->thread) ||
	    !harvest_site_of(h, from->site, &event.site))
		harvest_add(&h->dropped, 1);
	else
		*VEC_PUSH(&h->events) = event;
}

/* So many more are said to come. */
static void expect(struct map *map, uint32_t n)
{
	map_reserve(map, map->n + (n < EXPECT_MOST ? n : EXPECT_MOST));
}

/* Couples name the pairs of their process by number. */
static void expect_pairs(struct harvest *h, uint32_t n)
{
	h->nplaces = n < AREA_PAIRS ? n : AREA_PAIRS;
	h->places = memory_resize(h->places, h->nplaces * sizeof *h->places);
	for (size_t i = 0; i < h->nplaces; i++)
		h->places[i] = UINT32_MAX;
}

static struct error *take_process(struct harvest *h, uint64_t base, bool first)
{
	const struct area_process *p = h->front;

	TRY(harvest_read(h->fd, base, h->front, FRONT_BYTES));
	harvest_add(&h->dropped, p->dropped);
	harvest_add(&h->accesses, p->accesses);
	for (size_t i = 0; i < MACHINE_COUNTS; i++)
		harvest_add(&h->machine[i], p->machine[i]);
	for (size_t i = 1; i < AREA_SLOTS; i++)
		harvest_add(&h->accesses, p->slot_order[i]);

	TRY(harvest_take_sites(h, p, base));
	expect(&h->pair_at, p->npairs);
	expect(&h->predecessor_at, p->npredecessors);
	expect(&h->edge_at, p->nedges);

	expect_pairs(h, p->npairs);
	TRY(harvest_each(h, base + offsetof(struct area_process, pairs), sizeof(struct area_pair), p->npairs,
			 AREA_PAIRS, take_pair));
	TRY(harvest_each(h, base + offsetof(struct area_process, couples), sizeof(struct area_couple),
			 p->ncouples, AREA_COUPLES, take_couple));
	TRY(harvest_each(h, base + offsetof(struct area_process, predecessors),
			 sizeof(struct area_predecessor), p->npredecessors, AREA_PREDECESSORS,
			 take_predecessor));
	TRY(harvest_each(h, base + offsetof(struct area_process, edges), sizeof(struct area_edge), p->nedges,
			 AREA_EDGES, take_edge));
	return first ? harvest_each(h, base + offsetof(struct area_process, events),
				    sizeof(struct area_event), p->nevents, AREA_EVENTS, take_event)
		     : NULL;
}

static struct error *take_area(struct harvest *h, struct area_head *head)
{
	TRY(harvest_read(h->fd, 0, head, sizeof *head));
	if (head->magic != AREA_MAGIC || head->version != AREA_VERSION) {
		*head = (struct area_head){ 0 };
		h->dropped = 1;
		return NULL;
	}
	uint32_t n = head->processes < AREA_PROCESSES ? head->processes : AREA_PROCESSES;

	/* A process without an area of its own was not observed. */
	h->dropped = head->processes - n;
	h->threads = head->threads;
	h->ntold = head->options.ntold < AREA_TOLD ? head->options.ntold : AREA_TOLD;
	for (uint32_t i = 0; i < n; i++)
		TRY(take_process(h, AREA_PROCESS_OFFSET(i), i == 0));
	return NULL;
}

static void release(struct harvest *h)
{
	free(h->chunk);
	free(h->front);
	free(h->paths);
	free(h->places);
	VEC_FREE(&h->spans);
	VEC_FREE(&h->modules);
	map_free(&h->unit_at);
	map_free(&h->pair_at);
	map_free(&h->predecessor_at);
	map_free(&h->edge_at);
}

struct error *harvest(int fd, struct observations *out)
{
	_cleanup_(release) struct harvest h = { .fd = fd,
						.chunk = memory_resize(NULL, HARVEST_CHUNK_BYTES),
						.front = memory_alloc(FRONT_BYTES) };
	struct area_head head;
	struct error *error = take_area(&h, &head);

	*out = (struct observations){
		.units = h.units.items,
		.nunits = h.units.n,
		.pairs = h.pairs.items,
		.npairs = h.pairs.n,
		.couples = h.couples.items,
		.ncouples = h.couples.n,
		.predecessors = h.predecessors.items,
		.npredecessors = h.predecessors.n,
		.edges = h.edges.items,
		.nedges = h.edges.n,
		.events = h.events.items,
		.nevents = h.events.n,
		.told = h.told.items,
		.ntold = h.told.n,
		.blocks = h.blocks.items,
		.nblocks = h.blocks.n,
		.calls = h.calls.items,
		.ncalls = h.calls.n,
		.nthreads = head.threads,
		.nprocesses = head.processes,
		.dropped = h.dropped,
		.accesses = h.accesses,
	};
	memcpy(out->machine, h.machine, sizeof out->machine);
	if (error)
		observations_free(out);
	return error;
}
