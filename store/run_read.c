/* Reads runs back: whole, as summaries, or as sets over the campaign's interned
 * observations. What a row holds is checked before it is believed.
 */
#include <stdlib.h>
#include <string.h>

#include "store/private.h"

enum column {
	NUMBER,
	CAMPAIGN,
	OUTCOME,
	CODE,
	LABEL,
	REASON,
	WALL,
	CPU,
	PEAK,
	STARTED,
	JITTER,
	THREADS,
	PROCESSES,
	DROPPED,
	ACCESSES,
	PAIRS,
	PREDECESSORS,
	EDGES,
	OUTPUT,
	OBSERVE,
	CONTEXT,
	LINE,
	SEED,
	POLICY,
	DEPTH,
	SCHEDULE_HASH,
	MACHINE,
	DETAILS, /* from here on only in a run that is read whole */
	SCHEDULE,
	REDUCED,
	EDGE_ORDER,
};

static void read_settings(sqlite3_stmt *sql, struct run *out)
{
	int policy = sqlite3_column_int(sql, POLICY);

	out->settings.known = sqlite3_column_type(sql, OBSERVE) != SQLITE_NULL;
	out->settings.observe = (uint32_t)sqlite3_column_int64(sql, OBSERVE);
	out->settings.context = (uint32_t)sqlite3_column_int64(sql, CONTEXT);
	out->settings.line = sqlite3_column_int(sql, LINE) != 0;
	out->settings.seed = sql_column_u64(sql, SEED);
	out->schedule.policy =
		policy > 0 && policy < SCHEDULE_POLICIES ? (enum schedule_policy)policy : SCHEDULE_FREE;
	out->schedule.depth = (uint32_t)sqlite3_column_int64(sql, DEPTH);
}

/* A schedule of the run; what its row says of it stays. */
static struct error *read_schedule(struct store *store, sqlite3_stmt *sql, int column, const struct run *run,
				   struct schedule *out)
{
	_cleanup_(bytes_free) struct bytes bytes = { 0 };
	struct schedule schedule, row = run->schedule;

	if (sqlite3_column_type(sql, column) == SQLITE_NULL)
		return NULL;
	if (!sql_unpack(sql, column, &bytes) || !codec_get_schedule(bytes.data, bytes.n, &schedule))
		return sql_damaged(store->path, "a run's schedule cannot be read");
	schedule.policy = row.policy;
	schedule.depth = row.depth;
	schedule.seed = run->settings.seed;
	schedule.outcome = run->outcome;
	schedule.code = run->code;
	*out = schedule;
	return NULL;
}

/* A newer unsnarl may count more things, an older one fewer. */
static struct error *read_machine(struct store *store, sqlite3_stmt *sql, struct run *out)
{
	_cleanup_(bytes_free) struct bytes bytes = { 0 };

	if (sqlite3_column_type(sql, MACHINE) == SQLITE_NULL)
		return NULL;
	if (!sql_unpack(sql, MACHINE, &bytes))
		return sql_damaged(store->path, "a run's counts cannot be read");
	struct reader reader = reader_of(bytes.data, bytes.n);
	uint64_t n = varint_get(&reader);

	for (uint64_t i = 0; i < n && i < MACHINE_COUNTS; i++)
		out->observations.machine[i] = varint_get(&reader);
	if (reader.bad)
		return sql_damaged(store->path, "a run's counts cannot be read");
	out->settings.machine = true;
	return NULL;
}

/* The row's own fields, without observations. */
static struct error *read_row(struct store *store, sqlite3_stmt *sql, struct run *out)
{
	const char *reason = (const char *)sqlite3_column_text(sql, REASON);

	*out = (struct run){
		.number = sql_column_u64(sql, NUMBER),
		.outcome = (enum outcome)sqlite3_column_int(sql, OUTCOME),
		.code = sqlite3_column_int(sql, CODE),
		.label = (enum label)sqlite3_column_int(sql, LABEL),
		.reason = reason ? memory_string(reason) : NULL,
		.wall_s = sqlite3_column_double(sql, WALL),
		.cpu_s = sqlite3_column_double(sql, CPU),
		.peak_kib = sql_column_u64(sql, PEAK),
		.started = sqlite3_column_int64(sql, STARTED),
		.jitter_us = (uint32_t)sqlite3_column_int64(sql, JITTER),
		.observations = {
			.nthreads = (uint32_t)sqlite3_column_int64(sql, THREADS),
			.nprocesses = (uint32_t)sqlite3_column_int64(sql, PROCESSES),
			.dropped = sql_column_u64(sql, DROPPED),
			.accesses = sql_column_u64(sql, ACCESSES),
		},
	};
	read_settings(sql, out);
	if (sqlite3_column_type(sql, OUTPUT) != SQLITE_NULL) {
		_cleanup_(bytes_free) struct bytes output = { 0 };

		if (!sql_unpack(sql, OUTPUT, &output))
			return sql_damaged(store->path, "a run's output cannot be read");
		bytes_put(&output, "", 1);
		out->output = memory_string((char *)output.data);
	}
	if (out->outcome < OUTCOME_EXIT || out->outcome >= OUTCOME_BEYOND || out->label < LABEL_PASS ||
	    out->label > LABEL_FAIL)
		return sql_damaged(store->path, "a run's outcome cannot be read");
	return read_machine(store, sql, out);
}

