/* Interned observations of a campaign: each distinct pair, predecessor and edge
 * gets the next number, which is its bit in the runs' sets. The file holds them
 * in batches, one for each kind and run that brought new ones; in memory they
 * are a table with an index that is only made when something is interned.
 */
#include <stdlib.h>
#include <string.h>

#include "store/private.h"

static void table_free(struct table *table)
{
	free(table->rows);
	map_free(&table->index);
	*table = (struct table){ 0 };
}

void intern_forget(struct intern *intern)
{
	for (int kind = 0; kind < IDENTITY_KINDS; kind++)
		table_free(&intern->tables[kind]);
	*intern = (struct intern){ 0 };
}

/* Makes room for n more rows and gives the place of the first. */
static uint32_t *table_reserve(struct table *table, size_t width, size_t n)
{
	if (table->room - table->n < n) {
		table->room = table->room * 2 > table->n + n ? table->room * 2 : table->n + n;
		table->rows = memory_resize(table->rows, table->room * width * sizeof *table->rows);
	}
	return table->rows + table->n * width;
}

static struct error *read_batch(struct store *store, sqlite3_stmt *sql)
{
	struct intern *intern = &store->intern;
	_cleanup_(bytes_free) struct bytes items = { 0 };
	uint64_t kind = sql_column_u64(sql, 1), n = sql_column_u64(sql, 2);

	if (kind >= IDENTITY_KINDS || !n || !sql_unpack(sql, 3, &items) ||
	    n > codec_most_rows(items.n, (enum identity_kind)kind))
		return sql_damaged(store->path, "a batch of observations cannot be read");
	struct table *table = &intern->tables[kind];
	uint32_t *rows = table_reserve(table, identity_width((enum identity_kind)kind), n);

	if (!codec_get_rows(items.data, items.n, (enum identity_kind)kind, rows, n) ||
	    table->n + n > UINT32_MAX)
		return sql_damaged(store->path, "a batch of observations cannot be read");
	table->n += n;
	table->stored = table->n;
	intern->last = sqlite3_column_int64(sql, 0);
	return NULL;
}

static struct error *read_batches(struct store *store)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row;

	TRY(sql_statement(store, SQL_BATCH_AFTER, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)store->intern.campaign);
	sqlite3_bind_int64(sql, 2, store->intern.last);
	for (;;) {
		TRY(sql_step(store, sql, &row));
		if (!row)
			return NULL;
		TRY(read_batch(store, sql));
	}
}

struct error *intern_sync(struct store *store, uint64_t campaign)
{
	if (store->intern.campaign != campaign) {
		intern_forget(&store->intern);
		store->intern.campaign = campaign;
	}
	struct error *error = read_batches(store);

	if (error)
		intern_forget(&store->intern);
	return error;
}

/* The index's value for a row, made when it is new. Two rows with one hash are
 * told apart by walking on to another key. */
static uint64_t *find(struct table *table, size_t width, const uint32_t *row, bool *fresh)
{
	uint64_t key = hash_bytes(HASH_START, row, width * sizeof *row);

	for (;; key++) {
		uint64_t *at = map_put(&table->index, key, fresh);

		if (*fresh || memcmp(table->rows + *at * width, row, width * sizeof *row) == 0)
			return at;
	}
}

struct error *intern_put(struct intern *intern, enum identity_kind kind, const uint32_t *row, uint32_t *index)
{
	struct table *table = &intern->tables[kind];
	size_t width = identity_width(kind);
	bool fresh;

	for (; table->mapped < table->n; table->mapped++)
		*find(table, width, table->rows + table->mapped * width, &fresh) = table->mapped;
	uint64_t *at = find(table, width, row, &fresh);

	if (fresh) {
		if (table->n >= UINT32_MAX)
			return error_new(
				"a campaign cannot hold more than %u distinct observations of a kind",
				UINT32_MAX);
		*at = table->n;
		memcpy(table_reserve(table, width, 1), row, width * sizeof *row);
		table->mapped = ++table->n;
	}
	*index = (uint32_t)*at;
	return NULL;
}

static struct error *save(struct store *store, enum identity_kind kind)
{
	struct table *table = &store->intern.tables[kind];
	_cleanup_(bytes_free) struct bytes items = { 0 };
	_cleanup_(bytes_free) struct bytes packed = { 0 };
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	size_t n = table->n - table->stored;

	if (!n)
		return NULL;
	codec_put_rows(&items, kind, table->rows + table->stored * identity_width(kind), n);
	pack(store->packer, items.data, items.n, &packed);
	TRY(sql_statement(store, SQL_BATCH_ADD, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)store->intern.campaign);
	sqlite3_bind_int64(sql, 2, kind);
	sqlite3_bind_int64(sql, 3, (int64_t)n);
	sql_bind_blob(sql, 4, &packed);
	TRY(sql_execute(store, sql));
	table->stored = table->n;
	store->intern.last = sqlite3_last_insert_rowid(store->db);
	return NULL;
}

struct error *intern_save(struct store *store)
{
	for (int kind = 0; kind < IDENTITY_KINDS; kind++)
		TRY(save(store, (enum identity_kind)kind));
	return NULL;
}

struct error *store_interned(struct store *store, uint64_t campaign, struct interned *out)
{
	const struct table *tables = store->intern.tables;

	TRY(intern_sync(store, campaign));
	*out = (struct interned){
		.npairs = tables[IDENTITY_PAIR].n,
		.npredecessors = tables[IDENTITY_PREDECESSOR].n,
		.nedges = tables[IDENTITY_EDGE].n,
	};
	out->pairs = memory_alloc(out->npairs * sizeof *out->pairs);
	out->predecessors = memory_alloc(out->npredecessors * sizeof *out->predecessors);
	out->edges = memory_alloc(out->nedges * sizeof *out->edges);
	for (size_t i = 0; i < out->npairs; i++) {
		const uint32_t *row = tables[IDENTITY_PAIR].rows + i * identity_width(IDENTITY_PAIR);

		out->pairs[i] =
			(struct pair_identity){ (enum pair_kind)row[0], row[1], row[2], row[3], row[4] };
	}
	for (size_t i = 0; i < out->npredecessors; i++)
		out->predecessors[i] = identity_predecessor(tables[IDENTITY_PREDECESSOR].rows +
							    i * identity_width(IDENTITY_PREDECESSOR));
	for (size_t i = 0; i < out->nedges; i++)
		out->edges[i] = identity_edge(tables[IDENTITY_EDGE].rows + i * identity_width(IDENTITY_EDGE));
	return NULL;
}

void interned_free(struct interned *interned)
{
	free(interned->pairs);
	free(interned->predecessors);
	free(interned->edges);
	*interned = (struct interned){ 0 };
}
