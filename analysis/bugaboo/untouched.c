/* Reads that came before any other thread had been at the data, in failed runs only. A
 * null source is recorded at the first read of a thread; when that has read the data
 * before, elsewhere, the telling read has no edge. Its predecessor says it: nil, where
 * passed runs always have one. Such a read gets an edge from nowhere, without context.
 */
#include "analysis/bugaboo/campaign.h"

#include "base/hash.h"

/* How many of the passed and of the failed runs have the predecessor. */
static void count_runs(const struct graphs *graphs, uint32_t predecessor, size_t *passed, size_t *failed)
{
	*passed = *failed = 0;
	for (size_t i = 0; i < graphs->executed.n; i++)
		if (roaring_bitmap_contains(graphs->executed.items[i].predecessors, predecessor))
			++*(graphs->executed.items[i].failed ? failed : passed);
}

/* At the end of the order: when it came is not known. */
static void put_edge(struct graphs *graphs, size_t failed, uint32_t edge)
{
	roaring_bitmap_add(graphs->failed.items[failed], edge);
	struct edge_order *order = &graphs->orders.items[failed];

	if (!order->edges)
		return;
	order->edges = memory_resize(order->edges, (order->n + 1) * sizeof *order->edges);
	order->edges[order->n++] = edge;
}

static void add_edge(struct graphs *graphs, uint32_t predecessor, uint32_t site)
{
	struct interned *interned = &graphs->interned;
	uint32_t number = (uint32_t)interned->nedges;
	size_t failed = 0;

	interned->edges = memory_resize(interned->edges, (interned->nedges + 1) * sizeof *interned->edges);
	interned->edges[interned->nedges++] = (struct edge){
		.source = SITE_NIL,
		.sink = site,
		.sink_context = graphs->graph.events < CONTEXT_MOST ? CONTEXT_EMPTY : 0,
	};
	for (size_t i = 0; i < graphs->executed.n; i++) {
		if (!graphs->executed.items[i].failed)
			continue;
		if (roaring_bitmap_contains(graphs->executed.items[i].predecessors, predecessor))
			put_edge(graphs, failed, number);
		failed++;
	}
}

/* Sites at which some run has read what nobody had written. */
static void null_sinks(const struct graphs *graphs, struct map *sinks)
{
	for (size_t i = 0; i < graphs->interned.nedges; i++)
		if (graphs->interned.edges[i].source == SITE_NIL)
			map_put(sinks, graphs->interned.edges[i].sink, NULL);
}

struct error *graphs_add_untouched(struct store *store, struct graphs *graphs)
{
	size_t edges = graphs->interned.nedges;
	struct map sinks = { 0 };
	struct error *error = NULL;

	null_sinks(graphs, &sinks);
	for (uint32_t i = 0; i < graphs->interned.npredecessors && !error; i++) {
		const struct predecessor *predecessor = &graphs->interned.predecessors[i];
		const struct site *site;
		size_t passed, failed;

		if (predecessor->before != SITE_NIL || map_get(&sinks, predecessor->site))
			continue;
		count_runs(graphs, i, &passed, &failed);
		if (passed || !failed)
			continue;
		error = store_site(store, predecessor->site, &site);
		if (!error && site->kind == SITE_READ)
			add_edge(graphs, i, predecessor->site);
	}
	map_free(&sinks);
	return error || graphs->interned.nedges == edges ? error : graphs_number(store, graphs);
}
