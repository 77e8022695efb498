/* The store in ordinary use: what goes in comes out, over closing and opening,
 * with several campaigns, two writers, a reader beside a writer.
 */
#include "tests/store_world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

/* What a campaign interns, the slow way: in order of arrival, looked for one by one. Sites are ids. */
struct identity {
	uint64_t a, b;
	uint32_t rest[3];
};

struct reference {
	VEC(struct identity) kinds[3];
};

static size_t reference_put(struct reference *reference, int kind, struct identity identity)
{
	size_t at = 0;

	for (; at < reference->kinds[kind].n; at++)
		if (memcmp(&reference->kinds[kind].items[at], &identity, sizeof identity) == 0)
			return at;
	*VEC_PUSH(&reference->kinds[kind]) = identity;
	return at;
}

static struct identity of_pair(enum pair_kind kind, uint32_t head_thread, uint32_t tail_thread, uint64_t head,
			       uint64_t tail)
{
	struct identity identity;

	memset(&identity, 0, sizeof identity);
	identity.a = head;
	identity.b = tail;
	identity.rest[0] = kind;
	identity.rest[1] = head_thread;
	identity.rest[2] = tail_thread;
	return identity;
}

static struct identity of_predecessor(uint64_t site, uint64_t before)
{
	struct identity identity;

	memset(&identity, 0, sizeof identity);
	identity.a = site;
	identity.b = before;
	return identity;
}

static struct identity of_edge(const struct edge *edge, uint64_t source, uint64_t sink)
{
	struct identity identity;

	memset(&identity, 0, sizeof identity);
	identity.a = source;
	identity.b = sink;
	identity.rest[0] = edge->source_context;
	identity.rest[1] = edge->sink_context;
	identity.rest[2] = edge->write;
	return identity;
}

/* The run's edges in the order in which they first stand in it. */
static void check_pair_order(struct store *store, uint64_t run)
{
	struct run_pairs whole;
	_cleanup_free_ uint32_t *order = NULL;
	size_t n;

	world_good(store_run_pairs(store, run, &whole));
	world_good(store_pair_order(store, run, &order, &n));
	assert_int_equal(n, whole.npairs);
	assert_memory_equal(order, whole.indexes, n * sizeof *order);
	run_pairs_free(&whole);
}

static void check_order(struct store *store, struct reference *reference, const struct run *run)
{
	const struct observations *seen = &run->observations;
	_cleanup_free_ uint32_t *order = NULL;
	size_t n, at = 0;

	world_good(store_edge_order(store, run->number, &order, &n));
	for (size_t i = 0; i < seen->nedges; i++) {
		size_t number = reference_put(reference, 2,
					      of_edge(&seen->edges[i], world_id(seen, seen->edges[i].source),
						      world_id(seen, seen->edges[i].sink)));
		bool again = false;

		for (size_t j = 0; j < at && !again; j++)
			again = order[j] == number;
		if (again)
			continue;
		assert_true(at < n);
		assert_int_equal(order[at++], number);
	}
	assert_int_equal(at, n);
	check_pair_order(store, run->number);
}

/* Interns a run's observations into the reference; checks its membership against that. */
static void check_membership(struct store *store, struct reference *reference, const struct run *run)
{
	const struct observations *seen = &run->observations;
	roaring_bitmap_t *sets[3] = { roaring_bitmap_create(), roaring_bitmap_create(),
				      roaring_bitmap_create() };
	struct membership membership;

	for (size_t i = 0; i < seen->npairs; i++) {
		const struct pair *pair = &seen->pairs[i];

		roaring_bitmap_add(sets[0], (uint32_t)reference_put(
						    reference, 0,
						    of_pair(pair->kind, pair->head_thread, pair->tail_thread,
							    world_id(seen, pair->head_site),
							    world_id(seen, pair->tail_site))));
	}
	for (size_t i = 0; i < seen->npredecessors; i++)
		roaring_bitmap_add(sets[1],
				   (uint32_t)reference_put(
					   reference, 1,
					   of_predecessor(world_id(seen, seen->predecessors[i].site),
							  world_id(seen, seen->predecessors[i].before))));
	for (size_t i = 0; i < seen->nedges; i++)
		roaring_bitmap_add(sets[2],
				   (uint32_t)reference_put(reference, 2,
							   of_edge(&seen->edges[i],
								   world_id(seen, seen->edges[i].source),
								   world_id(seen, seen->edges[i].sink))));
	world_good(store_membership(store, run->number, &membership));
	assert_true(roaring_bitmap_equals(membership.pairs, sets[0]));
	assert_true(roaring_bitmap_equals(membership.predecessors, sets[1]));
	assert_true(roaring_bitmap_equals(membership.edges, sets[2]));
	membership_free(&membership);
	for (int i = 0; i < 3; i++)
		roaring_bitmap_free(sets[i]);
	check_order(store, reference, run);
}

