/* The SQL of the store: its tables and every statement that touches them
 * (described in doc/formats.md, "Store"). A new store is made complete in
 * memory and appears under its name at once, so that no half-made one is ever
 * seen, whoever is killed when.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/private.h"

/* clang-format off */
static const char schema[] =
	"CREATE TABLE campaign("
	" number INTEGER PRIMARY KEY,"
	" program TEXT NOT NULL,"
	" arguments BLOB NOT NULL,"
	" build INTEGER NOT NULL,"
	" created INTEGER NOT NULL,"
	" UNIQUE(program, arguments, build)) STRICT;"

	"CREATE TABLE unit("
	" id INTEGER PRIMARY KEY,"
	" hash INTEGER NOT NULL UNIQUE,"
	" base INTEGER NOT NULL,"
	" count INTEGER NOT NULL,"
	" sites BLOB NOT NULL) STRICT;"

	"CREATE TABLE batch("
	" id INTEGER PRIMARY KEY,"
	" campaign INTEGER NOT NULL REFERENCES campaign,"
	" kind INTEGER NOT NULL,"
	" count INTEGER NOT NULL,"
	" items BLOB NOT NULL) STRICT;"

	"CREATE TABLE membership("
	" id INTEGER PRIMARY KEY,"
	" hash INTEGER NOT NULL,"
	" count INTEGER NOT NULL,"
	" bits BLOB NOT NULL) STRICT;"

	"CREATE TABLE run("
	" number INTEGER PRIMARY KEY,"
	" campaign INTEGER NOT NULL REFERENCES campaign,"
	" outcome INTEGER NOT NULL,"
	" code INTEGER NOT NULL,"
	" label INTEGER NOT NULL,"
	" reason TEXT,"
	" wall_s REAL NOT NULL,"
	" cpu_s REAL NOT NULL,"
	" peak_kib INTEGER NOT NULL,"
	" started INTEGER NOT NULL,"
	" jitter_us INTEGER NOT NULL,"
	" threads INTEGER NOT NULL,"
	" processes INTEGER NOT NULL,"
	" dropped INTEGER NOT NULL,"
	" accesses INTEGER NOT NULL,"
	" pairs INTEGER NOT NULL REFERENCES membership,"
	" predecessors INTEGER NOT NULL REFERENCES membership,"
	" edges INTEGER NOT NULL REFERENCES membership,"
	" output BLOB,"
	" details BLOB NOT NULL) STRICT;"
	"CREATE INDEX run_of_campaign ON run(campaign, label);";

/* From version i + 1 to i + 2. A new store is made by the same steps. */
static const char *const upgrades[] = {
	"ALTER TABLE run ADD COLUMN observe INTEGER;" /* NULL: not known */
	"ALTER TABLE run ADD COLUMN context INTEGER;"
	"ALTER TABLE run ADD COLUMN line INTEGER;"
	"ALTER TABLE run ADD COLUMN seed INTEGER;"
	"ALTER TABLE run ADD COLUMN policy INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE run ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE run ADD COLUMN schedule_hash INTEGER;"
	"ALTER TABLE run ADD COLUMN schedule BLOB;"
	"ALTER TABLE run ADD COLUMN reduced BLOB;"
	"CREATE TABLE loaded("
	" campaign INTEGER NOT NULL REFERENCES campaign,"
	" unit INTEGER NOT NULL REFERENCES unit,"
	" PRIMARY KEY(campaign, unit)) STRICT, WITHOUT ROWID;",

	"ALTER TABLE run ADD COLUMN edge_order BLOB;" /* NULL: not known */
	"ALTER TABLE run ADD COLUMN machine BLOB;",   /* NULL: not on a simulated machine */

	"CREATE TABLE claim("
	" run INTEGER PRIMARY KEY REFERENCES run,"
	" claims BLOB NOT NULL) STRICT;",

	"CREATE TABLE cause("
	" campaign INTEGER NOT NULL REFERENCES campaign,"
	" rank INTEGER NOT NULL,"
	" claim TEXT NOT NULL,"
	" PRIMARY KEY(campaign, rank)) STRICT, WITHOUT ROWID;",
};
_Static_assert(sizeof upgrades / sizeof *upgrades == STORE_VERSION - 1, "a step for every version");
/* clang-format on */

