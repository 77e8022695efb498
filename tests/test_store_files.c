/* Files that are no store, or no longer one, or one of the future, and blobs that
 * nobody encoded. What is refused must stay as it was, what is opened must be
 * readable without harm.
 */
#include "tests/store_world.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static void run_sql(const char *path, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Opening is refused with `word`, by readers and writers, and neither the file
 * nor its folder changes. */
static void check_refused(struct world *world, const char *path, const char *word)
{
	size_t before, after, files = world_files_in(world->store);
	_cleanup_free_ char *was = world_read_file(path, &before);
	struct store *store = NULL;

	world_bad(store_open(world->store, false, &store), word);
	world_bad(store_open(world->store, true, &store), word);
	assert_null(store);
	_cleanup_free_ char *is = world_read_file(path, &after);

	assert_int_equal(before, after);
	assert_memory_equal(was, is, before);
	assert_int_equal(world_files_in(world->store), files);
}

static void test_no_store(void **state)
{
	(void)state;
	struct world world;
	struct store *store;

	world_make(&world, 1);
	world_bad(store_open(world.store, false, &store), "there is no store in");
	assert_int_equal(access(world.store, F_OK), -1);
	_cleanup_free_ char *deep = memory_format("%s/no/such", world.folder);

	world_bad(store_open(deep, true, &store), "No such file");
	world_bad(store_open(world.programs[0], true, &store), "Not a directory");
	world_bad(store_open(world.programs[0], false, &store), "Not a directory");
	world_end(&world);
}

static void test_odd_folder_names(void **state)
{
	(void)state;
	static const char *const names[] = { "a b", "50%25?mode=ro#x", "\xc3\xa4\xff'\"", "//s//" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct world world;

		world_make(&world, 1);
		_cleanup_free_ char *file = memory_format("%s/%s/store.db", world.folder, names[i]);

		free(world.store);
		world.store = memory_format("/%s/%s", world.folder, names[i]);
		struct store *store = world_open(&world);

		world_add_runs(&world, store, 1, 3, 5);
		store_close(store);
		assert_int_equal(access(file, F_OK), 0);
		store = world_open(&world);
		world_check_runs(&world, store, 3, 5);
		store_close(store);
		world_end(&world);
	}
}

static void test_foreign_files(void **state)
{
	(void)state;
	struct world world;
	struct store *store;

	world_make(&world, 1);
	_cleanup_free_ char *path = memory_format("%s/store.db", world.store);

	mkdir(world.store, 0777);
	mkdir(path, 0777);
	world_bad(store_open(world.store, true, &store), "not a store");
	rmdir(path);
	world_write_file(path, "hello", 5);
	check_refused(&world, path, "not a store");
	_cleanup_free_ char *text = memory_alloc(10000);

	memset(text, 'x', 10000);
	world_write_file(path, text, 10000);
	check_refused(&world, path, "not a store");
	unlink(path);
	run_sql(path, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
	check_refused(&world, path, "not a store");
	run_sql(path, "PRAGMA journal_mode = WAL; INSERT INTO t VALUES(2)");
	assert_int_equal(world_files_in(world.store), 1);
	check_refused(&world, path, "the database of another program");
	world_end(&world);
}

static void test_newer_store(void **state)
{
	(void)state;
	struct world world;

	world_make(&world, 1);
	_cleanup_free_ char *path = memory_format("%s/store.db", world.store);
	struct store *store = world_open(&world);

	world_add_runs(&world, store, 1, 5, 5);
	store_close(store);
	run_sql(path, "PRAGMA user_version = 77");
	check_refused(&world, path, "version 77");
	check_refused(&world, path, "versions up to 5");
	run_sql(path, "PRAGMA user_version = 0");
	check_refused(&world, path, "damaged");
	run_sql(path, "PRAGMA user_version = 5");
	store = world_open(&world);
	world_check_runs(&world, store, 5, 5);
	store_close(store);
	world_end(&world);
}

/* What version 1 was, from a store of today. */
static void make_older(const char *path)
{
	static const char *const columns[] = { "observe", "context",    "line",          "seed",
					       "policy",  "depth",      "schedule_hash", "schedule",
					       "reduced", "edge_order", "machine" };

	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		_cleanup_free_ char *drop = memory_format("ALTER TABLE run DROP COLUMN %s", columns[i]);

		run_sql(path, drop);
	}
	run_sql(path, "DROP TABLE loaded");
	run_sql(path, "DROP TABLE claim; DROP TABLE cause");
	run_sql(path, "PRAGMA user_version = 1");
}

