/* Stores a run: site numbers of the run become the store's, its observations are
 * interned, its sets and its row are written; all in one transaction, so that
 * others see the run whole or not at all.
 */
#include <stdlib.h>
#include <string.h>

#include "store/private.h"

/* The run's own site numbers first .. end - 1 are the store's base .. */
struct span {
	uint32_t first, end, base;
};

struct spans {
	struct span *items; /* by first */
	size_t n;
	const struct span *recent;
};

static int by_first(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

static void spans_of(const struct units *units, const struct observations *observations, struct spans *out)
{
	out->items = memory_alloc(observations->nunits * sizeof *out->items);
	for (size_t i = 0; i < observations->nunits; i++) {
		const struct run_unit *unit = &observations->units[i];
		const struct store_unit *known = &units->list.items[*map_get(&units->by_hash, unit->hash)];

		if (unit->nsites)
			out->items[out->n++] =
				(struct span){ unit->first, unit->first + unit->nsites, known->base };
	}
	qsort(out->items, out->n, sizeof *out->items, by_first);
	out->recent = out->items;
}

static void spans_free(struct spans *spans)
{
	free(spans->items);
}

static int where(const void *site, const void *item)
{
	const uint32_t *number = site;
	const struct span *span = item;

	return *number < span->first ? -1 : *number >= span->end;
}

/* Turns the run's site number into the store's. */
static bool translate(struct spans *spans, uint32_t *site)
{
	if (!spans->n)
		return false;
	if (where(site, spans->recent) != 0) {
		const struct span *found = bsearch(site, spans->items, spans->n, sizeof *spans->items, where);

		if (!found)
			return false;
		spans->recent = found;
	}
	*site = *site - spans->recent->first + spans->recent->base;
	return true;
}

static bool translate_or_nil(struct spans *spans, uint32_t *site)
{
	return *site == SITE_NIL || translate(spans, site); /* LOOP_NONE is the same number */
}

static struct error *stray(uint32_t site)
{
	return error_new(
		"the run observed site %u, which is in none of its units; build the program and all of its "
		"libraries with one unsnarl",
		site);
}

static struct error *intern_pairs(struct store *store, struct spans *spans, struct pair *pairs, size_t n,
				  uint32_t *indexes)
{
	for (size_t i = 0; i < n; i++) {
		struct pair *pair = &pairs[i];
		uint32_t row[IDENTITY_WIDEST];

		if (!translate(spans, &pair->head_site))
			return stray(pair->head_site);
		if (!translate(spans, &pair->tail_site))
			return stray(pair->tail_site);
		if (!translate_or_nil(spans, &pair->head_loop.site))
			return stray(pair->head_loop.site);
		if (!translate_or_nil(spans, &pair->tail_loop.site))
			return stray(pair->tail_loop.site);
		identity_of_pair(pair, row);
		TRY(intern_put(&store->intern, IDENTITY_PAIR, row, &indexes[i]));
	}
	return NULL;
}

static struct error *put_pairs(struct store *store, struct spans *spans, const struct observations *seen,
			       int64_t *set, struct bytes *details)
{
	_cleanup_(bytes_free) struct bytes plain = { 0 };
	size_t size = seen->npairs * sizeof *seen->pairs;
	_cleanup_free_ struct pair *pairs = memory_alloc(size);
	_cleanup_free_ uint32_t *indexes = memory_alloc(seen->npairs * sizeof *indexes);

	if (size)
		memcpy(pairs, seen->pairs, size);
	TRY(intern_pairs(store, spans, pairs, seen->npairs, indexes));
	codec_put_details(&plain, pairs, indexes, seen->npairs);
	codec_put_couples(&plain, seen->couples, seen->ncouples);
	pack(store->packer, plain.data, plain.n, details);
	return sets_put(store, indexes, seen->npairs, set);
}

static struct error *put_predecessors(struct store *store, struct spans *spans,
				      const struct observations *seen, int64_t *set)
{
	_cleanup_free_ uint32_t *indexes = memory_alloc(seen->npredecessors * sizeof *indexes);

	for (size_t i = 0; i < seen->npredecessors; i++) {
		struct predecessor predecessor = seen->predecessors[i];
		uint32_t row[IDENTITY_WIDEST];

		if (!translate(spans, &predecessor.site))
			return stray(predecessor.site);
		if (!translate_or_nil(spans, &predecessor.before))
			return stray(predecessor.before);
		identity_of_predecessor(&predecessor, row);
		TRY(intern_put(&store->intern, IDENTITY_PREDECESSOR, row, &indexes[i]));
	}
	return sets_put(store, indexes, seen->npredecessors, set);
}

/* In order of first occurrence, which the set forgets. Processes of a run may share edges. */
static void pack_order(struct store *store, const uint32_t *indexes, size_t n, struct bytes *out)
{
	_cleanup_(bytes_free) struct bytes plain = { 0 };
	roaring_bitmap_t *seen = roaring_bitmap_create();
	uint32_t last = 0;

	for (size_t i = 0; i < n; i++) {
		if (!roaring_bitmap_add_checked(seen, indexes[i]))
			continue;
		varint_put_step(&plain, last, indexes[i]);
		last = indexes[i];
	}
	roaring_bitmap_free(seen);
	pack(store->packer, plain.data, plain.n, out);
}

static struct error *put_edges(struct store *store, struct spans *spans, const struct observations *seen,
			       int64_t *set, struct bytes *order)
{
	_cleanup_free_ uint32_t *indexes = memory_alloc(seen->nedges * sizeof *indexes);

	for (size_t i = 0; i < seen->nedges; i++) {
		struct edge edge = seen->edges[i];
		uint32_t row[IDENTITY_WIDEST];

		if (!translate_or_nil(spans, &edge.source))
			return stray(edge.source);
		if (!translate(spans, &edge.sink))
			return stray(edge.sink);
		identity_of_edge(&edge, row);
		TRY(intern_put(&store->intern, IDENTITY_EDGE, row, &indexes[i]));
	}
	pack_order(store, indexes, seen->nedges, order);
	return sets_put(store, indexes, seen->nedges, set);
}

/* What of a run's row is not in struct run itself. */
struct written {
	int64_t pairs, predecessors, edges; /* sets */
	struct bytes output, details;       /* packed */
	struct bytes schedule, reduced;     /* packed */
	struct bytes order, machine;        /* packed */
};

static void written_free(struct written *written)
{
	bytes_free(&written->output);
	bytes_free(&written->details);
	bytes_free(&written->schedule);
	bytes_free(&written->reduced);
	bytes_free(&written->order);
	bytes_free(&written->machine);
}

static void bind_settings(sqlite3_stmt *sql, const struct run *run)
{
	const struct run_settings *settings = &run->settings;
	const struct schedule *schedule = &run->schedule;

	if (settings->known) {
		sqlite3_bind_int64(sql, 20, settings->observe);
		sqlite3_bind_int64(sql, 21, settings->context);
		sqlite3_bind_int64(sql, 22, settings->line);
		sqlite3_bind_int64(sql, 23, (int64_t)settings->seed);
	}
	sqlite3_bind_int64(sql, 24, (int64_t)schedule->policy);
	sqlite3_bind_int64(sql, 25, schedule->depth);
	if (schedule->nturns)
		sqlite3_bind_int64(sql, 26, (int64_t)schedule_hash(schedule->turns, schedule->nturns));
}

static struct error *put_row(struct store *store, uint64_t campaign, const struct run *run,
			     const struct written *written)
{
	const struct observations *seen = &run->observations;
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	TRY(sql_statement(store, SQL_RUN_ADD, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)campaign);
	sqlite3_bind_int64(sql, 2, run->outcome);
	sqlite3_bind_int(sql, 3, run->code);
	sqlite3_bind_int64(sql, 4, run->label);
	sqlite3_bind_text(sql, 5, run->reason, -1, SQLITE_STATIC);
	sqlite3_bind_double(sql, 6, run->wall_s);
	sqlite3_bind_double(sql, 7, run->cpu_s);
	sqlite3_bind_int64(sql, 8, (int64_t)run->peak_kib);
	sqlite3_bind_int64(sql, 9, run->started);
	sqlite3_bind_int64(sql, 10, run->jitter_us);
	sqlite3_bind_int64(sql, 11, seen->nthreads);
	sqlite3_bind_int64(sql, 12, seen->nprocesses);
	sqlite3_bind_int64(sql, 13, (int64_t)seen->dropped);
	sqlite3_bind_int64(sql, 14, (int64_t)seen->accesses);
	sqlite3_bind_int64(sql, 15, written->pairs);
	sqlite3_bind_int64(sql, 16, written->predecessors);
	sqlite3_bind_int64(sql, 17, written->edges);
	if (run->output)
		sql_bind_blob(sql, 18, &written->output);
	sql_bind_blob(sql, 19, &written->details);
	bind_settings(sql, run);
	if (run->schedule.nturns)
		sql_bind_blob(sql, 27, &written->schedule);
	if (run->reduced.nturns)
		sql_bind_blob(sql, 28, &written->reduced);
	sql_bind_blob(sql, 29, &written->order);
	if (written->machine.n)
		sql_bind_blob(sql, 30, &written->machine);
	return sql_execute(store, sql);
}

/* How many counts, then the counts. */
static void pack_machine(struct store *store, const uint64_t *counts, struct bytes *out)
{
	_cleanup_(bytes_free) struct bytes plain = { 0 };

	varint_put(&plain, MACHINE_COUNTS);
	for (int i = 0; i < MACHINE_COUNTS; i++)
		varint_put(&plain, counts[i]);
	pack(store->packer, plain.data, plain.n, out);
}

static void pack_schedule(struct store *store, const struct schedule *schedule, struct bytes *out)
{
	_cleanup_(bytes_free) struct bytes plain = { 0 };

	codec_put_schedule(&plain, schedule);
	pack(store->packer, plain.data, plain.n, out);
}

struct error *store_reduce(struct store *store, uint64_t run, const struct schedule *reduced)
{
	_cleanup_(bytes_free) struct bytes packed = { 0 };
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	pack_schedule(store, reduced, &packed);
	TRY(sql_statement(store, SQL_RUN_REDUCE, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)run);
	sql_bind_blob(sql, 2, &packed);
	return sql_execute(store, sql);
}

static struct error *check_campaign(struct store *store, uint64_t campaign)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row;

	TRY(sql_statement(store, SQL_CAMPAIGN_KNOWN, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)campaign);
	TRY(sql_step(store, sql, &row));
	return row ? NULL
		   : error_new("the store %s has no campaign %llu", store->path,
			       (unsigned long long)campaign);
}

