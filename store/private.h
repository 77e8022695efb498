/* What the files of this room share: the open store, its prepared statements
 * and what it keeps in memory of the tables it has read. Nobody outside of
 * store/ includes this.
 *
 * The memory follows the file: every table here is only ever appended to, so
 * each of the *_sync functions reads the rows behind the last one it knows.
 * Inside a transaction, or while a row of the file is held, that is exact.
 */
#ifndef STORE_PRIVATE_H
#define STORE_PRIVATE_H

#include <sqlite3.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "model/symbols.h"
#include "store/codec.h"
#include "store/pack.h"
#include "store/store.h"

#define STORE_APPLICATION 0x756e736eu /* "unsn", SQLite's application_id */
#define STORE_VERSION 5u              /* user_version; changes with the schema */
#define STORE_WAIT_MS 5000            /* patience with another writer */

enum statement {
	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_CAMPAIGN_FIND,
	SQL_CAMPAIGN_ADD,
	SQL_CAMPAIGN_LIST,
	SQL_CAMPAIGN_KNOWN,
	SQL_UNIT_AFTER,
	SQL_UNIT_ADD,
	SQL_UNIT_SITES,
	SQL_BATCH_AFTER,
	SQL_BATCH_ADD,
	SQL_SET_AFTER,
	SQL_SET_ADD,
	SQL_SET_GET,
	SQL_RUN_ADD,
	SQL_RUN_GET,
	SQL_RUN_LIST,
	SQL_RUN_LAST_FAILED,
	SQL_RUN_REDUCE,
	SQL_LOADED_ADD,
	SQL_LOADED_LIST,
	SQL_CLAIM_SET,
	SQL_CLAIM_GET,
	SQL_CLAIM_LIST,
	SQL_CAUSE_DROP,
	SQL_CAUSE_ADD,
	SQL_CAUSE_GET,
	SQL_STATEMENTS
};

/* Units in order of base; a site's number in the store is its unit's base plus
 * its index there. */
struct store_unit {
	int64_t id;
	uint64_t hash;
	uint32_t base, count;
	bool parsed; /* `unit` is filled */
	struct unit unit;
};

struct units {
	VEC(struct store_unit) list;
	struct map by_hash; /* to the place in `list` */
	size_t committed;   /* units behind this many are of the open transaction */
};

/* The interned observations of one campaign, the one used last. */
struct table {
	uint32_t *rows;   /* n rows of identity_width words */
	size_t n, room;   /* in rows */
	size_t stored;    /* rows behind this many are not in the file yet */
	size_t mapped;    /* rows that are in `index` */
	struct map index; /* hash of a row to its number; a taken key passes on to the next */
};

struct intern {
	uint64_t campaign; /* 0: none */
	int64_t last;      /* batch read last */
	struct table tables[IDENTITY_KINDS];
};

/* Which units a campaign has loaded, the campaign used last. */
struct loaded {
	uint64_t campaign; /* 0: none */
	struct map units;  /* ids that are in the file */
};

/* Distinct sets of all campaigns by the hash of their bytes. */
struct sets {
	struct map by_hash; /* to the id; a taken key passes on to the next */
	int64_t last;
};

struct store {
	sqlite3 *db;
	char *path; /* of the SQLite file */
	sqlite3_stmt *statements[SQL_STATEMENTS];
	struct packer *packer;
	struct units units;
	struct symbols *symbols; /* NULL until a place must be looked up */
	struct intern intern;
	struct sets sets;
	struct loaded loaded;
};

/* schema.c */
struct error *schema_create(const char *path); /* a new, empty store; one that is there stays */
const char *schema_statement(enum statement statement);
struct error *schema_upgrade(sqlite3 *db, const char *path); /* an older store becomes one of this version */

/* check.c */
struct error *check_file(const char *path,
			 bool logged); /* our store, of our version? `logged`: it has a log */
struct error *check_tables(sqlite3 *db, const char *path); /* whole? */
char *check_uri(const char *path, const char *parameters); /* SQLite's name for a file; the caller frees it */

/* vfs.c */
const char *vfs_name(void); /* of the way to files; NULL = SQLite's own */

/* sql.c */
struct error *sql_error(sqlite3 *db, const char *path, int code);
struct error *sql_damaged(const char *path, const char *what);
struct error *sql_statement(struct store *store, enum statement statement, sqlite3_stmt **out);
void sql_done(sqlite3_stmt **statement); /* for _cleanup_ */
struct error *sql_step(struct store *store, sqlite3_stmt *statement, bool *row);
struct error *sql_execute(struct store *store, sqlite3_stmt *statement); /* gives no rows */
struct error *sql_simple(struct store *store, enum statement statement); /* without parameters */
void sql_bind_blob(sqlite3_stmt *statement, int at, const struct bytes *bytes);
bool sql_unpack(sqlite3_stmt *statement, int column, struct bytes *out);
static inline uint64_t sql_column_u64(sqlite3_stmt *statement, int column)
{
	return (uint64_t)sqlite3_column_int64(statement, column);
}

/* units.c */
struct error *units_sync(struct store *store);
struct error *units_learn(struct store *store, const struct observations *observations);
struct error *units_note(struct store *store, uint64_t campaign, const struct observations *observations);
void loaded_forget(struct loaded *loaded);
void units_forget(struct units *units, bool all); /* all, or those of the open transaction */

/* intern.c */
struct error *intern_sync(struct store *store, uint64_t campaign);
struct error *intern_put(struct intern *intern, enum identity_kind kind, const uint32_t *row,
			 uint32_t *index);
struct error *intern_save(struct store *store);
void intern_forget(struct intern *intern);

/* sets.c */
struct error *sets_sync(struct store *store);
struct error *sets_put(struct store *store, const uint32_t *numbers, size_t n, int64_t *id);
struct error *sets_get(struct store *store, int64_t id, roaring_bitmap_t **out);
void sets_forget(struct sets *sets);

#endif