static void bitmap_freep(roaring_bitmap_t **bitmap)
{
	if (*bitmap)
		roaring_bitmap_free(*bitmap);
}

/* The rows of an interned table that a run's set names, as numbers the caller frees. */
static struct error *members(struct store *store, int64_t set, enum identity_kind kind, uint32_t **out,
			     size_t *n)
{
	_cleanup_(bitmap_freep) roaring_bitmap_t *bitmap = NULL;

	TRY(sets_get(store, set, &bitmap));
	if (!roaring_bitmap_is_empty(bitmap) &&
	    roaring_bitmap_maximum(bitmap) >= store->intern.tables[kind].n)
		return sql_damaged(store->path, "a run names observations that are not there");
	*n = (size_t)roaring_bitmap_get_cardinality(bitmap);
	*out = memory_alloc(*n * sizeof **out);
	roaring_bitmap_to_uint32_array(bitmap, *out);
	return NULL;
}

static struct error *read_predecessors(struct store *store, int64_t set, struct observations *out)
{
	const struct table *table = &store->intern.tables[IDENTITY_PREDECESSOR];
	_cleanup_free_ uint32_t *indexes = NULL;
	size_t n;

	TRY(members(store, set, IDENTITY_PREDECESSOR, &indexes, &n));
	out->predecessors = memory_alloc(n * sizeof *out->predecessors);
	for (size_t i = 0; i < n; i++)
		out->predecessors[i] =
			identity_predecessor(table->rows + indexes[i] * identity_width(IDENTITY_PREDECESSOR));
	out->npredecessors = n;
	return NULL;
}

static struct error *read_edges(struct store *store, int64_t set, struct observations *out)
{
	const struct table *table = &store->intern.tables[IDENTITY_EDGE];
	_cleanup_free_ uint32_t *indexes = NULL;
	size_t n;

	TRY(members(store, set, IDENTITY_EDGE, &indexes, &n));
	out->edges = memory_alloc(n * sizeof *out->edges);
	for (size_t i = 0; i < n; i++)
		out->edges[i] = identity_edge(table->rows + indexes[i] * identity_width(IDENTITY_EDGE));
	out->nedges = n;
	return NULL;
}

static struct error *read_observations(struct store *store, sqlite3_stmt *sql, struct observations *out)
{
	const struct table *pairs = &store->intern.tables[IDENTITY_PAIR];
	_cleanup_(bytes_free) struct bytes details = { 0 };

	TRY(intern_sync(store, sql_column_u64(sql, CAMPAIGN)));
	struct details read;

	if (!sql_unpack(sql, DETAILS, &details) ||
	    !codec_get_run(details.data, details.n, pairs->rows, pairs->n, &read))
		return sql_damaged(store->path, "a run's pairs cannot be read");
	out->pairs = read.pairs;
	out->npairs = read.npairs;
	out->couples = read.couples;
	out->ncouples = read.ncouples;
	free(read.indexes);
	TRY(read_predecessors(store, sqlite3_column_int64(sql, PREDECESSORS), out));
	return read_edges(store, sqlite3_column_int64(sql, EDGES), out);
}

/* The statement at the row of a run; while it is there the file's other tables
 * are seen as of the same moment. */
static struct error *find_run(struct store *store, uint64_t number, sqlite3_stmt **sql)
{
	bool row;

	TRY(sql_statement(store, SQL_RUN_GET, sql));
	sqlite3_bind_int64(*sql, 1, (int64_t)number);
	TRY(sql_step(store, *sql, &row));
	return row ? NULL
		   : error_new("the store %s has no run %llu", store->path, (unsigned long long)number);
}

struct error *store_run(struct store *store, uint64_t number, struct run *out, uint64_t *campaign)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	TRY(find_run(store, number, &sql));
	if (campaign)
		*campaign = sql_column_u64(sql, CAMPAIGN);
	struct error *error = read_row(store, sql, out);

	if (!error)
		error = read_observations(store, sql, &out->observations);
	if (!error)
		error = read_schedule(store, sql, REDUCED, out, &out->reduced);
	if (!error)
		error = read_schedule(store, sql, SCHEDULE, out, &out->schedule);
	if (error)
		run_free(out);
	return error;
}

struct error *store_run_pairs(struct store *store, uint64_t number, struct run_pairs *out)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	_cleanup_(bytes_free) struct bytes bytes = { 0 };
	const struct table *pairs = &store->intern.tables[IDENTITY_PAIR];
	struct details read;

	*out = (struct run_pairs){ 0 };
	TRY(find_run(store, number, &sql));
	TRY(intern_sync(store, sql_column_u64(sql, CAMPAIGN)));
	if (!sql_unpack(sql, DETAILS, &bytes) ||
	    !codec_get_run(bytes.data, bytes.n, pairs->rows, pairs->n, &read))
		return sql_damaged(store->path, "a run's pairs cannot be read");
	*out = (struct run_pairs){ read.pairs, read.indexes, read.npairs, read.couples, read.ncouples };
	return NULL;
}

