/* Sets of interned observations. Runs of one program mostly see the same, so a
 * set is stored once and runs name it. Sets are found by the hash of their bytes
 * and then compared; the hash also shows damage when a set is read.
 */
#include <string.h>

#include "store/bitmap.h"
#include "store/private.h"

void sets_forget(struct sets *sets)
{
	map_free(&sets->by_hash);
	sets->last = 0;
}

struct error *sets_sync(struct store *store)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row, fresh;

	TRY(sql_statement(store, SQL_SET_AFTER, &sql));
	sqlite3_bind_int64(sql, 1, store->sets.last);
	for (;;) {
		TRY(sql_step(store, sql, &row));
		if (!row)
			return NULL;
		uint64_t key = sql_column_u64(sql, 1), *at;

		do
			at = map_put(&store->sets.by_hash, key++, &fresh);
		while (!fresh);
		store->sets.last = sqlite3_column_int64(sql, 0);
		*at = (uint64_t)store->sets.last;
	}
}

static struct error *get_row(struct store *store, int64_t id, sqlite3_stmt *sql)
{
	bool row;

	sqlite3_bind_int64(sql, 1, id);
	TRY(sql_step(store, sql, &row));
	if (!row || !sqlite3_column_blob(sql, 1))
		return sql_damaged(store->path, "a set of observations is missing");
	return NULL;
}

static struct error *is_same(struct store *store, int64_t id, const struct bytes *bits, bool *same)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	TRY(sql_statement(store, SQL_SET_GET, &sql));
	TRY(get_row(store, id, sql));
	*same = (size_t)sqlite3_column_bytes(sql, 1) == bits->n &&
		memcmp(sqlite3_column_blob(sql, 1), bits->data, bits->n) == 0;
	return NULL;
}

static struct error *add(struct store *store, uint64_t hash, uint64_t count, const struct bytes *bits,
			 int64_t *id)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	TRY(sql_statement(store, SQL_SET_ADD, &sql));
	sqlite3_bind_int64(sql, 1, (int64_t)hash);
	sqlite3_bind_int64(sql, 2, (int64_t)count);
	sql_bind_blob(sql, 3, bits);
	TRY(sql_execute(store, sql));
	*id = store->sets.last = sqlite3_last_insert_rowid(store->db);
	return NULL;
}

struct error *sets_put(struct store *store, const uint32_t *numbers, size_t n, int64_t *id)
{
	_cleanup_(bytes_free) struct bytes bits = { 0 };
	uint64_t count = bitmap_put(&bits, numbers, n);
	uint64_t hash = hash_bytes(HASH_START, bits.data, bits.n);

	for (uint64_t key = hash;; key++) {
		bool fresh, same;
		uint64_t *at = map_put(&store->sets.by_hash, key, &fresh);

		if (fresh) {
			TRY(add(store, hash, count, &bits, id));
			*at = (uint64_t)*id;
			return NULL;
		}
		*id = (int64_t)*at;
		TRY(is_same(store, *id, &bits, &same));
		if (same)
			return NULL;
	}
}

struct error *sets_get(struct store *store, int64_t id, roaring_bitmap_t **out)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	TRY(sql_statement(store, SQL_SET_GET, &sql));
	TRY(get_row(store, id, sql));
	const void *bits = sqlite3_column_blob(sql, 1);
	size_t size = (size_t)sqlite3_column_bytes(sql, 1);

	*out = NULL;
	if (hash_bytes(HASH_START, bits, size) == sql_column_u64(sql, 0))
		*out = bitmap_get(bits, size);
	return *out ? NULL : sql_damaged(store->path, "a set of observations cannot be read");
}
