/* Reads a run area into observations. The area is read by pread in pieces, never
 * mapped: it is a huge sparse file, touching a hole of a mapping would fill it,
 * and what a hostile program did to the file cannot fault here. No number found
 * in it is believed before it was compared with a limit.
 */
#include "loom/harvest.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/memory.h"
#include "loom/area.h"
#include "model/symbols.h"

#define CHUNK_BYTES 65536u
#define FRONT_BYTES offsetof(struct area_process, paths)
#define EXPECT_MOST 65536u /* entries for which room is made on the area's word */

/* Numbers first .. last of the process at hand are common, common + 1, … of the run. */
struct span {
	uint32_t first, last, common;
};

/* A file in which there are places. */
struct module {
	const char *path; /* NULL: unsound */
	uint64_t build;
};

struct harvest {
	int fd;
	void *chunk;
	uint32_t threads; /* thread numbers given out: all others are unsound */
	uint32_t next;    /* first free common number */
	uint64_t dropped, accesses;
	uint64_t machine[MACHINE_COUNTS];
	VEC(struct run_unit) units;
	VEC(struct pair) pairs;
	VEC(struct couple) couples;
	VEC(struct predecessor) predecessors;
	VEC(struct edge) edges;
	VEC(struct event) events;
	VEC(struct block) blocks;
	VEC(struct call) calls;
	/* Index + 1 of what is already listed: by unit hash, by identity. */
	struct map unit_at, pair_at, predecessor_at, edge_at;
	/* The process at hand: all in front of its arrays, paths, numbering. */
	void *front;
	char *paths;
	size_t path_bytes;
	size_t item;      /* number of the entry at hand in its array */
	uint32_t *places; /* of its pairs by number: where they are listed, UINT32_MAX = nowhere */
	size_t nplaces;
	VEC(struct module) modules; /* of the binary loom */
	VEC(struct span) spans;     /* ascending, apart from each other */
	struct span recent;         /* the span of the last number looked up */
};

static void add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

/* How many of the `bytes` at `offset` are a hole, which holds nothing valid. */
static uint64_t hole_at(int fd, uint64_t offset, uint64_t bytes)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? bytes : 0;
	uint64_t hole = (uint64_t)data - offset;

	return hole < bytes ? hole : bytes;
}

/* Hands each of the counted items at `offset` to `take`. */
static struct error *each(struct harvest *h, uint64_t offset, size_t item_size, uint32_t count,
			  uint32_t limit, void (*take)(struct harvest *h, const void *item))
{
	if (count > limit)
		add(&h->dropped, count - limit);
	size_t n = count < limit ? count : limit, per_chunk = CHUNK_BYTES / item_size;

	for (size_t at = 0; at < n;) {
		if (at)
			at += hole_at(h->fd, offset + at * item_size, (n - at) * item_size) / item_size;
		size_t now = n - at < per_chunk ? n - at : per_chunk;

		TRY(harvest_read(h->fd, offset + at * item_size, h->chunk, now * item_size));
		for (size_t i = 0; i < now; i++) {
			h->item = at + i;
			take(h, (const char *)h->chunk + i * item_size);
		}
		at += now;
	}
	return NULL;
}

/* An entry that was claimed and never finished, or withdrawn, teaches nothing and
 * was not lost either. Any other state is unsound. */
static bool is_valid(struct harvest *h, uint32_t state)
{
	if (state != AREA_VALID && state != 0)
		add(&h->dropped, 1);
	return state == AREA_VALID;
}

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

	if (!is_valid(h, unit->state))
		return;
	const struct run_unit *common = unit_of(h, unit);

	if (!common)
		add(&h->dropped, 1);
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

	if (!is_valid(h, place->state))
		return;
	const struct run_unit *common = unit_of_place(h, place);
	uint32_t number = (uint32_t)h->item + 1;

	if (common)
		*VEC_PUSH(&h->spans) = (struct span){ number, number, common->first };
	else
		add(&h->dropped, 1);
}

static struct error *take_places(struct harvest *h, const struct area_process *p, uint64_t base)
{
	h->modules.n = 0;
	TRY(each(h, base + offsetof(struct area_process, modules), sizeof(struct area_module), p->nmodules,
		 AREA_MODULES, take_module));
	return each(h, base + offsetof(struct area_process, places), sizeof(struct area_place), p->nplaces,
		    AREA_PLACES, take_place);
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
			add(&h->dropped, 1);
		else if (last && spans[i].first - last->last == 1 &&
			 spans[i].common - last->common == spans[i].first - last->first)
			last->last = spans[i].last;
		else
			spans[n++] = spans[i];
	}
	h->spans.n = n;
	h->recent = n ? spans[0] : (struct span){ 1, 0, 0 };
}

