/* Makes run areas and harvests them the slow and obvious way.
 */
#include "tests/harvest_world.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

static uint64_t random_state;

void random_seed(uint64_t seed)
{
	random_state = seed;
}

uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1du;
}

uint32_t below(uint32_t limit)
{
	return (uint32_t)((random_word() >> 32) % limit);
}

void area_put(int fd, uint64_t offset, const void *bytes, size_t size)
{
	assert_int_equal(pwrite(fd, bytes, size, (off_t)offset), (ssize_t)size);
}

int area_empty_file(uint64_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	return fd;
}

#define PUT_FIELD(fd, base, field, bytes, size) \
	area_put(fd, (base) + offsetof(struct area_process, field), bytes, size)

void area_put_process(int fd, uint32_t number, const struct process *p)
{
	uint64_t base = AREA_PROCESS_OFFSET(number);

	PUT_FIELD(fd, base, nunits, &p->nunits, sizeof p->nunits);
	PUT_FIELD(fd, base, npairs, &p->npairs, sizeof p->npairs);
	PUT_FIELD(fd, base, npredecessors, &p->npredecessors, sizeof p->npredecessors);
	PUT_FIELD(fd, base, nedges, &p->nedges, sizeof p->nedges);
	PUT_FIELD(fd, base, ncouples, &p->ncouples, sizeof p->ncouples);
	PUT_FIELD(fd, base, path_bytes, &p->path_bytes, sizeof p->path_bytes);
	PUT_FIELD(fd, base, dropped, &p->dropped, sizeof p->dropped);
	PUT_FIELD(fd, base, accesses, &p->accesses, sizeof p->accesses);
	PUT_FIELD(fd, base, slot_order, p->slot_order, sizeof p->slot_order);
	PUT_FIELD(fd, base, paths, p->paths, sizeof p->paths);
	PUT_FIELD(fd, base, units, p->units, sizeof p->units);
	PUT_FIELD(fd, base, pairs, p->pairs, sizeof p->pairs);
	PUT_FIELD(fd, base, predecessors, p->predecessors, sizeof p->predecessors);
	PUT_FIELD(fd, base, edges, p->edges, sizeof p->edges);
	PUT_FIELD(fd, base, couples, p->couples, sizeof p->couples);
}

int area_file(const struct area *area)
{
	int fd = area_empty_file(AREA_SIZE);

	area_put(fd, 0, &area->head, sizeof area->head);
	for (uint32_t i = 0; i < MAX_PROCESSES; i++)
		area_put_process(fd, i, &area->processes[i]);
	return fd;
}

struct area *area_new(uint32_t processes)
{
	struct area *area = memory_alloc(sizeof *area);

	area->head = (struct area_head){
		.magic = AREA_MAGIC, .version = AREA_VERSION, .processes = processes, .threads = 3
	};
	for (uint32_t i = 0; i < MAX_PROCESSES; i++) {
		struct process *p = &area->processes[i];

		strcpy(p->paths, "/bin/a");
		strcpy(p->paths + 7, "/lib/b.so");
		p->path_bytes = 17;
	}
	return area;
}

/* The reference: one list at a time, linear searches. */

static bool naive_unit(const struct area_unit *units, uint32_t n, const struct observations *o,
		       uint32_t number, uint32_t *common)
{
	for (uint32_t u = 0; u < n; u++)
		for (size_t c = 0; units[u].state == AREA_VALID && c < o->nunits; c++)
			if (o->units[c].hash == units[u].hash && number >= units[u].first &&
			    number - units[u].first < units[u].nsites) {
				*common = o->units[c].first + number - units[u].first;
				return true;
			}
	return false;
}

static void naive_units(const struct process *p, struct observations *o)
{
	for (uint32_t u = 0; u < p->nunits; u++) {
		const struct area_unit *unit = &p->units[u];
		bool known = unit->state != AREA_VALID;
		uint32_t first = 0;

		for (size_t c = 0; c < o->nunits; c++) {
			known = known || o->units[c].hash == unit->hash;
			first += o->units[c].nsites;
		}
		if (known)
			continue;
		o->units = memory_resize(o->units, (o->nunits + 1) * sizeof *o->units);
		o->units[o->nunits++] = (struct run_unit){ .hash = unit->hash,
							   .first = first,
							   .nsites = unit->nsites,
							   .path = memory_string(p->paths + unit->path) };
	}
}