static const char *const statements[SQL_STATEMENTS] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_CAMPAIGN_FIND] = "SELECT number FROM campaign WHERE program = ? AND arguments = ? AND build = ?",
	[SQL_CAMPAIGN_ADD] = "INSERT INTO campaign(program, arguments, build, created) VALUES(?, ?, ?, ?)",
	[SQL_CAMPAIGN_LIST] = "SELECT number, program, arguments, build, created,"
			      " (SELECT count(*) FROM run WHERE campaign = c.number),"
			      " (SELECT count(*) FROM run WHERE campaign = c.number AND label = 1),"
			      " (SELECT count(*) FROM run WHERE campaign = c.number AND label = 2)"
			      " FROM campaign c ORDER BY number DESC",
	[SQL_CAMPAIGN_KNOWN] = "SELECT 1 FROM campaign WHERE number = ?",
	[SQL_UNIT_AFTER] = "SELECT id, hash, base, count FROM unit WHERE id > ? ORDER BY id",
	[SQL_UNIT_ADD] = "INSERT INTO unit(hash, base, count, sites) VALUES(?, ?, ?, ?)",
	[SQL_UNIT_SITES] = "SELECT sites FROM unit WHERE id = ?",
	[SQL_BATCH_AFTER] =
		"SELECT id, kind, count, items FROM batch WHERE campaign = ? AND id > ? ORDER BY id",
	[SQL_BATCH_ADD] = "INSERT INTO batch(campaign, kind, count, items) VALUES(?, ?, ?, ?)",
	[SQL_SET_AFTER] = "SELECT id, hash FROM membership WHERE id > ? ORDER BY id",
	[SQL_SET_ADD] = "INSERT INTO membership(hash, count, bits) VALUES(?, ?, ?)",
	[SQL_SET_GET] = "SELECT hash, bits FROM membership WHERE id = ?",
	[SQL_RUN_ADD] =
		"INSERT INTO run(campaign, outcome, code, label, reason, wall_s, cpu_s, peak_kib, started,"
		" jitter_us, threads, processes, dropped, accesses, pairs, predecessors, edges, output,"
		" details, observe, context, line, seed, policy, depth, schedule_hash, schedule, reduced,"
		" edge_order, machine)"
		" VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
		"?, ?)",
	[SQL_RUN_GET] =
		"SELECT number, campaign, outcome, code, label, reason, wall_s, cpu_s, peak_kib, started,"
		" jitter_us, threads, processes, dropped, accesses, pairs, predecessors, edges, output,"
		" observe, context, line, seed, policy, depth, schedule_hash, machine, details, schedule, "
		"reduced,"
		" edge_order"
		" FROM run WHERE number = ?",
	[SQL_RUN_LIST] =
		"SELECT number, campaign, outcome, code, label, reason, wall_s, cpu_s, peak_kib, started,"
		" jitter_us, threads, processes, dropped, accesses,"
		" (SELECT count FROM membership WHERE id = pairs),"
		" (SELECT count FROM membership WHERE id = predecessors),"
		" (SELECT count FROM membership WHERE id = edges), output,"
		" observe, context, line, seed, policy, depth, schedule_hash, machine"
		" FROM run WHERE campaign = ?1 OR ?1 = 0 ORDER BY number",
	[SQL_RUN_LAST_FAILED] = ("SELECT number FROM run WHERE label = 2 AND (campaign = ?1 OR ?1 = 0)"
				 " ORDER BY number DESC LIMIT 1"),
	[SQL_RUN_REDUCE] = "UPDATE run SET reduced = ?2 WHERE number = ?1",
	[SQL_LOADED_ADD] = "INSERT OR IGNORE INTO loaded(campaign, unit) VALUES(?, ?)",
	[SQL_LOADED_LIST] = "SELECT unit FROM loaded WHERE campaign = ?",
	[SQL_CLAIM_SET] = "INSERT OR REPLACE INTO claim(run, claims) VALUES(?, ?)",
	[SQL_CAUSE_DROP] = "DELETE FROM cause WHERE campaign = ?",
	[SQL_CAUSE_ADD] = "INSERT OR REPLACE INTO cause(campaign, rank, claim) VALUES(?, ?, ?)",
	[SQL_CAUSE_GET] = "SELECT claim FROM cause WHERE campaign = ? AND rank = ?",
	[SQL_CLAIM_GET] = "SELECT claims FROM claim WHERE run = ?",
	[SQL_CLAIM_LIST] = "SELECT c.run FROM claim c JOIN run r ON r.number = c.run WHERE r.campaign = ?"
			   " ORDER BY c.run DESC",
};