static void check_interned(struct store *store, const struct reference *reference, uint64_t campaign)
{
	struct interned all;

	world_good(store_interned(store, campaign, &all));
	assert_int_equal(all.npairs, reference->kinds[0].n);
	assert_int_equal(all.npredecessors, reference->kinds[1].n);
	assert_int_equal(all.nedges, reference->kinds[2].n);
	for (size_t i = 0; i < all.npairs; i++) {
		const struct pair_identity *pair = &all.pairs[i];
		struct identity is = of_pair(pair->kind, pair->head_thread, pair->tail_thread,
					     world_stored_id(store, pair->head_site),
					     world_stored_id(store, pair->tail_site));

		assert_memory_equal(&is, &reference->kinds[0].items[i], sizeof is);
	}
	for (size_t i = 0; i < all.npredecessors; i++) {
		struct identity is = of_predecessor(world_stored_id(store, all.predecessors[i].site),
						    world_stored_id(store, all.predecessors[i].before));

		assert_memory_equal(&is, &reference->kinds[1].items[i], sizeof is);
	}
	for (size_t i = 0; i < all.nedges; i++) {
		struct identity is = of_edge(&all.edges[i], world_stored_id(store, all.edges[i].source),
					     world_stored_id(store, all.edges[i].sink));

		assert_memory_equal(&is, &reference->kinds[2].items[i], sizeof is);
	}
	interned_free(&all);
}

static void reference_free(struct reference *reference)
{
	for (int i = 0; i < 3; i++)
		VEC_FREE(&reference->kinds[i]);
}

/* Random runs into three campaigns, the store closed and opened now and then. */
/* Only runs on a simulated machine have its counts, in summaries too. */
static void test_machine_counts(void **state)
{
	(void)state;
	struct world world;
	struct run *summaries, read;
	size_t n;

	world_make(&world, 12);
	struct store *store = world_open(&world);
	uint64_t campaign = world_campaign(store, "/bin/a");

	for (uint64_t i = 0; i < 2; i++) {
		struct run run;

		world_run(&world, i, 12, &run);
		run.settings.machine = i == 1;
		for (int j = 0; j < MACHINE_COUNTS; j++)
			run.observations.machine[j] =
				j == MACHINE_TRAPS ? UINT64_MAX : (uint64_t)j * 1000 + 7;
		world_good(store_add(store, campaign, &run));
		run_free(&run);
	}
	world_good(store_runs(store, campaign, &summaries, &n));
	assert_int_equal(n, 2);
	assert_false(summaries[0].settings.machine);
	assert_int_equal(summaries[0].observations.machine[MACHINE_READ_MISSES], 0);
	assert_true(summaries[1].settings.machine);
	assert_int_equal(summaries[1].observations.machine[MACHINE_READ_MISSES], 1007);
	world_good(store_run(store, 2, &read, NULL));
	assert_true(read.observations.machine[MACHINE_TRAPS] == UINT64_MAX);
	run_free(&read);
	for (size_t i = 0; i < n; i++)
		run_free(&summaries[i]);
	free(summaries);
	store_close(store);
	world_end(&world);
}