static bool naive_loop(const struct process *p, const struct observations *o, const struct area_loop *loop,
		       struct loop_point *point)
{
	*point = (struct loop_point){ .site = LOOP_NONE };
	if (!loop->site)
		return true;
	point->entry = loop->entry;
	point->iteration = loop->iteration;
	return naive_unit(p->units, p->nunits, o, loop->site, &point->site);
}

static void naive_pair(const struct process *p, struct observations *o, const struct area_pair *from)
{
	struct pair pair = { (enum pair_kind)from->kind,
			     0,
			     0,
			     from->head_thread,
			     from->tail_thread,
			     from->head_order,
			     from->tail_order,
			     from->address,
			     { 0 },
			     { 0 },
			     from->open };

	if (from->state != AREA_VALID)
		return;
	if (!naive_unit(p->units, p->nunits, o, from->head_site, &pair.head_site) ||
	    !naive_unit(p->units, p->nunits, o, from->tail_site, &pair.tail_site) ||
	    !naive_loop(p, o, &from->head_loop, &pair.head_loop) ||
	    !naive_loop(p, o, &from->tail_loop, &pair.tail_loop)) {
		o->dropped++;
		return;
	}
	for (size_t i = 0; i < o->npairs; i++)
		if (o->pairs[i].kind == pair.kind && o->pairs[i].head_site == pair.head_site &&
		    o->pairs[i].tail_site == pair.tail_site && o->pairs[i].head_thread == pair.head_thread &&
		    o->pairs[i].tail_thread == pair.tail_thread)
			return;
	o->pairs = memory_resize(o->pairs, (o->npairs + 1) * sizeof pair);
	o->pairs[o->npairs++] = pair;
}

static void naive_predecessor(const struct process *p, struct observations *o,
			      const struct area_predecessor *from)
{
	struct predecessor new = { .before = SITE_NIL };

	if (from->state != AREA_VALID)
		return;
	if (!naive_unit(p->units, p->nunits, o, from->site, &new.site) ||
	    (from->before && !naive_unit(p->units, p->nunits, o, from->before, &new.before))) {
		o->dropped++;
		return;
	}
	for (size_t i = 0; i < o->npredecessors; i++)
		if (o->predecessors[i].site == new.site && o->predecessors[i].before == new.before)
			return;
	o->predecessors = memory_resize(o->predecessors, (o->npredecessors + 1) * sizeof new);
	o->predecessors[o->npredecessors++] = new;
}

static void naive_edge(const struct process *p, struct observations *o, const struct area_edge *from)
{
	struct edge new = { SITE_NIL, 0, from->source ? from->source_context : 0, from->sink_context,
			    from->write };

	if (from->state != AREA_VALID)
		return;
	if (!naive_unit(p->units, p->nunits, o, from->sink, &new.sink) ||
	    (from->source && !naive_unit(p->units, p->nunits, o, from->source, &new.source))) {
		o->dropped++;
		return;
	}
	for (size_t i = 0; i < o->nedges; i++)
		if (o->edges[i].source == new.source && o->edges[i].sink == new.sink &&
		    o->edges[i].source_context == new.source_context &&
		    o->edges[i].sink_context == new.sink_context && o->edges[i].write == new.write)
			return;
	o->edges = memory_resize(o->edges, (o->nedges + 1) * sizeof new);
	o->edges[o->nedges++] = new;
}

/* Where a pair of the process is listed, SIZE_MAX when it is not. */
static size_t naive_place(const struct process *p, const struct observations *o, const struct area_pair *from)
{
	uint32_t head, tail;
	struct loop_point point;

	if (from->state != AREA_VALID || !naive_unit(p->units, p->nunits, o, from->head_site, &head) ||
	    !naive_unit(p->units, p->nunits, o, from->tail_site, &tail) ||
	    !naive_loop(p, o, &from->head_loop, &point) || !naive_loop(p, o, &from->tail_loop, &point))
		return SIZE_MAX;
	for (size_t i = 0; i < o->npairs; i++)
		if (o->pairs[i].kind == (enum pair_kind)from->kind && o->pairs[i].head_site == head &&
		    o->pairs[i].tail_site == tail && o->pairs[i].head_thread == from->head_thread &&
		    o->pairs[i].tail_thread == from->tail_thread)
			return i;
	return SIZE_MAX;
}