const char *schema_statement(enum statement statement)
{
	return statements[statement];
}

/* An empty store as the bytes of its file, to be freed with sqlite3_free. */
static struct error *image(const char *path, unsigned char **out, sqlite3_int64 *size)
{
	_cleanup_free_ char *start = memory_format("PRAGMA application_id = %u; PRAGMA user_version = %u;",
						   STORE_APPLICATION, STORE_VERSION);
	struct error *error = NULL;
	sqlite3 *db;
	int code = sqlite3_open(":memory:", &db);

	if (code == SQLITE_OK)
		code = sqlite3_exec(db, start, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db, schema, NULL, NULL, NULL);
	for (unsigned i = 0; i < STORE_VERSION - 1 && code == SQLITE_OK; i++)
		code = sqlite3_exec(db, upgrades[i], NULL, NULL, NULL);
	if (code == SQLITE_OK)
		*out = sqlite3_serialize(db, "main", size, 0);
	if (code != SQLITE_OK)
		error = sql_error(db, path, code);
	else if (!*out)
		error = sql_error(db, path, SQLITE_NOMEM);
	else
		(*out)[18] = (*out)[19] = 2; /* write and read version of the format: WAL */
	sqlite3_close(db);
	return error;
}

static struct error *write_file(int fd, const char *path, const unsigned char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(errno, "cannot write the store %s", path);
		bytes += n;
		size -= (size_t)n;
	}
	return NULL;
}

struct error *schema_create(const char *path)
{
	_cleanup_free_ char *fresh = memory_format("%s-new-XXXXXX", path);
	unsigned char *bytes = NULL;
	sqlite3_int64 size = 0;

	TRY(image(path, &bytes, &size));
	/* A new file, whatever lies in the folder, and for its owner alone: SQLite's further files are as
	 * this one is. */
	_cleanup_close_ int fd = mkostemp(fresh, O_CLOEXEC);
	struct error *error = fd < 0 ? error_errno(errno, "cannot make the store %s", path)
				     : write_file(fd, path, bytes, (size_t)size);

	sqlite3_free(bytes);
	/* link, unlike rename, leaves a store that someone else has just made. */
	if (!error && link(fresh, path) && errno != EEXIST && rename(fresh, path))
		error = error_errno(errno, "cannot make the store %s", path);
	if (fd >= 0)
		unlink(fresh);
	return error;
}

static int version_of(sqlite3 *db, unsigned *version)
{
	sqlite3_stmt *sql;
	int code = sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &sql, NULL);

	if (code == SQLITE_OK && sqlite3_step(sql) == SQLITE_ROW)
		*version = (unsigned)sqlite3_column_int(sql, 0);
	else
		*version = 0;
	sqlite3_finalize(sql);
	return code;
}

static int upgrade_steps(sqlite3 *db)
{
	unsigned version;
	/* Asked again inside the transaction: somebody else may have come first. */
	int code = version_of(db, &version);

	if (code == SQLITE_OK && (version < 1 || version > STORE_VERSION))
		return SQLITE_CORRUPT;
	for (unsigned i = version; i < STORE_VERSION && code == SQLITE_OK; i++)
		code = sqlite3_exec(db, upgrades[i - 1], NULL, NULL, NULL);
	_cleanup_free_ char *set = memory_format("PRAGMA user_version = %u", STORE_VERSION);

	return code == SQLITE_OK ? sqlite3_exec(db, set, NULL, NULL, NULL) : code;
}

struct error *schema_upgrade(sqlite3 *db, const char *path)
{
	unsigned version;
	int code = version_of(db, &version);

	if (code == SQLITE_OK && version == STORE_VERSION)
		return NULL;
	if (code == SQLITE_OK && sqlite3_db_readonly(db, "main") == 1)
		return error_new(
			"the store %s is of the older version %u and cannot be brought up to version %u "
			"because it cannot be written; make it and its folder writable once",
			path, version, STORE_VERSION);
	if (code == SQLITE_OK)
		code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (code == SQLITE_OK) {
		code = upgrade_steps(db);
		if (code == SQLITE_OK)
			code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	}
	if (code == SQLITE_OK)
		return NULL;
	struct error *error = sql_error(db, path, code);

	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return error;
}
