/* Sizes and times of the store: thousands of runs of a tiny program, a million
 * pairs in one run.
 */
#include "tests/store_world.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"

static void tiny_pairs(struct world *world, struct observations *seen)
{
	uint64_t heap = 0x550000000000 + (world_below(world, 1 << 28) << 12);
	uint64_t stack = 0x7ff000000000 + (world_below(world, 1 << 24) << 12);
	uint32_t swapped = (uint32_t)world_below(world, 12);

	seen->pairs = memory_alloc(12 * sizeof *seen->pairs);
	for (uint32_t p = 0; p < 12; p++) {
		uint32_t which = p == swapped ? (p + 1) % 12 : p == (swapped + 1) % 12 ? swapped : p;

		seen->pairs[seen->npairs++] = (struct pair){
			.kind = (enum pair_kind)(1 + which % 3),
			.head_site = which / 3,
			.tail_site = which / 4 + 4,
			.head_thread = which % 3,
			.tail_thread = (which + 1) % 3,
			.head_order = 10 + world_below(world, 20000),
			.tail_order = 10 + world_below(world, 20000),
			.address = (which % 4 ? heap : stack) + which % 5 * 8,
			.head_loop = { 8, 1, 1 + world_below(world, 10000) },
			.tail_loop = { which % 2 ? 8 : LOOP_NONE, which % 2,
				       which % 2 ? world_below(world, 10000) : 0 },
		};
	}
}

static void tiny_sets(struct world *world, struct observations *seen)
{
	seen->predecessors = memory_alloc(10 * sizeof *seen->predecessors);
	for (uint32_t p = 0; p < 10; p++)
		if (world_below(world, 60))
			seen->predecessors[seen->npredecessors++] =
				(struct predecessor){ p % 8, p % 3 ? p / 2 : SITE_NIL };
	seen->edges = memory_alloc(15 * sizeof *seen->edges);
	for (uint32_t e = 0; e < 15; e++)
		if (world_below(world, 60))
			seen->edges[seen->nedges++] = (struct edge){ e % 7, e % 5, (uint16_t)(e * 37 % 1024),
								     (uint16_t)(e * 91 % 1024), e % 2 };
}

/* A run of a tiny program with two threads: nearly always the same observations,
 * in slightly different order, at addresses that move, now and then one less. */
static void tiny_run(struct world *world, uint64_t i, struct run *out)
{
	static const char reason[] = "exit status 0";
	struct observations *seen = &out->observations;

	*out = (struct run){
		.outcome = OUTCOME_EXIT,
		.label = i % 50 ? LABEL_PASS : LABEL_FAIL,
		.reason = memory_string(reason),
		.wall_s = 0.001 + (double)world_below(world, 1000000) / 1e9,
		.cpu_s = 0.0005 + (double)world_below(world, 1000) / 1e6,
		.peak_kib = 1500 + world_below(world, 200),
		.started = 1700000000000000 + (int64_t)(i * 2000),
		.output = i % 50 ? NULL
				 : memory_format("counter is %u, expected 20000\n", (unsigned)i * 13 + 9),
	};
	seen->units = memory_alloc(sizeof *seen->units);
	seen->nunits = 1;
	seen->units[0] = (struct run_unit){ .hash = world_unit_hash(0, 0),
					    .nsites = world->nsites[0][0],
					    .path = memory_string(world->programs[0]) };
	seen->nthreads = 3;
	seen->nprocesses = 1;
	seen->accesses = 80000 + world_below(world, 30);
	tiny_pairs(world, seen);
	tiny_sets(world, seen);
}

static void test_five_thousand_tiny_runs_fit(void **state)
{
	(void)state;
	const uint64_t runs = 5000;
	struct stat status;
	struct world world;

	world_make(&world, 77);
	struct store *store = world_open(&world);
	uint64_t campaign = world_campaign(store, "/p");
	double spent = 0;

	for (uint64_t i = 0; i < runs; i++) {
		struct run run;

		tiny_run(&world, i, &run);
		double start = world_cpu_seconds();

		world_good(store_add(store, campaign, &run));
		spent += world_cpu_seconds() - start;
		run_free(&run);
	}
	store_close(store);
	_cleanup_free_ char *file = memory_format("%s/store.db", world.store);

	assert_int_equal(stat(file, &status), 0);
	assert_int_equal(world_files_in(world.store), 1);
	print_message("%d runs: %ld bytes, %.0f us each\n", (int)runs, (long)status.st_size,
		      spent / (double)runs * 1e6);
	assert_true(status.st_size < 2000000);
	assert_true(WORLD_SANITIZED || spent / (double)runs < 0.0003);
	double start = world_cpu_seconds();
	struct run *all;
	size_t n;

	store = world_open(&world);
	world_good(store_runs(store, 0, &all, &n));
	print_message("opened and listed in %.1f ms\n", (world_cpu_seconds() - start) * 1e3);
	assert_int_equal(n, runs);
	while (n)
		run_free(&all[--n]);
	free(all);
	store_close(store);
	world_end(&world);
}

/* A million pairs: added once, then loaded as table and as bitmap. */
static void test_a_million_pairs_load_fast(void **state)
{
	(void)state;
	const size_t million = WORLD_SANITIZED ? 50000 : 1000000;
	struct membership membership;
	struct interned interned;
	struct world world;
	struct run run;

	world_make(&world, 9);
	struct store *store = world_open(&world);
	uint64_t campaign = world_campaign(store, "/p");

	world_run(&world, 1, 0, &run);
	uint32_t last = (uint32_t)(run.observations.nunits - 1);
	uint32_t nsites = run.observations.units[last].first + run.observations.units[last].nsites;
	struct pair *pairs = memory_resize(run.observations.pairs, million * sizeof *pairs);

	for (size_t i = 0; i < million; i++)
		pairs[i] = (struct pair){
			.kind = (enum pair_kind)(1 + i % 3),
			.head_site = (uint32_t)(i % nsites),
			.tail_site = (uint32_t)(i / nsites % nsites),
			.head_thread = (uint32_t)(i / nsites / nsites),
			.tail_thread = (uint32_t)(i % 3 + 1),
			.head_order = i,
			.tail_order = i + world_below(&world, 100),
			.address = 0x550000000000 + world_below(&world, 1 << 22) * 8,
			.head_loop = { LOOP_NONE, 0, 0 },
			.tail_loop = { 3, 1, i },
		};
	run.observations.pairs = pairs;
	run.observations.npairs = million;
	double start = world_cpu_seconds();

	world_good(store_add(store, campaign, &run));
	double added = world_cpu_seconds() - start;

	store_close(store);
	store = world_open(&world);
	start = world_cpu_seconds();
	world_good(store_interned(store, campaign, &interned));
	double loaded = world_cpu_seconds() - start;

	start = world_cpu_seconds();
	world_good(store_membership(store, run.number, &membership));
	double member = world_cpu_seconds() - start;

	print_message("%zu pairs: add %.0f ms, load %.0f ms, membership %.2f ms\n", million, added * 1e3,
		      loaded * 1e3, member * 1e3);
	assert_int_equal(interned.npairs, million);
	assert_int_equal(roaring_bitmap_get_cardinality(membership.pairs), million);
	assert_true(WORLD_SANITIZED || loaded + member < 0.5);
	world_check_run(store, &run, campaign);
	interned_free(&interned);
	membership_free(&membership);
	run_free(&run);
	store_close(store);
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_five_thousand_tiny_runs_fit),
		cmocka_unit_test(test_a_million_pairs_load_fast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