static void naive_couple(const struct process *p, struct observations *o, const struct area_couple *from)
{
	if (from->state != AREA_VALID)
		return;
	if (from->first >= p->npairs || from->second >= p->npairs) {
		o->dropped++;
		return;
	}
	size_t first = naive_place(p, o, &p->pairs[from->first]);
	size_t second = naive_place(p, o, &p->pairs[from->second]);

	if (first == SIZE_MAX || second == SIZE_MAX)
		return;
	if (p->pairs[from->first].head_thread != p->pairs[from->second].tail_thread) {
		o->dropped++;
		return;
	}
	o->couples = memory_resize(o->couples, (o->ncouples + 1) * sizeof *o->couples);
	o->couples[o->ncouples++] =
		(struct couple){ (uint32_t)first, (uint32_t)second, from->span, from->crossed };
}

struct observations naive_harvest(const struct area *area)
{
	struct observations o = { .nthreads = area->head.threads, .nprocesses = area->head.processes };

	for (uint32_t i = 0; i < area->head.processes; i++) {
		const struct process *p = &area->processes[i];

		naive_units(p, &o);
		for (uint32_t k = 0; k < p->npairs; k++)
			naive_pair(p, &o, &p->pairs[k]);
		for (uint32_t k = 0; k < p->ncouples; k++)
			naive_couple(p, &o, &p->couples[k]);
		for (uint32_t k = 0; k < p->npredecessors; k++)
			naive_predecessor(p, &o, &p->predecessors[k]);
		for (uint32_t k = 0; k < p->nedges; k++)
			naive_edge(p, &o, &p->edges[k]);
		o.dropped += p->dropped;
		o.accesses += p->accesses + p->slot_order[1] + p->slot_order[2] + p->slot_order[3];
	}
	return o;
}

static void assert_same_point(const struct loop_point *a, const struct loop_point *b)
{
	assert_int_equal(a->site, b->site);
	assert_int_equal(a->entry, b->entry);
	assert_int_equal(a->iteration, b->iteration);
}

static void assert_same_pairs(const struct observations *a, const struct observations *b)
{
	assert_int_equal(a->npairs, b->npairs);
	for (size_t i = 0; i < a->npairs; i++) {
		const struct pair *p = &a->pairs[i], *q = &b->pairs[i];

		assert_int_equal(p->kind, q->kind);
		assert_int_equal(p->head_site, q->head_site);
		assert_int_equal(p->tail_site, q->tail_site);
		assert_int_equal(p->head_thread, q->head_thread);
		assert_int_equal(p->tail_thread, q->tail_thread);
		assert_int_equal(p->head_order, q->head_order);
		assert_int_equal(p->tail_order, q->tail_order);
		assert_int_equal(p->address, q->address);
		assert_same_point(&p->head_loop, &q->head_loop);
		assert_same_point(&p->tail_loop, &q->tail_loop);
	}
}