static void test_older_store(void **state)
{
	(void)state;
	struct world world;

	world_make(&world, 3);
	_cleanup_free_ char *path = memory_format("%s/store.db", world.store);
	struct store *store = world_open(&world);

	world_add_runs(&world, store, 1, 8, 20);
	store_close(store);
	make_older(path);
	/* Reading is enough to bring it up to date; what it holds stays. */
	world_good(store_open(world.store, false, &store));
	world_check_runs(&world, store, 8, 20);
	_cleanup_(run_free) struct run run = { 0 };

	world_good(store_run(store, 3, &run, NULL));
	assert_false(run.settings.known);
	assert_int_equal(run.schedule.nturns, 0);
	store_close(store);
	/* And it takes new runs, as a store of today. */
	store = world_open(&world);
	world_add_runs(&world, store, 9, 4, 20);
	world_check_runs(&world, store, 12, 20);
	store_close(store);
	/* A step that fails leaves all as it was. */
	make_older(path);
	run_sql(path, "CREATE TABLE loaded(x)");
	world_bad(store_open(world.store, true, &store), "loaded");
	run_sql(path, "DROP TABLE loaded");
	store = world_open(&world);
	world_check_runs(&world, store, 12, 20);
	store_close(store);
	world_end(&world);
}

static void test_schedules(void **state)
{
	struct schedule_turn turns[] = { { .thread = 0, .stop = STOP_PREEMPTED, .points = 7, .site = 99 },
					 { .thread = 1, .wake = true },
					 { .thread = 1, .stop = STOP_LAST, .points = 1 } };
	struct schedule_wait wait = { .thread = 1, .kind = WAITING_MUTEX, .holder = 0, .site = 5 };
	struct world world;

	(void)state;
	world_make(&world, 4);
	struct store *store = world_open(&world);
	uint64_t campaign = world_campaign(store, world.programs[0]), owner;
	_cleanup_(run_free) struct run run = { 0 }, read = { 0 };

	world_run(&world, 1, 10, &run);
	run.outcome = OUTCOME_DEADLOCK;
	run.settings =
		(struct run_settings){ .known = true, .observe = 7, .context = 5, .line = true, .seed = 11 };
	run.schedule =
		(struct schedule){ .policy = SCHEDULE_PCT,
				   .depth = 3,
				   .seed = 11,
				   .turns = turns,
				   .nturns = 3,
				   .waits = &wait,
				   .nwaits = 1,
				   .fault = { .kind = MEMORY_BEYOND, .offset = -3, .freed_thread = 2 } };
	world_good(store_add(store, campaign, &run));
	world_good(store_reduce(store, run.number, &(struct schedule){ .turns = turns, .nturns = 1 }));
	run.schedule = (struct schedule){ 0 };
	world_good(store_run(store, run.number, &read, &owner));
	assert_int_equal(read.outcome, OUTCOME_DEADLOCK);
	assert_int_equal(read.schedule.policy, SCHEDULE_PCT);
	assert_int_equal(read.schedule.depth, 3);
	assert_true(read.settings.known && read.settings.line && read.schedule.seed == 11);
	assert_int_equal(read.settings.observe, 7);
	assert_int_equal(read.settings.context, 5);
	assert_true(schedule_hash(read.schedule.turns, read.schedule.nturns) == schedule_hash(turns, 3));
	assert_int_equal(read.schedule.nwaits, 1);
	assert_int_equal(read.schedule.fault.kind, MEMORY_BEYOND);
	assert_int_equal(read.schedule.fault.offset, -3);
	assert_int_equal(read.schedule.fault.freed_thread, 2);
	assert_int_equal(read.reduced.nturns, 1);
	/* Ids of sites lead to the source of the campaign's own units. */
	const struct site *site = NULL;

	for (size_t unit = 0; unit < WORLD_UNITS; unit++) {
		world_good(store_site_by_id(store, campaign, world_site_id(0, unit, 0), &site));
		if (site)
			assert_true(site->id == world_site_id(0, unit, 0));
	}
	world_good(store_site_by_id(store, campaign, 12345, &site));
	assert_null(site);
	store_close(store);
	world_end(&world);
}

