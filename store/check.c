/* Looks at a file before it is used as a store: foreign, newer and damaged ones
 * are told apart and nothing on disk changes. Its header is read through SQLite
 * and as "immutable", which takes no locks and makes no files beside it; reading
 * it behind SQLite's back would, on close, drop the locks of this process.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/private.h"

#define HEAD 100     /* bytes of SQLite's file header */
#define PAGE_SIZE 16 /* where it stands: two bytes, 1 for 65536 */
#define USER_VERSION 60
#define APPLICATION_ID 68

/* Larger stores are not walked through at every opening; damage in them shows
 * when it is read. */
#define WALK_MOST (8 << 20)

char *check_uri(const char *path, const char *parameters)
{
	struct bytes uri = { 0 };

	if (path[0] == '/')
		bytes_put(&uri, "file://", 7); /* so that a path with two slashes names no host */
	else
		bytes_put(&uri, "file:", 5);
	for (const char *at = path; *at; at++) {
		char escaped[4];

		snprintf(escaped, sizeof escaped, "%%%02X", (unsigned char)*at);
		if (strchr("?#%", *at))
			bytes_put(&uri, escaped, 3);
		else
			bytes_put(&uri, at, 1);
	}
	bytes_put(&uri, parameters, strlen(parameters) + 1);
	return (char *)uri.data;
}

static unsigned field(const unsigned char *head, size_t at)
{
	return (unsigned)head[at] << 24 | (unsigned)head[at + 1] << 16 | (unsigned)head[at + 2] << 8 |
	       head[at + 3];
}

static struct error *foreign(const char *path, const char *what)
{
	return error_new(
		"%s is %s, not a store of unsnarl; it is left as it is: name another folder with --store",
		path, what);
}

static struct error *check_head(const char *path, const unsigned char *head, sqlite3_int64 size)
{
	static const char magic[16] = "SQLite format 3";

	if (size == 0)
		return sql_damaged(path, "the file is empty");
	if (memcmp(head, magic, size < 16 ? (size_t)size : 16) != 0)
		return foreign(path, "some other file");
	if (size < HEAD)
		return sql_damaged(path, "the file is cut off");
	if (field(head, APPLICATION_ID) != STORE_APPLICATION)
		return foreign(path, "the database of another program");
	unsigned version = field(head, USER_VERSION);

	if (version > STORE_VERSION)
		return error_new(
			"the store %s is of version %u, this unsnarl knows versions up to %u; use a newer "
			"unsnarl, or name another folder with --store",
			path, version, STORE_VERSION);
	if (version < 1)
		return sql_damaged(path, "it has no version");
	return NULL;
}

/* The open file and its size. */
static struct error *file_of(sqlite3 *db, const char *path, sqlite3_file **file, sqlite3_int64 *size)
{
	*file = NULL;
	sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, file);
	if (!*file || !(*file)->pMethods || (*file)->pMethods->xFileSize(*file, size) != SQLITE_OK)
		return sql_error(db, path, SQLITE_IOERR);
	return NULL;
}

/* SQLite itself notices whole pages that are missing. */
static bool ends_within_page(const unsigned char *head, sqlite3_int64 size)
{
	sqlite3_int64 page = head[PAGE_SIZE] << 8 | head[PAGE_SIZE + 1];

	return page > 1 && size % page;
}

static struct error *check_open(sqlite3 *db, const char *path, bool logged)
{
	unsigned char head[HEAD] = { 0 };
	sqlite3_file *file;
	sqlite3_int64 size;

	TRY(file_of(db, path, &file, &size));
	int code = file->pMethods->xRead(file, head, HEAD, 0); /* a short read leaves zeroes */

	if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ)
		return sql_error(db, path, code);
	TRY(check_head(path, head, size));
	/* A log may hold what the file lacks. */
	return !logged && ends_within_page(head, size) ? sql_damaged(path, "the file is cut off") : NULL;
}

struct error *check_file(const char *path, bool logged)
{
	_cleanup_free_ char *uri = check_uri(path, "?immutable=1");
	struct stat status;
	struct error *error;
	sqlite3 *db;

	if (!stat(path, &status) && !S_ISREG(status.st_mode))
		return foreign(path, "not a file");
	int code = sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
				   vfs_name());

	int reason = sqlite3_system_errno(db);

	if (code == SQLITE_OK)
		error = check_open(db, path, logged);
	else if (reason)
		error = error_errno(reason, "cannot read the store %s", path);
	else
		error = sql_error(db, path, code);
	sqlite3_close(db);
	return error;
}

struct error *check_tables(sqlite3 *db, const char *path)
{
	sqlite3_file *file;
	sqlite3_int64 size;

	TRY(file_of(db, path, &file, &size));
	/* The second one, too, notices a file that is cut off. */
	const char *text = size <= WALK_MOST ? "PRAGMA quick_check(1)" : "SELECT 'ok' FROM sqlite_schema";
	sqlite3_stmt *walk;
	int code = sqlite3_prepare_v2(db, text, -1, &walk, NULL);
	struct error *error = NULL;

	if (code == SQLITE_OK)
		code = sqlite3_step(walk);
	if (code == SQLITE_ROW) {
		const char *answer = (const char *)sqlite3_column_text(walk, 0);

		if (!answer || strcmp(answer, "ok") != 0)
			error = sql_damaged(path, answer ? answer : "no answer");
	} else {
		error = sql_error(db, path, code);
	}
	sqlite3_finalize(walk);
	return error;
}