struct error *store_pair_order(struct store *store, uint64_t run, uint32_t **out, size_t *n)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	_cleanup_(bytes_free) struct bytes bytes = { 0 };

	*out = NULL;
	*n = 0;
	TRY(find_run(store, run, &sql));
	TRY(intern_sync(store, sql_column_u64(sql, CAMPAIGN)));
	if (!sql_unpack(sql, DETAILS, &bytes) ||
	    !codec_get_order(bytes.data, bytes.n, store->intern.tables[IDENTITY_PAIR].n, out, n))
		return sql_damaged(store->path, "a run's pairs cannot be read");
	return NULL;
}

struct error *store_edge_order(struct store *store, uint64_t run, uint32_t **out, size_t *n)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	_cleanup_(bytes_free) struct bytes bytes = { 0 };
	_cleanup_(bitmap_freep) roaring_bitmap_t *set = NULL;
	uint64_t last = 0;

	*out = NULL;
	*n = 0;
	TRY(find_run(store, run, &sql));
	if (sqlite3_column_type(sql, EDGE_ORDER) == SQLITE_NULL)
		return NULL;
	TRY(sets_get(store, sqlite3_column_int64(sql, EDGES), &set));
	if (!sql_unpack(sql, EDGE_ORDER, &bytes))
		return sql_damaged(store->path, "the order of a run's edges cannot be read");
	struct reader reader = reader_of(bytes.data, bytes.n);
	size_t most = (size_t)roaring_bitmap_get_cardinality(set);
	_cleanup_free_ uint32_t *order = memory_alloc(most * sizeof *order + 1);

	for (size_t i = 0; i < most; i++) {
		last = varint_get_step(&reader, last);
		if (reader.bad || last > UINT32_MAX || !roaring_bitmap_contains(set, (uint32_t)last))
			return sql_damaged(store->path, "the order of a run's edges cannot be read");
		order[i] = (uint32_t)last;
	}
	*n = most;
	*out = order;
	order = NULL;
	return NULL;
}

void run_pairs_free(struct run_pairs *pairs)
{
	free(pairs->pairs);
	free(pairs->indexes);
	free(pairs->couples);
	*pairs = (struct run_pairs){ 0 };
}

struct error *store_pair_set(struct store *store, uint64_t run, roaring_bitmap_t **out)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	TRY(find_run(store, run, &sql));
	return sets_get(store, sqlite3_column_int64(sql, PAIRS), out);
}

struct error *store_predecessor_set(struct store *store, uint64_t run, roaring_bitmap_t **out)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	TRY(find_run(store, run, &sql));
	return sets_get(store, sqlite3_column_int64(sql, PREDECESSORS), out);
}

struct summaries {
	VEC(struct run) list;
};

static struct error *read_summaries(struct store *store, uint64_t campaign, struct summaries *all)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row;

	TRY(sql_statement(store, SQL_RUN_LIST, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)campaign);
	for (;;) {
		TRY(sql_step(store, sql, &row));
		if (!row)
			return NULL;
		struct run *run = VEC_PUSH(&all->list);

		TRY(read_row(store, sql, run));
		run->observations.npairs = sql_column_u64(sql, PAIRS);
		run->observations.npredecessors = sql_column_u64(sql, PREDECESSORS);
		run->observations.nedges = sql_column_u64(sql, EDGES);
	}
}

struct error *store_runs(struct store *store, uint64_t campaign, struct run **out, size_t *n)
{
	struct summaries all = { 0 };
	struct error *error = read_summaries(store, campaign, &all);

	if (error) {
		while (all.list.n)
			run_free(&all.list.items[--all.list.n]);
		VEC_FREE(&all.list);
		return error;
	}
	*out = all.list.items;
	*n = all.list.n;
	return NULL;
}

struct error *store_last_failed(struct store *store, uint64_t campaign, uint64_t *number)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row;

	TRY(sql_statement(store, SQL_RUN_LAST_FAILED, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)campaign);
	TRY(sql_step(store, sql, &row));
	*number = row ? sql_column_u64(sql, 0) : 0;
	return NULL;
}

void membership_free(struct membership *membership)
{
	bitmap_freep(&membership->pairs);
	bitmap_freep(&membership->predecessors);
	bitmap_freep(&membership->edges);
	*membership = (struct membership){ 0 };
}

struct error *store_membership(struct store *store, uint64_t run, struct membership *out)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	*out = (struct membership){ 0 };
	TRY(find_run(store, run, &sql));
	struct error *error = sets_get(store, sqlite3_column_int64(sql, PAIRS), &out->pairs);

	if (!error)
		error = sets_get(store, sqlite3_column_int64(sql, PREDECESSORS), &out->predecessors);
	if (!error)
		error = sets_get(store, sqlite3_column_int64(sql, EDGES), &out->edges);
	if (error)
		membership_free(out);
	return error;
}