static void test_cut_off_store(void **state)
{
	(void)state;
	struct world world;
	size_t size;

	world_make(&world, 1);
	_cleanup_free_ char *path = memory_format("%s/store.db", world.store);
	struct store *store = world_open(&world);

	world_add_runs(&world, store, 1, 30, 30);
	store_close(store);
	_cleanup_free_ char *whole = world_read_file(path, &size);
	const size_t cuts[] = { 0, 1, 15, 16, 50, 99, 100, 4095, 4096, size / 2, size - 4096, size - 1 };

	for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
		world_write_file(path, whole, cuts[i]);
		check_refused(&world, path, "damaged");
	}
	world_write_file(path, whole, size);
	store = world_open(&world);
	world_check_runs(&world, store, 30, 30);
	store_close(store);
	world_end(&world);
}

/* Pages of noise are found at opening; single bytes perhaps not, but whatever is
 * opened can be read without harm. */
static void test_damaged_store(void **state)
{
	(void)state;
	struct world world;
	size_t size, refused = 0;

	world_make(&world, 1);
	_cleanup_free_ char *path = memory_format("%s/store.db", world.store);
	struct store *store = world_open(&world);

	world_add_runs(&world, store, 1, 12, 25);
	store_close(store);
	_cleanup_free_ char *whole = world_read_file(path, &size);
	_cleanup_free_ char *bytes = memory_alloc(size);

	for (size_t page = 1; page < size / 4096; page++) {
		memcpy(bytes, whole, size);
		for (size_t i = 0; i < 4096; i++)
			bytes[page * 4096 + i] = (char)world_random(&world);
		world_write_file(path, bytes, size);
		store = NULL;
		struct error *error = store_open(world.store, false, &store);

		/* A blob's overflow page has no structure that could be seen to be broken. */
		if (error)
			refused++;
		else
			world_read_all(store);
		error_free(error);
		store_close(store);
	}
	assert_true(refused >= 5);
	for (int round = 0; round < 400; round++) {
		memcpy(bytes, whole, size);
		for (uint64_t i = 1 + world_below(&world, 20); i; i--)
			bytes[world_below(&world, size)] = (char)world_random(&world);
		world_write_file(path, bytes, size);
		store = NULL;
		struct error *error = store_open(world.store, world_below(&world, 2), &store);

		if (!error) {
			struct run run;

			world_read_all(store);
			world_run(&world, 40, 10, &run);
			error_free(store_add(store, 1, &run));
			run_free(&run);
		}
		error_free(error);
		store_close(store);
	}
	world_end(&world);
}

