/* Writes testing graphs and reads logs. A log comes from programs in the field: its
 * blocks and entries are checked one by one, and what does not hold is an error.
 */
#include "analysis/bugaboo/deploy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "model/monitor_format.h"

struct exported {
	VEC(struct monitor_unit) units;
	VEC(struct monitor_edge) edges;
	struct map unit_at; /* hash to place + 1 */
};

static void exported_free(struct exported *exported)
{
	VEC_FREE(&exported->units);
	VEC_FREE(&exported->edges);
	map_free(&exported->unit_at);
}

static struct error *place_site(struct store *store, struct exported *out, uint32_t number, uint32_t *unit,
				uint32_t *site)
{
	uint64_t hash;

	TRY(store_site_unit(store, number, &hash, site));
	uint64_t *at = map_put(&out->unit_at, hash, NULL);

	if (!*at) {
		*VEC_PUSH(&out->units) = (struct monitor_unit){ .hash = hash };
		*at = out->units.n;
	}
	*unit = (uint32_t)*at - 1;
	if (out->units.items[*unit].nsites <= *site)
		out->units.items[*unit].nsites = *site + 1;
	return NULL;
}

static struct error *add_edge(struct store *store, struct exported *out, const struct edge *edge)
{
	struct monitor_edge entry = { .source_unit = MONITOR_NULL,
				      .sink_context = edge->sink_context,
				      .write = edge->write };

	if (edge->source != SITE_NIL) {
		TRY(place_site(store, out, edge->source, &entry.source_unit, &entry.source_site));
		entry.source_context = edge->source_context;
	}
	TRY(place_site(store, out, edge->sink, &entry.sink_unit, &entry.sink_site));
	*VEC_PUSH(&out->edges) = entry;
	return NULL;
}

static struct error *collect(struct store *store, const struct graphs *graphs, struct exported *out)
{
	roaring_bitmap_t *usual =
		graph_union((const roaring_bitmap_t *const *)graphs->passed.items, graphs->passed.n);
	roaring_uint32_iterator_t at;
	struct error *error = NULL;

	for (roaring_init_iterator(usual, &at);
	     !error && at.has_value && at.current_value < graphs->graph.nedges;
	     roaring_advance_uint32_iterator(&at))
		error = add_edge(store, out, &graphs->graph.edges[at.current_value]);
	roaring_bitmap_free(usual);
	return error;
}

struct error *deploy_export(struct store *store, const struct graphs *graphs, const char *path,
			    const struct deploy_options *options, size_t *edges, size_t *units)
{
	_cleanup_(exported_free) struct exported exported = { 0 };
	struct monitor_graph head = { .magic = MONITOR_GRAPH_MAGIC,
				      .version = MONITOR_VERSION,
				      .context = graphs->graph.events,
				      .line = options->line,
				      .threshold = options->threshold,
				      .interval_s = options->interval_s };

	TRY(collect(store, graphs, &exported));
	if (exported.edges.n > MONITOR_EDGES || exported.units.n > MONITOR_UNITS)
		return error_new(
			"the graph has more than %u edges or %u source files, too many for a monitor",
			MONITOR_EDGES, MONITOR_UNITS);
	if (options->log && strlen(options->log) >= sizeof head.log)
		return error_new("the path of the log is longer than %u bytes", MONITOR_PATH - 1);
	strcpy(head.log, options->log ? options->log : "");
	head.nunits = (uint32_t)exported.units.n;
	head.nedges = (uint32_t)exported.edges.n;
	_cleanup_fclose_ FILE *out = fopen(path, "we");

	if (!out)
		return error_errno(errno, "cannot write the graph %s", path);
	fwrite(&head, sizeof head, 1, out);
	fwrite(exported.units.items, sizeof *exported.units.items, exported.units.n, out);
	fwrite(exported.edges.items, sizeof *exported.edges.items, exported.edges.n, out);
	if (fflush(out) || ferror(out))
		return error_errno(errno, "cannot write the graph %s", path);
	*edges = exported.edges.n;
	*units = exported.units.n;
	return NULL;
}

/* ---- logs ---- */

void deploy_log_free(struct deploy_log *log)
{
	VEC_FREE(&log->edges);
	VEC_FREE(&log->graph_of);
}

bool deploy_is_log(const char *path)
{
	_cleanup_fclose_ FILE *in = fopen(path, "re");
	uint64_t magic = 0;

	return in && fread(&magic, sizeof magic, 1, in) == 1 && magic == MONITOR_LOG_MAGIC;
}

/* The graph of an interval of the block at hand; graphs of a block stand together. */
static uint32_t graph_number(struct deploy_log *log, struct map *intervals, uint32_t interval)
{
	bool fresh;
	uint64_t *number = map_put(intervals, interval, &fresh);

	if (fresh)
		*number = log->graphs++;
	return (uint32_t)*number;
}

static struct error *read_entry(struct store *store, const struct monitor_entry *entry, struct map *intervals,
				const char *path, struct deploy_log *out)
{
	struct edge edge = { .source = SITE_NIL, .sink_context = entry->sink_context, .write = entry->write };
	struct error *error = store_unit_site(store, entry->sink_unit, entry->sink_site, &edge.sink);

	if (!error && entry->source_unit) {
		edge.source_context = entry->source_context;
		error = store_unit_site(store, entry->source_unit, entry->source_site, &edge.source);
	}
	if (entry->write > 1 || entry->depth > CONTEXT_MOST) {
		error_free(error);
		return error_new("the log %s is damaged: an entry is none", path);
	}
	if (error) {
		error_free(error);
		out->unknown++;
		return NULL;
	}
	*VEC_PUSH(&out->edges) = edge;
	*VEC_PUSH(&out->graph_of) = graph_number(out, intervals, entry->interval);
	return NULL;
}

static struct error *read_block(struct store *store, const struct monitor_block *block, const char *path,
				struct deploy_log *out)
{
	struct map intervals = { 0 };
	struct error *error = NULL;
	size_t n = block->nentries < MONITOR_ENTRIES ? block->nentries : MONITOR_ENTRIES;

	if (!block->magic)
		return NULL; /* its process died before the block was begun */
	if (block->magic != MONITOR_LOG_MAGIC || block->version != MONITOR_VERSION ||
	    block->context > CONTEXT_MOST || (out->processes && block->context != out->context))
		return error_new("%s is no monitor's log of this version, or one of programs with different "
				 "contexts",
				 path);
	out->context = block->context;
	out->processes++;
	out->dropped += block->dropped;
	for (size_t i = 0; i < n && !error; i++)
		if (block->entries[i].state == 1)
			error = read_entry(store, &block->entries[i], &intervals, path, out);
	map_free(&intervals);
	return error;
}

struct error *deploy_read_log(struct store *store, const char *path, struct deploy_log *out)
{
	_cleanup_fclose_ FILE *in = fopen(path, "re");
	_cleanup_free_ struct monitor_block *block = memory_alloc(MONITOR_BLOCK);
	size_t got;

	*out = (struct deploy_log){ 0 };
	if (!in)
		return error_errno(errno, "cannot read the log %s", path);
	while ((got = fread(block, 1, MONITOR_BLOCK, in)) > 0) {
		memset((char *)block + got, 0, MONITOR_BLOCK - got); /* the end may be missing */
		TRY(read_block(store, block, path, out));
	}
	if (ferror(in))
		return error_errno(errno, "cannot read the log %s", path);
	return NULL;
}
