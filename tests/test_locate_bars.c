/* The size of the paper's largest case: 780,977 pairs in the failed run and 100
 * passing runs, read from a store and put through all three procedures, in less
 * than a second of CPU time (tests/pace.h) and 500 MB.
 */
#include "tests/store_world.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/locon/locate_answer.h"
#include "analysis/locon/gather.h"
#include "base/hash.h"
#include "base/memory.h"
#include "tests/pace.h"

#define PAIRS 780977u
#define PASSED 100u
#define MOST_CPU_S 1.0
#define MOST_KIB (500u * 1024)

/* Nine of ten pairs are in every run, the others in most; the failed run has all
 * that the generator knows, and three of its own. */
static bool is_in(struct world *world, uint32_t pair, bool failed)
{
	if (pair >= PAIRS - 3)
		return failed;
	return failed || pair % 10 || world_below(world, 100) < 20 + pair % 70;
}

static void big_run(struct world *world, bool failed, struct run *out)
{
	struct observations *seen = &out->observations;
	uint32_t nsites = world->nsites[0][0];

	*out = (struct run){ .outcome = OUTCOME_EXIT,
			     .label = failed ? LABEL_FAIL : LABEL_PASS,
			     .code = failed,
			     .wall_s = 1,
			     .started = 1700000000000000 };
	seen->units = memory_alloc(sizeof *seen->units);
	seen->nunits = 1;
	seen->units[0] = (struct run_unit){ .hash = world_unit_hash(0, 0),
					    .nsites = nsites,
					    .path = memory_string(world->programs[0]) };
	seen->nthreads = 400;
	seen->nprocesses = 1;
	seen->pairs = memory_alloc(PAIRS * sizeof *seen->pairs);
	for (uint32_t p = 0; p < PAIRS; p++) {
		if (!is_in(world, p, failed))
			continue;
		uint32_t most = nsites - 1, rest = p / 3, head = rest % most, tail = rest / most % most,
			 threads = rest / most / most;

		if (p >= PAIRS - 3)
			head = tail = most; /* a place of its own */

		seen->pairs[seen->npairs++] = (struct pair){
			.kind = (enum pair_kind)(1 + p % 3),
			.head_site = head,
			.tail_site = tail,
			.head_thread = threads % 300,
			.tail_thread = threads % 300 + 1 + threads / 300,
			.head_order = 1 + p / 2,
			.tail_order = 1 + p / 2 + p % 7,
			.address = 0x550000000000 + (uint64_t)(p % 100000) * 8,
			.head_loop.site = LOOP_NONE,
			.tail_loop.site = LOOP_NONE,
		};
	}
}

/* Executes SQL on the store's file. */
static void execute(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	sqlite3_exec(db, sql, NULL, NULL, &message);
	assert_null(message);
}

/* All columns of the table `run` but its number and the set of pairs. */
static char *other_columns(sqlite3 *db)
{
	sqlite3_stmt *sql;
	char *list = memory_string("");

	assert_int_equal(sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info('run')", -1, &sql, NULL),
			 SQLITE_OK);
	while (sqlite3_step(sql) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(sql, 0);

		if (!strcmp(name, "number") || !strcmp(name, "pairs"))
			continue;
		char *longer = memory_format("%s%s%s", list, *list ? ", " : "", name);

		free(list);
		list = longer;
	}
	sqlite3_finalize(sql);
	return list;
}

/* A passing run like number 1, but with a set of pairs of its own: recording them all
 * in the usual way would take minutes. */
static void add_passing(struct world *world, sqlite3 *db, const char *columns)
{
	roaring_bitmap_t *set = roaring_bitmap_create();
	sqlite3_stmt *sql;

	for (uint32_t p = 0; p < PAIRS; p++)
		if (is_in(world, p, false))
			roaring_bitmap_add(set, p);
	roaring_bitmap_run_optimize(set);
	size_t size = roaring_bitmap_portable_size_in_bytes(set);
	_cleanup_free_ char *bits = memory_alloc(size);

	roaring_bitmap_portable_serialize(set, bits);
	assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO membership(hash, count, bits) VALUES(?, ?, ?)",
					    -1, &sql, NULL),
			 SQLITE_OK);
	sqlite3_bind_int64(sql, 1, (int64_t)hash_bytes(HASH_START, bits, size));
	sqlite3_bind_int64(sql, 2, (int64_t)roaring_bitmap_get_cardinality(set));
	sqlite3_bind_blob(sql, 3, bits, (int)size, SQLITE_TRANSIENT);
	assert_int_equal(sqlite3_step(sql), SQLITE_DONE);
	sqlite3_finalize(sql);
	roaring_bitmap_free(set);
	_cleanup_free_ char *copy = memory_format(
		"INSERT INTO run(pairs, %s) SELECT last_insert_rowid(), %s FROM run WHERE number = 2",
		columns, columns);

	execute(db, copy);
}

/* Run 1 fails and has all pairs, in the order of their interned numbers; run 2 passes. */
static void record(struct world *world)
{
	struct store *store = world_open(world);
	uint64_t campaign = world_campaign(store, world->programs[0]);
	_cleanup_free_ char *path = memory_format("%s/store.db", world->store);
	sqlite3 *db;

	for (int passing = 0; passing < 2; passing++) {
		struct run run;

		big_run(world, !passing, &run);
		world_good(store_add(store, campaign, &run));
		run_free(&run);
	}
	store_close(store);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	_cleanup_free_ char *columns = other_columns(db);

	execute(db, "BEGIN");
	for (uint32_t r = 1; r < PASSED; r++)
		add_passing(world, db, columns);
	execute(db, "COMMIT");
	sqlite3_close(db);
}

/* All three procedures at all levels that the data have, each asked by itself. Returns the CPU time. */
static double analyse(void *state)
{
	struct world *world = state;
	struct store *store = NULL;
	struct locon_data data;
	struct locon locon;
	size_t found = 0;
	double begun = pace_cpu();

	world_good(store_open(world->store, false, &store));
	world_good(locon_gather(store, 1, &data));
	double read = pace_cpu();

	locon_open(&locon, &data.input);
	double indexed = pace_cpu();

	for (unsigned procedure = LOCON_I; procedure <= LOCON_III; procedure++) {
		const struct locon_request request = {
			.procedure = procedure, .level = -1, .top = 20, .run = data.run, .sites = data.sites
		};
		struct locon_answer answer;

		locon_answer(&locon, &request, &answer);
		found += answer.findings.n;
		if (procedure == LOCON_I)
			assert_true(answer.suspects > 0);
		locon_answer_free(&answer);
	}
	locon_close(&locon);
	locon_data_free(&data);
	store_close(store);
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	double spent = pace_cpu() - begun;

	printf("%u pairs, %u runs: read %.3f s, indexed %.3f s, procedures %.3f s, all %.3f s; %ld MB\n",
	       PAIRS, PASSED + 1, read - begun, indexed - read, begun + spent - indexed, spent,
	       usage.ru_maxrss / 1024);
	assert_true(found > 0);
	assert_true(WORLD_SANITIZED || usage.ru_maxrss < (long)MOST_KIB);
	return spent;
}

/* The analysis in a process of its own, so that its memory is its own. */
static void test_largest_case(void **state)
{
	struct world world;
	int status;

	(void)state;
	world_make(&world, 3);
	pid_t recorder = fork();

	if (!recorder) {
		record(&world);
		_exit(0);
	}
	assert_int_equal(waitpid(recorder, &status, 0), recorder);
	assert_int_equal(status, 0);
	assert_true(pace_is_below(MOST_CPU_S, analyse, &world));
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_largest_case) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