/* The file stays whole for SQLite, the blobs do not. */
static void test_hostile_blobs(void **state)
{
	(void)state;
	static const char *const statements[] = {
		"UPDATE run SET details = randomblob(abs(random() % 100))",
		"UPDATE run SET details = CAST(x'00' || randomblob(abs(random() % 60)) AS BLOB)",
		"UPDATE run SET output = randomblob(30), label = random() % 5, outcome = random() % 5",
		"UPDATE run SET details = CAST(x'0128b52ffd' || randomblob(40) AS BLOB)",
		"UPDATE run SET pairs = random() % 40, predecessors = edges, edges = 999999",
		"UPDATE run SET campaign = random() % 3",
		"UPDATE batch SET items = CAST(x'00' || randomblob(length(items)) AS BLOB)",
		"UPDATE batch SET items = x'00', count = 0",
		"UPDATE batch SET count = 1000000000000",
		"UPDATE batch SET count = count - 1, kind = 2 - kind",
		"UPDATE membership SET bits = randomblob(60)",
		"UPDATE membership SET hash = 0",
		"DELETE FROM membership",
		"DELETE FROM batch",
		"UPDATE unit SET base = base + 1",
		"UPDATE unit SET count = 4294967295",
		"UPDATE unit SET sites = CAST(x'00' || randomblob(500) AS BLOB)",
		"UPDATE unit SET sites = x''",
		"UPDATE campaign SET arguments = randomblob(9), build = 7",
		"DROP TABLE membership",
		"DROP TABLE run; CREATE TABLE run(number)",
		"CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",
	};
	struct world world;
	size_t size;

	world_make(&world, 1);
	_cleanup_free_ char *path = memory_format("%s/store.db", world.store);
	struct store *store = world_open(&world);

	world_add_runs(&world, store, 1, 12, 25);
	store_close(store);
	_cleanup_free_ char *whole = world_read_file(path, &size);

	for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
		for (int round = 0; round < 4; round++) {
			struct run run;

			world_write_file(path, whole, size);
			run_sql(path, statements[i]);
			store = world_open(&world);
			world_read_all(store);
			world_run(&world, 40, 10, &run);
			error_free(store_add(store, 1, &run));
			run_free(&run);
			world_read_all(store);
			store_close(store);
		}
	world_write_file(path, whole, size);
	run_sql(path, statements[sizeof statements / sizeof *statements - 1]);
	store = world_open(&world);
	world_add_runs(&world, store, 13, 1, 25); /* the trigger does not fire */
	world_check_runs(&world, store, 13, 25);
	store_close(store);
	world_end(&world);
}

/* A log that a killed writer left belongs to the store: a damaged store keeps it. */
static void test_damaged_store_keeps_its_log(void **state)
{
	(void)state;
	struct world world;
	size_t size, log_size, after;

	world_make(&world, 1);
	_cleanup_free_ char *path = memory_format("%s/store.db", world.store);
	_cleanup_free_ char *log_path = memory_format("%s-wal", path);
	struct store *store = world_open(&world);

	world_add_runs(&world, store, 1, 40, 20);
	store_close(store);
	store = world_open(&world);
	world_add_runs(&world, store, 41, 3, 20);
	_cleanup_free_ char *file = world_read_file(path, &size);
	_cleanup_free_ char *log = world_read_file(log_path, &log_size);

	store_close(store);
	assert_true(log_size > 0);
	world_write_file(log_path, log, log_size);
	for (size_t page = 9; page < 14; page++)
		memset(file + page * 4096, 0x5a, 4096);
	world_write_file(path, file, size);
	world_bad(store_open(world.store, true, &store), "damaged");
	world_bad(store_open(world.store, false, &store), "damaged");
	_cleanup_free_ char *is = world_read_file(path, &after);

	assert_int_equal(after, size);
	assert_memory_equal(file, is, size);
	_cleanup_free_ char *log_is = world_read_file(log_path, &after);

	assert_int_equal(after, log_size);
	assert_memory_equal(log, log_is, log_size);
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_store),      cmocka_unit_test(test_odd_folder_names),
		cmocka_unit_test(test_foreign_files), cmocka_unit_test(test_newer_store),
		cmocka_unit_test(test_cut_off_store), cmocka_unit_test(test_damaged_store),
		cmocka_unit_test(test_older_store),   cmocka_unit_test(test_schedules),
		cmocka_unit_test(test_hostile_blobs), cmocka_unit_test(test_damaged_store_keeps_its_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