static void test_round_trip(void **state)
{
	(void)state;
	enum { RUNS = 120 };
	static const char *const programs[3] = { "/bin/a", "/bin/b", "/odd\xff\xfename" };
	struct reference references[3] = { 0 };
	struct world world;
	struct run runs[RUNS];

	world_make(&world, 11);
	struct store *store = world_open(&world);

	for (uint64_t i = 0; i < RUNS; i++) {
		size_t of = world_below(&world, 3);
		uint64_t campaign = world_campaign(store, programs[of]);

		world_run(&world, i, i % 10 ? 12 : 120, &runs[i]);
		world_good(store_add(store, campaign, &runs[i]));
		assert_int_equal(runs[i].number, i + 1);
		check_membership(store, &references[of], &runs[i]);
		if (world_below(&world, 10) == 0) {
			store_close(store);
			assert_int_equal(world_files_in(world.store), 1); /* no log is left behind */
			store = world_open(&world);
		}
		uint64_t any = world_below(&world, i + 1), belongs;
		struct run read;

		world_good(store_run(store, any + 1, &read, &belongs));
		run_free(&read);
		world_check_run(store, &runs[any], belongs);
	}
	for (size_t i = 0; i < 3; i++) {
		check_interned(store, &references[i], world_campaign(store, programs[i]));
		reference_free(&references[i]);
	}
	store_close(store);
	for (int i = 0; i < RUNS; i++)
		run_free(&runs[i]);
	world_end(&world);
}

/* What a campaign should hold: runs, passed, failed by label; the last failed one. */
struct tally {
	uint64_t counts[3], last_failed;
};

static void check_campaigns(struct store *store, const struct tally *tallies)
{
	struct campaign *campaigns;
	size_t n;

	world_good(store_campaigns(store, &campaigns, &n));
	assert_int_equal(n, 3);
	assert_string_equal(campaigns[2].program, "/p");
	assert_true(campaigns[2].build == 0xfedcba9876543210u && campaigns[2].number == 1);
	assert_string_equal(campaigns[2].arguments[1], "");
	assert_string_equal(campaigns[2].arguments[2], "a b");
	assert_null(campaigns[2].arguments[3]);
	assert_null(campaigns[0].arguments[0]);
	assert_true(campaigns[0].created >= campaigns[2].created && campaigns[2].created > 1600000000000000);
	for (size_t i = 0; i < n; i++) {
		const struct tally *tally = &tallies[campaigns[i].number];

		assert_int_equal(campaigns[i].runs, tally->counts[0]);
		assert_int_equal(campaigns[i].passed, tally->counts[LABEL_PASS]);
		assert_int_equal(campaigns[i].failed, tally->counts[LABEL_FAIL]);
		campaign_free(&campaigns[i]);
	}
	free(campaigns);
}

static void check_summaries(struct store *store, uint64_t campaign, const struct tally *tally)
{
	struct run *summaries;
	uint64_t number;
	size_t n;

	world_good(store_last_failed(store, campaign, &number));
	assert_int_equal(number, tally->last_failed);
	world_good(store_runs(store, campaign, &summaries, &n));
	assert_int_equal(n, tally->counts[0]);
	for (size_t i = 0; i < n; i++) {
		const struct observations *counts = &summaries[i].observations;
		struct run whole;

		assert_true(!i || summaries[i].number > summaries[i - 1].number);
		world_good(store_run(store, summaries[i].number, &whole, NULL));
		assert_int_equal(counts->npairs, whole.observations.npairs);
		assert_int_equal(counts->npredecessors, whole.observations.npredecessors);
		assert_int_equal(counts->nedges, whole.observations.nedges);
		assert_int_equal(counts->nthreads, whole.observations.nthreads);
		assert_true(summaries[i].wall_s == whole.wall_s && summaries[i].label == whole.label);
		assert_true(!counts->pairs && !counts->predecessors && !counts->edges);
		run_free(&whole);
		run_free(&summaries[i]);
	}
	free(summaries);
}

