/* Campaigns: found or made by program, arguments and build; listed with the
 * number of their runs.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/private.h"

void campaign_free(struct campaign *campaign)
{
	for (char **argument = campaign->arguments; argument && *argument; argument++)
		free(*argument);
	free(campaign->arguments);
	free(campaign->program);
	*campaign = (struct campaign){ 0 };
}

/* Arguments as bytes: each with its NUL. */
static void put_arguments(struct bytes *out, char *const *arguments)
{
	for (; arguments && *arguments; arguments++)
		bytes_put(out, *arguments, strlen(*arguments) + 1);
}

/* NULL when the last one lacks its NUL. */
static char **get_arguments(const char *bytes, size_t size)
{
	char **arguments = memory_alloc(sizeof *arguments);
	size_t n = 0;

	if (size && bytes[size - 1]) {
		free(arguments);
		return NULL;
	}
	for (size_t at = 0; at < size; at += strlen(bytes + at) + 1) {
		arguments = memory_resize(arguments, (n + 2) * sizeof *arguments);
		arguments[n++] = memory_string(bytes + at);
		arguments[n] = NULL;
	}
	return arguments;
}

static struct error *find(struct store *store, const char *program, const struct bytes *arguments,
			  uint64_t build, uint64_t *number)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row;

	TRY(sql_statement(store, SQL_CAMPAIGN_FIND, &sql));
	sqlite3_bind_text(sql, 1, program, -1, SQLITE_STATIC);
	sql_bind_blob(sql, 2, arguments);
	sqlite3_bind_int64(sql, 3, (int64_t)build);
	TRY(sql_step(store, sql, &row));
	*number = row ? sql_column_u64(sql, 0) : 0;
	return NULL;
}

static struct error *add(struct store *store, const char *program, const struct bytes *arguments,
			 uint64_t build, uint64_t *number)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	struct timespec now;

	/* Someone else may have made it since it was looked for. */
	TRY(find(store, program, arguments, build, number));
	if (*number)
		return NULL;
	clock_gettime(CLOCK_REALTIME, &now);
	TRY(sql_statement(store, SQL_CAMPAIGN_ADD, &sql));
	sqlite3_bind_text(sql, 1, program, -1, SQLITE_STATIC);
	sql_bind_blob(sql, 2, arguments);
	sqlite3_bind_int64(sql, 3, (int64_t)build);
	sqlite3_bind_int64(sql, 4, (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	TRY(sql_execute(store, sql));
	*number = (uint64_t)sqlite3_last_insert_rowid(store->db);
	return NULL;
}

struct error *store_campaign(struct store *store, const char *program, char *const *arguments, uint64_t build,
			     uint64_t *number)
{
	_cleanup_(bytes_free) struct bytes bytes = { 0 };

	put_arguments(&bytes, arguments);
	TRY(find(store, program, &bytes, build, number));
	if (*number)
		return NULL;
	TRY(sql_simple(store, SQL_BEGIN));
	struct error *error = add(store, program, &bytes, build, number);

	if (!error)
		error = sql_simple(store, SQL_COMMIT);
	if (error)
		error_free(sql_simple(store, SQL_ROLLBACK));
	return error;
}

static struct error *read_campaign(struct store *store, sqlite3_stmt *sql, struct campaign *out)
{
	const char *program = (const char *)sqlite3_column_text(sql, 1);
	const void *arguments = sqlite3_column_blob(sql, 2);

	*out = (struct campaign){
		.number = sql_column_u64(sql, 0),
		.program = memory_string(program ? program : ""),
		.arguments = get_arguments(arguments, (size_t)sqlite3_column_bytes(sql, 2)),
		.build = sql_column_u64(sql, 3),
		.created = sqlite3_column_int64(sql, 4),
		.runs = sql_column_u64(sql, 5),
		.passed = sql_column_u64(sql, 6),
		.failed = sql_column_u64(sql, 7),
	};
	return out->arguments ? NULL : sql_damaged(store->path, "a campaign's arguments cannot be read");
}

struct campaigns {
	VEC(struct campaign) list;
};

static struct error *read_campaigns(struct store *store, struct campaigns *all)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;
	bool row;

	TRY(sql_statement(store, SQL_CAMPAIGN_LIST, &sql));
	for (;;) {
		TRY(sql_step(store, sql, &row));
		if (!row)
			return NULL;
		TRY(read_campaign(store, sql, VEC_PUSH(&all->list)));
	}
}

struct error *store_campaigns(struct store *store, struct campaign **out, size_t *n)
{
	struct campaigns all = { 0 };
	struct error *error = read_campaigns(store, &all);

	if (error) {
		while (all.list.n)
			campaign_free(&all.list.items[--all.list.n]);
		VEC_FREE(&all.list);
		return error;
	}
	*out = all.list.items;
	*n = all.list.n;
	return NULL;
}