/* The common number of a process-wide one; false when no unit has it. */
static bool site_of(struct harvest *h, uint32_t number, uint32_t *common)
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

static bool loop_of(struct harvest *h, const struct area_loop *loop, struct loop_point *point)
{
	if (loop->site == AREA_LOOP_NONE) {
		*point = (struct loop_point){ .site = LOOP_NONE };
		return true;
	}
	point->entry = loop->entry;
	point->iteration = loop->iteration == AREA_ITERATION_UNKNOWN ? ITERATION_UNKNOWN : loop->iteration;
	return site_of(h, loop->site, &point->site);
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
	return site_of(h, from->head_site, &pair->head_site) &&
	       site_of(h, from->tail_site, &pair->tail_site) &&
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

	if (!is_valid(h, from->state))
		return;
	if (!pair_of(h, from, &pair)) {
		add(&h->dropped, 1);
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

	if (!is_valid(h, from->state))
		return;
	if (from->first >= h->nplaces || from->second >= h->nplaces || from->crossed > 1) {
		add(&h->dropped, 1);
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
		add(&h->dropped, 1);
}

static void take_predecessor(struct harvest *h, const void *item)
{
	const struct area_predecessor *from = item;
	struct predecessor predecessor = { .before = SITE_NIL };
	bool fresh;

	if (!is_valid(h, from->state))
		return;
	if (!site_of(h, from->site, &predecessor.site) ||
	    (from->before && !site_of(h, from->before, &predecessor.before))) {
		add(&h->dropped, 1);
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

	if (!is_valid(h, from->state))
		return;
	if (from->source)
		edge.source_context = from->source_context;
	if (from->write > 1 || !site_of(h, from->sink, &edge.sink) ||
	    (from->source && !site_of(h, from->source, &edge.source))) {
		add(&h->dropped, 1);
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

	if (!is_valid(h, from->state))
		return;
	if (from->action == AREA_FORGET) {
		event.site = SITE_NIL; /* on a stack, or somebody else's */
		if (!from->site || site_of(h, from->site, &event.site))
			*VEC_PUSH(&h->blocks) = (struct block){ .address = from->address,
								.size = from->size,
								.site = event.site,
								.before = h->events.n };
		return;
	}
	if (from->action >= AREA_ACQUIRE && from->action <= AREA_JOIN) {
		if (!from->site || !site_of(h, from->site, &event.site))
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
	if (from->action > AREA_FORGET || !is_thread(h, from->thread) || !site_of(h, from->site, &event.site))
		add(&h->dropped, 1);
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
	add(&h->dropped, p->dropped);
	add(&h->accesses, p->accesses);
	for (size_t i = 0; i < MACHINE_COUNTS; i++)
		add(&h->machine[i], p->machine[i]);
	for (size_t i = 1; i < AREA_SLOTS; i++)
		add(&h->accesses, p->slot_order[i]);

	h->path_bytes = p->path_bytes < AREA_PATH_BYTES ? p->path_bytes : AREA_PATH_BYTES;
	h->paths = memory_resize(h->paths, h->path_bytes);
	TRY(harvest_read(h->fd, base + offsetof(struct area_process, paths), h->paths, h->path_bytes));
	h->spans.n = 0;
	TRY(each(h, base + offsetof(struct area_process, units), sizeof(struct area_unit), p->nunits,
		 AREA_UNITS, take_unit));
	TRY(take_places(h, p, base));
	join_spans(h);
	expect(&h->pair_at, p->npairs);
	expect(&h->predecessor_at, p->npredecessors);
	expect(&h->edge_at, p->nedges);

	expect_pairs(h, p->npairs);
	TRY(each(h, base + offsetof(struct area_process, pairs), sizeof(struct area_pair), p->npairs,
		 AREA_PAIRS, take_pair));
	TRY(each(h, base + offsetof(struct area_process, couples), sizeof(struct area_couple), p->ncouples,
		 AREA_COUPLES, take_couple));
	TRY(each(h, base + offsetof(struct area_process, predecessors), sizeof(struct area_predecessor),
		 p->npredecessors, AREA_PREDECESSORS, take_predecessor));
	TRY(each(h, base + offsetof(struct area_process, edges), sizeof(struct area_edge), p->nedges,
		 AREA_EDGES, take_edge));
	return first ? each(h, base + offsetof(struct area_process, events), sizeof(struct area_event),
			    p->nevents, AREA_EVENTS, take_event)
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
						.chunk = memory_resize(NULL, CHUNK_BYTES),
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
