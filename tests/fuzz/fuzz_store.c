/* Stores whose rows were changed by hand: the input is a list of edits of a small sound
 * store, each a table, a column, a row and what shall stand there. Then all is read that
 * verbs read. */
#include "tests/fuzz/fuzz.h"
#include "tests/store_world.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "analysis/bugaboo/campaign.h"
#include "base/memory.h"

static const struct {
	const char *table, *column;
} places[] = {
	{ "campaign", "program" }, { "campaign", "arguments" }, { "campaign", "build" },
	{ "unit", "hash" },        { "unit", "base" },          { "unit", "count" },
	{ "unit", "sites" },       { "batch", "campaign" },     { "batch", "kind" },
	{ "batch", "count" },      { "batch", "items" },        { "membership", "hash" },
	{ "membership", "count" }, { "membership", "bits" },    { "run", "campaign" },
	{ "run", "outcome" },      { "run", "code" },           { "run", "label" },
	{ "run", "reason" },       { "run", "threads" },        { "run", "pairs" },
	{ "run", "predecessors" }, { "run", "edges" },          { "run", "output" },
	{ "run", "details" },      { "run", "observe" },        { "run", "context" },
	{ "run", "line" },         { "run", "policy" },         { "run", "schedule" },
	{ "run", "reduced" },      { "run", "edge_order" },     { "run", "machine" },
	{ "claim", "claims" },     { "loaded", "unit" },        { "run", "dropped" },
	{ "run", "processes" },    { "run", "accesses" },       { "run", "schedule_hash" },
};

static struct world made;
static char *sound;
static size_t sound_size;
static char *file;

static void make(void)
{
	setenv("TMPDIR", "/dev/shm", 0);
	world_make(&made, 7);
	struct store *store = world_open(&made);

	world_add_runs(&made, store, 1, 6, 8);
	store_close(store);
	file = memory_format("%s/store.db", made.store);
	sound = world_read_file(file, &sound_size);
}

static void edit(sqlite3 *db, struct fuzz *fuzz)
{
	size_t place = fuzz_number(fuzz, 1) % (sizeof places / sizeof *places);
	int row = (int)fuzz_number(fuzz, 1) % 8, kind = (int)fuzz_number(fuzz, 1);
	_cleanup_free_ char *text = memory_format(
		"UPDATE OR IGNORE %s SET %s = ? WHERE rowid = (SELECT rowid FROM %s LIMIT 1 OFFSET %d)",
		places[place].table, places[place].column, places[place].table, row);
	sqlite3_stmt *sql = NULL;

	if (sqlite3_prepare_v2(db, text, -1, &sql, NULL) == SQLITE_OK) {
		size_t n = fuzz_number(fuzz, 2) % 512;

		n = n < fuzz_left(fuzz) ? n : fuzz_left(fuzz);
		if (kind % 4 == 0)
			sqlite3_bind_int64(sql, 1, (int64_t)fuzz_number(fuzz, 1 + n % 8));
		else if (kind % 4 == 1)
			sqlite3_bind_text(sql, 1, (const char *)fuzz->at, (int)n, SQLITE_TRANSIENT);
		else
			sqlite3_bind_blob(sql, 1, fuzz->at, (int)n, SQLITE_TRANSIENT);
		if (kind % 4)
			fuzz->at += n;
		sqlite3_step(sql);
	}
	sqlite3_finalize(sql);
}

static void read_graphs(struct store *store)
{
	struct graphs graphs = { 0 };

	error_free(graphs_load(store, 1, NULL, 0, WAY_ANY, &graphs));
	graphs_free(&graphs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz = { data, data + size };
	sqlite3 *db;
	struct store *store = NULL;

	if (!sound)
		make();
	world_write_file(file, sound, sound_size);
	if (sqlite3_open(file, &db) != SQLITE_OK)
		abort();
	sqlite3_exec(db, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF", NULL,
		     NULL, NULL);
	for (int edits = 0; edits < 8 && fuzz_left(&fuzz) > 5; edits++)
		edit(db, &fuzz);
	sqlite3_close(db);
	struct error *error = store_open(made.store, false, &store);

	if (!error) {
		world_read_all(store);
		read_graphs(store);
		world_read_all(store);
		store_close(store);
	}
	error_free(error);
	return 0;
}
