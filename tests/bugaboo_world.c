/* Makes the random runs. Every seventh edge is mostly in the last runs, as what failed
 * runs have.
 */
#include "tests/bugaboo_world.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static uint64_t seed = 1;

uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

uint16_t random_context(unsigned events)
{
	unsigned held = below(events + 1), context = 1;

	for (unsigned i = 0; i < held; i++)
		context = context << 2 | below(4);
	return (uint16_t)context;
}

static bool same_edge(const struct edge *a, const struct edge *b)
{
	return a->source == b->source && a->sink == b->sink && a->source_context == b->source_context &&
	       a->sink_context == b->sink_context && a->write == b->write;
}

void world_make(struct world *world, size_t n, uint32_t sites, unsigned events)
{
	*world = (struct world){ .edges = memory_alloc(n * sizeof *world->edges) };
	for (size_t tries = 0; world->n < n && tries < 20 * n; tries++) {
		struct edge edge = { .source = below(8) ? 10 + 3 * below(sites) : SITE_NIL,
				     .sink = 10 + 3 * below(sites),
				     .sink_context = random_context(events),
				     .write = below(2) };

		edge.source_context = edge.source == SITE_NIL ? 0 : random_context(events);
		bool known = false;

		for (size_t i = 0; i < world->n && !known; i++)
			known = same_edge(&edge, &world->edges[i]);
		if (!known)
			world->edges[world->n++] = edge;
	}
	n = world->n;
	for (int r = 0; r < RUNS; r++) {
		world->sets[r] = roaring_bitmap_create();
		world->has[r] = memory_alloc(n);
		for (uint32_t i = 0; i < n; i++)
			/* Every seventh mostly in the last runs, as what failed runs have. */
			if (i % 7 == 0 ? below(100) < (r < 22 ? 4 : 95) : below(100) < i * 100 / n) {
				roaring_bitmap_add(world->sets[r], i);
				world->has[r][i] = 1;
			}
	}
	graph_make(world->edges, n, &world->graph);
	world->points = memory_alloc(world->graph.nsites * sizeof *world->points + 1);
	for (size_t i = 0; i < world->graph.nsites; i++)
		world->points[i] = (uint32_t)(i / 2); /* two sites to a code point */
	graph_points(&world->graph, world->points, (world->graph.nsites + 1) / 2);
}

void world_free(struct world *world)
{
	for (int r = 0; r < RUNS; r++) {
		roaring_bitmap_free(world->sets[r]);
		free(world->has[r]);
	}
	graph_free(&world->graph);
	free(world->points);
	free(world->edges);
}

struct events naive_events(uint16_t context, unsigned last)
{
	struct events events = { 0 };
	int all[8], n = 0;

	while (context > 1) {
		all[n++] = context & 3;
		context >>= 2;
	}
	for (int i = 0; i < n && i < (int)last; i++)
		events.event[events.n++] = all[i];
	return events;
}

static bool naive_same_end(uint32_t a, uint16_t a_context, uint32_t b, uint16_t b_context, unsigned last)
{
	struct events x = naive_events(a_context, last), y = naive_events(b_context, last);

	return a == b && x.n == y.n && !memcmp(x.event, y.event, (size_t)x.n * sizeof *x.event);
}

bool naive_same(const struct edge *a, const struct edge *b, unsigned last)
{
	return a->write == b->write &&
	       naive_same_end(a->source, a->source_context, b->source, b->source_context, last) &&
	       naive_same_end(a->sink, a->sink_context, b->sink, b->sink_context, last);
}

uint32_t naive_point(const struct world *world, uint32_t site)
{
	for (size_t i = 0; i < world->graph.nsites; i++)
		if (world->graph.sites[i] == site)
			return world->points[i];
	return GRAPH_NULL;
}

/* Can event j of the context, 0 being the newest, be the write of this edge? Then the edge's context was
 * what was there before the event, or of a full one its end. */
static bool naive_made(const struct world *world, const struct events *context, int j,
		       const struct edge *edge)
{
	struct events before = naive_events(edge->sink_context, 8);
	int left = context->n - j - 1;
	bool full = context->n == (int)world->graph.events;

	if (!edge->write || before.n < left || (!full && before.n != left))
		return false;
	return !memcmp(before.event, context->event + j + 1, (size_t)left * sizeof *before.event);
}

bool naive_silent(const struct world *world, const uint32_t *order, size_t at, unsigned last)
{
	struct events context = naive_events(world->edges[order[at]].sink_context, 8);

	for (int j = 0; j < context.n && j < (int)last; j++) {
		bool made = context.event[j] != EVENT_LOCAL_WRITE;

		for (size_t i = 0; i < at; i++)
			made |= naive_made(world, &context, j, &world->edges[order[i]]);
		if (!made)
			return true;
	}
	return false;
}
