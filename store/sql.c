/* The store's way of talking to SQLite: statements are prepared once and kept,
 * and SQLite's codes become sentences that say what a person can do about it.
 */
#include <errno.h>
#include <string.h>

#include "store/private.h"

struct error *sql_damaged(const char *path, const char *what)
{
	return error_new(
		"the store %s is damaged (%s) and is left as it is; move it away and record the runs "
		"again, or put back a copy",
		path, what);
}

struct error *sql_error(sqlite3 *db, const char *path, int code)
{
	int reason = db ? sqlite3_system_errno(db) : 0;

	switch (code & 0xff) {
	case SQLITE_FULL:
		return error_new("no space left on the disk for the store %s; make room and try again", path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return error_new(
			"the store %s is in use by another unsnarl; try again when that has ended, or name "
			"another folder with --store",
			path);
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return error_new(
			"the store %s is read-only; make it and its folder writable, or name another "
			"folder with --store",
			path);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* the statements are right, so the tables are not */
		return sql_damaged(path, db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		if (reason == ENOSPC || reason == EDQUOT)
			return sql_error(NULL, path, SQLITE_FULL);
		if (reason == EROFS || reason == EACCES || reason == EPERM)
			return sql_error(NULL, path, SQLITE_READONLY);
		return error_new("cannot read or write the store %s: %s", path,
				 reason ? strerror(reason) : sqlite3_errstr(code));
	case SQLITE_NOMEM:
		return error_new("out of memory while using the store %s", path);
	default:
		return error_new("the store %s: %s", path, db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
	}
}

struct error *sql_statement(struct store *store, enum statement statement, sqlite3_stmt **out)
{
	sqlite3_stmt **kept = &store->statements[statement];

	if (!*kept) {
		const char *text = schema_statement(statement);
		int code = sqlite3_prepare_v3(store->db, text, -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);

		if (code != SQLITE_OK)
			return sql_error(store->db, store->path, code);
	}
	*out = *kept;
	return NULL;
}

void sql_done(sqlite3_stmt **statement)
{
	if (!*statement)
		return;
	sqlite3_reset(*statement);
	sqlite3_clear_bindings(*statement);
}

struct error *sql_step(struct store *store, sqlite3_stmt *statement, bool *row)
{
	int code = sqlite3_step(statement);

	*row = code == SQLITE_ROW;
	return code == SQLITE_ROW || code == SQLITE_DONE ? NULL : sql_error(store->db, store->path, code);
}

struct error *sql_execute(struct store *store, sqlite3_stmt *statement)
{
	bool row;

	return sql_step(store, statement, &row);
}

struct error *sql_simple(struct store *store, enum statement statement)
{
	_cleanup_(sql_done) sqlite3_stmt *sql = NULL;

	TRY(sql_statement(store, statement, &sql));
	return sql_execute(store, sql);
}

void sql_bind_blob(sqlite3_stmt *statement, int at, const struct bytes *bytes)
{
	/* Not a null pointer, which would bind NULL. One too big stays NULL and
	 * then fails the column's NOT NULL. */
	sqlite3_bind_blob64(statement, at, bytes->data ? bytes->data : (const void *)"", bytes->n,
			    SQLITE_STATIC);
}

bool sql_unpack(sqlite3_stmt *statement, int column, struct bytes *out)
{
	const void *blob = sqlite3_column_blob(statement, column);

	return blob && unpack(blob, (size_t)sqlite3_column_bytes(statement, column), out);
}