void assert_same_observations(const struct observations *a, const struct observations *b)
{
	assert_int_equal(a->nunits, b->nunits);
	for (size_t i = 0; i < a->nunits; i++) {
		assert_int_equal(a->units[i].hash, b->units[i].hash);
		assert_int_equal(a->units[i].first, b->units[i].first);
		assert_int_equal(a->units[i].nsites, b->units[i].nsites);
		assert_string_equal(a->units[i].path, b->units[i].path);
	}
	assert_same_pairs(a, b);
	assert_int_equal(a->ncouples, b->ncouples);
	for (size_t i = 0; i < a->ncouples; i++) {
		assert_int_equal(a->couples[i].first, b->couples[i].first);
		assert_int_equal(a->couples[i].second, b->couples[i].second);
		assert_int_equal(a->couples[i].span, b->couples[i].span);
		assert_int_equal(a->couples[i].crossed, b->couples[i].crossed);
	}
	assert_int_equal(a->npredecessors, b->npredecessors);
	for (size_t i = 0; i < a->npredecessors; i++) {
		assert_int_equal(a->predecessors[i].site, b->predecessors[i].site);
		assert_int_equal(a->predecessors[i].before, b->predecessors[i].before);
	}
	assert_int_equal(a->nedges, b->nedges);
	for (size_t i = 0; i < a->nedges; i++) {
		const struct edge *e = &a->edges[i], *f = &b->edges[i];

		assert_int_equal(e->source, f->source);
		assert_int_equal(e->sink, f->sink);
		assert_int_equal(e->source_context, f->source_context);
		assert_int_equal(e->sink_context, f->sink_context);
		assert_int_equal(e->write, f->write);
	}
	assert_int_equal(a->nthreads, b->nthreads);
	assert_int_equal(a->nprocesses, b->nprocesses);
	assert_int_equal(a->dropped, b->dropped);
	assert_int_equal(a->accesses, b->accesses);
}

/* Random but sound areas. */

static void random_units(struct process *p)
{
	uint32_t number = 1, order = below(MAX_UNITS);

	p->nunits = below(MAX_UNITS) + 1;
	for (uint32_t i = 0; i < p->nunits; i++) {
		/* Out of a rotating set of eight units, so that processes share some. */
		uint32_t which = (order + i) % 8;

		p->units[i] = (struct area_unit){
			.hash = 1000 + which,
			.first = number,
			.nsites = which * 3,
			.path = which % 2 ? 7 : 0,
			.state = below(10) ? AREA_VALID : 0,
		};
		number += which * 3 + (below(2) ? below(4) : 0);
	}
	/* Listed in any order. */
	uint32_t a = below(p->nunits), b = below(p->nunits);
	struct area_unit swapped = p->units[a];

	p->units[a] = p->units[b];
	p->units[b] = swapped;
}

static struct area_loop random_loop(uint32_t sites)
{
	return (struct area_loop){
		.site = below(2) ? below(sites) : AREA_LOOP_NONE,
		.entry = below(9),
		.iteration = below(4) ? below(9) : AREA_ITERATION_UNKNOWN,
	};
}

void area_random_process(struct process *p)
{
	uint32_t sites = 2 + below(70);

	random_units(p);
	p->dropped = below(3);
	p->accesses = random_word() >> 20;
	for (int i = 0; i < 4; i++)
		p->slot_order[i] = below(1000);
	p->npairs = below(MAX_ITEMS);
	for (uint32_t i = 0; i < p->npairs; i++)
		p->pairs[i] = (struct area_pair){ below(9) ? AREA_VALID : 0,
						  1 + below(3),
						  below(sites),
						  below(sites),
						  below(4) ? below(3) : AREA_THREAD_GONE,
						  below(3),
						  random_word(),
						  random_word(),
						  random_word(),
						  random_loop(sites),
						  random_loop(sites),
						  below(2),
						  0 };
	p->npredecessors = below(MAX_ITEMS);
	for (uint32_t i = 0; i < p->npredecessors; i++)
		p->predecessors[i] = (struct area_predecessor){ .state = below(9) ? AREA_VALID : 0,
								.site = below(sites),
								.before = below(sites) };
	p->nedges = below(MAX_ITEMS);
	for (uint32_t i = 0; i < p->nedges; i++)
		p->edges[i] = (struct area_edge){
			.state = below(9) ? AREA_VALID : 0,
			.source = below(sites),
			.sink = below(sites),
			.source_context = (uint16_t)below(3),
			.sink_context = (uint16_t)below(3),
			.write = (uint8_t)below(2),
		};
	p->ncouples = below(MAX_ITEMS);
	for (uint32_t i = 0; i < p->ncouples; i++)
		p->couples[i] = (struct area_couple){
			.state = below(9) ? AREA_VALID : 0,
			.first = below(p->npairs + 2),
			.second = below(p->npairs + 1),
			.crossed = (uint8_t)below(2),
			.span = below(1000),
		};
}