static struct error *add(struct store *store, uint64_t campaign, const struct run *run)
{
	const struct observations *seen = &run->observations;
	_cleanup_(written_free) struct written written = { 0 };
	_cleanup_(spans_free) struct spans spans = { 0 };

	TRY(check_campaign(store, campaign));
	TRY(units_sync(store));
	TRY(intern_sync(store, campaign));
	TRY(sets_sync(store));
	TRY(units_learn(store, seen));
	TRY(units_note(store, campaign, seen));
	spans_of(&store->units, seen, &spans);
	TRY(put_pairs(store, &spans, seen, &written.pairs, &written.details));
	TRY(put_predecessors(store, &spans, seen, &written.predecessors));
	TRY(put_edges(store, &spans, seen, &written.edges, &written.order));
	TRY(intern_save(store));
	if (run->settings.machine)
		pack_machine(store, seen->machine, &written.machine);
	if (run->output)
		pack(store->packer, run->output, strlen(run->output), &written.output);
	if (run->schedule.nturns)
		pack_schedule(store, &run->schedule, &written.schedule);
	if (run->reduced.nturns)
		pack_schedule(store, &run->reduced, &written.reduced);
	return put_row(store, campaign, run, &written);
}

struct error *store_add(struct store *store, uint64_t campaign, struct run *run)
{
	TRY(sql_simple(store, SQL_BEGIN));
	struct error *error = add(store, campaign, run);
	uint64_t number = (uint64_t)sqlite3_last_insert_rowid(store->db);

	if (!error)
		error = sql_simple(store, SQL_COMMIT);
	if (error) {
		/* What was learnt in memory may not be in the file: read it again. */
		error_free(sql_simple(store, SQL_ROLLBACK));
		units_forget(&store->units, false);
		intern_forget(&store->intern);
		sets_forget(&store->sets);
		loaded_forget(&store->loaded);
		return error;
	}
	store->units.committed = store->units.list.n;
	run->number = number;
	return NULL;
}
