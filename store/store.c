/* Opens and closes a store. What a file is gets settled (check.c) before it is
 * opened for writing; SQLite's write-ahead log then lets others read while one
 * writes and lets every run be committed on its own at little cost.
 */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/private.h"

static struct error *connect_to(struct store *store, const char *parameters, int flags)
{
	_cleanup_free_ char *uri = check_uri(store->path, parameters);
	int code =
		sqlite3_open_v2(uri, &store->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, vfs_name());

	if (code != SQLITE_OK)
		return sql_error(store->db, store->path, code);
	sqlite3_extended_result_codes(store->db, 1);
	sqlite3_busy_timeout(store->db, STORE_WAIT_MS);
	/* Triggers and views are not ours: nothing a crafted file holds is to run. */
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	return NULL;
}

static void disconnect(struct store *store)
{
	for (int i = 0; i < SQL_STATEMENTS; i++) {
		sqlite3_finalize(store->statements[i]);
		store->statements[i] = NULL;
	}
	sqlite3_close(store->db);
	store->db = NULL;
}

/* Without fsync at each commit (synchronous = NORMAL with a log): a run outlives
 * the process at once, a power cut from the next checkpoint on. */
static int first_use(struct store *store)
{
	return sqlite3_exec(store->db, "PRAGMA synchronous = NORMAL; SELECT count(*) FROM sqlite_schema;",
			    NULL, NULL, NULL);
}

static void keep_log_on_close(struct store *store, bool keep)
{
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, (int)keep, NULL);
}

static bool log_is_empty(const struct store *store)
{
	_cleanup_free_ char *log = memory_format("%s-wal", store->path);
	struct stat status;

	return stat(log, &status) || status.st_size == 0;
}

/* Where SQLite cannot keep its log, in a read-only folder or on a full disk, a
 * store that was closed properly can still be read: it needs none for that. */
static struct error *connect_read_only(struct store *store)
{
	disconnect(store);
	if (!log_is_empty(store))
		return error_new(
			"the store %s was not closed and its folder cannot be written; make the folder "
			"writable so that the store can be mended",
			store->path);
	TRY(connect_to(store, "?immutable=1", SQLITE_OPEN_READONLY));
	int code = first_use(store);

	if (code != SQLITE_OK)
		return sql_error(store->db, store->path, code);
	TRY(check_tables(store->db, store->path));
	return schema_upgrade(store->db, store->path);
}

static bool is_about_writing(int code)
{
	code &= 0xff;
	return code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_FULL ||
	       code == SQLITE_IOERR;
}

static struct error *connect_checked(struct store *store, bool writable)
{
	bool logged = !log_is_empty(store);

	TRY(check_file(store->path, logged));
	TRY(connect_to(store, "", SQLITE_OPEN_READWRITE));
	/* Closing would write the log into the file; not before that is known to be whole. */
	keep_log_on_close(store, logged);
	int code = first_use(store);

	if (!writable && is_about_writing(code))
		return connect_read_only(store);
	if (writable && sqlite3_db_readonly(store->db, "main") == 1)
		return sql_error(store->db, store->path, SQLITE_READONLY);
	if (code != SQLITE_OK)
		return sql_error(store->db, store->path, code);
	TRY(check_tables(store->db, store->path));
	keep_log_on_close(store, false);
	return schema_upgrade(store->db, store->path);
}

static struct error *make(const char *folder, const char *path)
{
	bool made = mkdir(folder, 0700) == 0;

	if (!made && errno != EEXIST)
		return error_errno(errno, "cannot make the store's folder %s", folder);
	struct error *error = schema_create(path);

	if (error && made)
		rmdir(folder);
	return error;
}

struct error *store_open(const char *folder, bool create, struct store **out)
{
	_cleanup_(store_closep) struct store *store = memory_alloc(sizeof *store);

	store->path = memory_format("%s/store.db", folder);
	store->packer = packer_new();
	if (access(store->path, F_OK)) {
		if (errno != ENOENT)
			return error_errno(errno, "cannot use the store %s", store->path);
		if (!create)
			return error_new(
				"there is no store in %s; record runs first (unsnarl run), or name another "
				"folder with --store",
				folder);
		TRY(make(folder, store->path));
	}
	TRY(connect_checked(store, create));
	*out = store;
	store = NULL;
	return NULL;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	disconnect(store);
	units_forget(&store->units, true);
	symbols_free(store->symbols);
	intern_forget(&store->intern);
	sets_forget(&store->sets);
	loaded_forget(&store->loaded);
	packer_free(store->packer);
	free(store->path);
	free(store);
}

void store_closep(struct store **store)
{
	store_close(*store);
}