static void test_campaigns_and_summaries(void **state)
{
	(void)state;
	struct tally tallies[4] = { 0 }; /* by campaign; 0 is all of them */
	struct world world;
	uint64_t second, third;

	world_make(&world, 5);
	struct store *store = world_open(&world);

	assert_int_equal(world_campaign(store, "/p"), 1);
	assert_int_equal(world_campaign(store, "/p"), 1);
	world_good(store_campaign(store, "/p", (char *[]){ "-x", "", "a", "b", NULL }, 1, &second));
	world_good(store_campaign(store, "/p", (char *[]){ NULL }, 1, &third));
	assert_true(second == 2 && third == 3);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t campaign = 1 + world_below(&world, 2);
		struct run run;

		world_run(&world, i, 5, &run);
		world_good(store_add(store, campaign, &run));
		for (uint64_t of = 0; of <= campaign; of += campaign) {
			tallies[of].counts[0]++;
			tallies[of].counts[run.label]++;
			if (run.label == LABEL_FAIL)
				tallies[of].last_failed = run.number;
		}
		run_free(&run);
	}
	check_campaigns(store, tallies);
	for (uint64_t of = 0; of < 4; of++)
		check_summaries(store, of, &tallies[of]);
	store_close(store);
	world_end(&world);
}

static void test_sites(void **state)
{
	(void)state;
	const struct site *site;
	struct world world;
	struct run run;
	uint32_t *found;
	size_t n;

	world_make(&world, 3);
	struct store *store = world_open(&world);

	world_bad(store_site(store, 0, &site), "no site #0");
	world_run(&world, 1, 5, &run);
	world_good(store_add(store, world_campaign(store, "/p"), &run));
	world_bad(store_site(store, SITE_NIL, &site), "no site");
	world_good(store_sites_at(store, "u0.c", 10, 0, &found, &n));
	assert_true(n >= 2 && n % 2 == 0); /* two sites to a line, one or more programs */
	for (size_t i = 0; i < n; i++) {
		world_good(store_site(store, found[i], &site));
		assert_int_equal(site->line, 10);
		assert_non_null(strstr(site->file, "/u0.c"));
	}
	free(found);
	world_good(store_sites_at(store, "./p0/u0.c", 10, 2, &found, &n));
	assert_int_equal(n, 1);
	world_good(store_site(store, found[0], &site));
	assert_string_equal(site->file, "/src/p0/u0.c");
	assert_string_equal(site->function, "f0");
	free(found);
	world_good(store_sites_at(store, "/src/p0/u0.c", 10, 1, &found, &n));
	assert_int_equal(n, 1);
	free(found);
	world_good(store_sites_at(store, "0.c", 10, 0, &found, &n));
	assert_int_equal(n, 0);
	free(found);
	run_free(&run);
	store_close(store);
	world_end(&world);
}

/* A run that cannot be stored leaves nothing, and the next one goes in as if it had not been. */
static void test_bad_runs_leave_nothing(void **state)
{
	(void)state;
	struct reference reference = { 0 };
	struct world world;
	struct run run, *all;
	size_t n;

	world_make(&world, 8);
	struct store *store = world_open(&world);
	uint64_t campaign = world_campaign(store, "/p");

	for (uint64_t i = 0; i < 30; i++) {
		world_run(&world, 1000 + i, 20, &run);
		struct observations *seen = &run.observations;

		if (seen->nedges) {
			seen->edges[seen->nedges - 1].sink = 1000000;
			world_bad(store_add(store, campaign, &run), "site 1000000");
		}
		if (i == 7) {
			seen->units[0].hash ^= 1;
			world_bad(store_add(store, campaign, &run), "is not the file that ran");
		}
		run_free(&run);
		world_run(&world, i, 20, &run);
		world_bad(store_add(store, 99, &run), "no campaign 99");
		world_good(store_add(store, campaign, &run));
		check_membership(store, &reference, &run);
		world_check_run(store, &run, campaign);
		run_free(&run);
	}
	check_interned(store, &reference, campaign);
	world_good(store_runs(store, 0, &all, &n));
	assert_int_equal(n, 30);
	while (n)
		run_free(&all[--n]);
	free(all);
	world_bad(store_run(store, 31, &run, NULL), "no run 31");
	reference_free(&reference);
	store_close(store);
	world_end(&world);
}

/* Who comes second finds the store that the first has made. */
static void test_several_creators(void **state)
{
	(void)state;
	enum { CREATORS = 4 };
	pid_t children[CREATORS];

	for (int round = 0; round < 15; round++) {
		struct world world;
		struct run *all;
		size_t n;

		world_make(&world, 2);
		for (uint64_t i = 0; i < CREATORS; i++) {
			children[i] = fork();
			if (children[i])
				continue;
			struct store *store = world_open(&world);
			struct run run;

			world_run(&world, i, 5, &run);
			world_good(store_add(store, world_campaign(store, "/p"), &run));
			store_close(store);
			_exit(0); /* a failed check ends the child in another way */
		}
		for (int i = 0; i < CREATORS; i++) {
			int status;

			assert_int_equal(waitpid(children[i], &status, 0), children[i]);
			assert_int_equal(status, 0);
		}
		struct store *store = world_open(&world);

		world_good(store_runs(store, 1, &all, &n));
		assert_int_equal(n, CREATORS);
		while (n)
			run_free(&all[--n]);
		free(all);
		store_close(store);
		assert_int_equal(world_files_in(world.store), 1);
		world_end(&world);
	}
}

enum { WRITERS = 2, EACH = 150 };

static void write_runs(struct world *world, uint64_t writer)
{
	struct store *store = world_open(world);
	uint64_t campaign = world_campaign(store, "/p");

	for (uint64_t i = 0; i < EACH; i++) {
		struct run run;

		world_run(world, writer * EACH + i, 10, &run);
		run.started = (int64_t)(writer * EACH + i); /* tells which one it is */
		world_good(store_add(store, campaign, &run));
		run_free(&run);
	}
	store_close(store);
}

static void test_two_writers(void **state)
{
	(void)state;
	struct reference reference = { 0 };
	struct world world;
	pid_t children[WRITERS];
	struct run *all;
	size_t n;

	world_make(&world, 21);
	for (uint64_t i = 0; i < WRITERS; i++) {
		children[i] = fork();
		if (!children[i]) {
			write_runs(&world, i);
			_exit(0); /* a failed check ends the child in another way */
		}
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	struct store *store = world_open(&world);

	world_good(store_runs(store, 1, &all, &n));
	assert_int_equal(n, WRITERS * EACH);
	for (size_t i = 0; i < n; i++) {
		struct run run;

		world_run(&world, (uint64_t)all[i].started, 10, &run);
		run.started = all[i].started;
		run.number = all[i].number;
		check_membership(store, &reference, &run);
		world_check_run(store, &run, 1);
		run_free(&run);
		run_free(&all[i]);
	}
	free(all);
	check_interned(store, &reference, 1);
	reference_free(&reference);
	store_close(store);
	world_end(&world);
}

static void test_reader_beside_writer(void **state)
{
	(void)state;
	struct world world;
	struct store *reader;
	struct run run;

	world_make(&world, 30);
	struct store *writer = world_open(&world);
	uint64_t campaign = world_campaign(writer, "/p");

	world_good(store_open(world.store, false, &reader));
	for (uint64_t i = 0; i < 50; i++) {
		world_run(&world, i, 10, &run);
		world_good(store_add(writer, campaign, &run));
		world_check_run(reader, &run, campaign);
		run_free(&run);
	}
	store_close(writer);
	world_good(store_run(reader, 50, &run, NULL));
	run_free(&run);
	store_close(reader);
	assert_int_equal(world_files_in(world.store), 1);
	world_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_machine_counts),
		cmocka_unit_test(test_campaigns_and_summaries),
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_bad_runs_leave_nothing),
		cmocka_unit_test(test_several_creators),
		cmocka_unit_test(test_two_writers),
		cmocka_unit_test(test_reader_beside_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
