/* Harvest on areas made by hand: known ones, random ones against a naive
 * reference, and hostile ones of which only soundness of the result is asked.
 */
#include "tests/harvest_world.h"

#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "loom/harvest.h"

static struct observations harvest_ok(int fd)
{
	struct observations seen;

	assert_null(harvest(fd, &seen));
	return seen;
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		random_seed(seed);
		_cleanup_free_ struct area *area = area_new(1 + below(MAX_PROCESSES));

		for (uint32_t i = 0; i < area->head.processes; i++)
			area_random_process(&area->processes[i]);
		_cleanup_close_ int fd = area_file(area);
		_cleanup_(observations_free) struct observations seen = harvest_ok(fd);
		_cleanup_(observations_free) struct observations wanted = naive_harvest(area);

		assert_same_observations(&seen, &wanted);
	}
}

/* Known ones. */

static void test_nothing(void **state)
{
	(void)state;
	_cleanup_free_ struct area *area = area_new(0);
	_cleanup_close_ int fd = area_file(area);
	_cleanup_(observations_free) struct observations seen = harvest_ok(fd);

	assert_int_equal(seen.nprocesses, 0);
	assert_int_equal(seen.nunits + seen.npairs + seen.npredecessors + seen.nedges, 0);
	assert_int_equal(seen.dropped, 0);
}

static void test_two_processes(void **state)
{
	(void)state;
	_cleanup_free_ struct area *area = area_new(2);
	struct process *p = &area->processes[0], *q = &area->processes[1];

	/* The second process numbers the shared unit differently. */
	p->nunits = 1;
	p->units[0] = (struct area_unit){ .hash = 7, .first = 1, .nsites = 4, .path = 0, .state = 1 };
	q->nunits = 2;
	q->units[0] = (struct area_unit){ .hash = 8, .first = 1, .nsites = 10, .path = 7, .state = 1 };
	q->units[1] = (struct area_unit){ .hash = 7, .first = 11, .nsites = 4, .path = 0, .state = 1 };
	p->npairs = 1;
	p->pairs[0] = (struct area_pair){ .state = 1,
					  .kind = 2,
					  .head_site = 4,
					  .tail_site = 1,
					  .tail_thread = 1,
					  .head_order = 50,
					  .tail_loop = { 2, 5, AREA_ITERATION_UNKNOWN } };
	q->npairs = 2;
	q->pairs[0] = (struct area_pair){
		.state = 1, .kind = 2, .head_site = 14, .tail_site = 11, .tail_thread = 1, .head_order = 99
	};
	q->pairs[1] = (struct area_pair){ .state = 1, .kind = 3, .head_site = 10, .tail_site = 11 };
	p->npredecessors = 1;
	p->predecessors[0] = (struct area_predecessor){ .state = 1, .site = 3, .before = 0 };
	q->nedges = 1;
	q->edges[0] = (struct area_edge){
		.state = 1, .sink = 1, .source_context = 9, .sink_context = 5, .write = 1
	};

	_cleanup_close_ int fd = area_file(area);
	_cleanup_(observations_free) struct observations seen = harvest_ok(fd);

	assert_int_equal(seen.nunits, 2);
	assert_string_equal(seen.units[0].path, "/bin/a");
	assert_string_equal(seen.units[1].path, "/lib/b.so");
	assert_int_equal(seen.units[1].first, 4);
	assert_int_equal(seen.npairs, 2);
	assert_int_equal(seen.pairs[0].head_site, 3);
	assert_int_equal(seen.pairs[0].head_order, 50);
	assert_int_equal(seen.pairs[0].head_loop.site, LOOP_NONE);
	assert_int_equal(seen.pairs[0].tail_loop.site, 1);
	assert_int_equal(seen.pairs[0].tail_loop.entry, 5);
	assert_int_equal(seen.pairs[0].tail_loop.iteration, ITERATION_UNKNOWN);
	assert_int_equal(seen.pairs[1].head_site, 13);
	assert_int_equal(seen.pairs[1].tail_site, 0);
	assert_int_equal(seen.predecessors[0].site, 2);
	assert_int_equal(seen.predecessors[0].before, SITE_NIL);
	assert_int_equal(seen.edges[0].source, SITE_NIL);
	assert_int_equal(seen.edges[0].source_context, 0);
	assert_int_equal(seen.edges[0].sink, 4);
	assert_true(seen.edges[0].write);
	assert_int_equal(seen.dropped, 0);
}

static void test_wrong_head(void **state)
{
	(void)state;
	_cleanup_free_ struct area *area = area_new(1);

	area->head.magic++;
	_cleanup_close_ int foreign = area_file(area);
	_cleanup_(observations_free) struct observations a = harvest_ok(foreign);

	assert_int_equal(a.dropped, 1);
	assert_int_equal(a.nthreads, 0);
	area->head.magic--;
	area->head.version++;
	_cleanup_close_ int newer = area_file(area);
	_cleanup_(observations_free) struct observations b = harvest_ok(newer);

	assert_int_equal(b.dropped, 1);
}

static void test_short_file(void **state)
{
	(void)state;
	_cleanup_free_ struct area *area = area_new(3);
	_cleanup_close_ int fd = area_empty_file(0);
	_cleanup_(observations_free) struct observations none = harvest_ok(fd);

	assert_int_equal(none.dropped, 1);
	area_put(fd, 0, &area->head, sizeof area->head);
	_cleanup_(observations_free) struct observations seen = harvest_ok(fd);

	assert_int_equal(seen.dropped, 0);
	assert_int_equal(seen.nprocesses, 3);
}

static void test_unreadable(void **state)
{
	(void)state;
	struct observations seen;
	_cleanup_(error_freep) struct error *error = harvest(-1, &seen);

	assert_non_null(error);
	assert_non_null(strstr(error->message, "run area"));
	assert_int_equal(seen.npairs, 0);
}

static void test_overflowing_counts(void **state)
{
	(void)state;
	_cleanup_free_ struct area *area = area_new(AREA_PROCESSES + 5);
	struct process *p = &area->processes[0];

	p->npairs = AREA_PAIRS + 10;
	p->npredecessors = AREA_PREDECESSORS + 100;
	p->nedges = AREA_EDGES + 1000;
	p->nunits = AREA_UNITS + 10000;
	p->dropped = 100000;
	_cleanup_close_ int fd = area_file(area);
	_cleanup_(observations_free) struct observations seen = harvest_ok(fd);

	assert_int_equal(seen.dropped, 111115);
	assert_int_equal(seen.nprocesses, AREA_PROCESSES + 5);
}

/* The last entry of an array far behind a hole is found. */
static void test_behind_hole(void **state)
{
	(void)state;
	_cleanup_free_ struct area *area = area_new(1);
	struct process *p = &area->processes[0];
	struct area_edge edge = { .state = 1, .source = 1, .sink = 2 };

	p->nunits = 1;
	p->units[0] = (struct area_unit){ .hash = 7, .first = 1, .nsites = 4, .state = 1 };
	p->nedges = AREA_EDGES;
	_cleanup_close_ int fd = area_file(area);

	area_put(fd,
		 AREA_PROCESS_OFFSET(0) + offsetof(struct area_process, edges) +
			 (AREA_EDGES - 1) * sizeof edge,
		 &edge, sizeof edge);
	_cleanup_(observations_free) struct observations seen = harvest_ok(fd);

	assert_int_equal(seen.nedges, 1);
	assert_int_equal(seen.edges[0].sink, 1);
}

/* One unsound entry at a time is one dropped observation. */
static void test_unsound_entries(void **state)
{
	(void)state;
	for (int fault = 0; fault < 17; fault++) {
		_cleanup_free_ struct area *area = area_new(1);
		struct process *p = &area->processes[0];
		struct area_unit *unit = &p->units[1];

		p->nunits = 2;
		p->units[0] = (struct area_unit){ .hash = 7, .first = 1, .nsites = 4, .state = 1 };
		*unit = (struct area_unit){ .hash = 8, .first = 10, .nsites = 4, .path = 7, .state = 1 };
		p->npairs = p->npredecessors = p->nedges = p->ncouples = 1;
		p->pairs[0] = (struct area_pair){ .state = 1, .kind = 1, .head_site = 1, .tail_site = 2 };
		p->predecessors[0] = (struct area_predecessor){ .state = 1, .site = 3 };
		p->edges[0] = (struct area_edge){ .state = 1, .sink = 1 };
		p->couples[0] = (struct area_couple){ .state = 1 };
		switch (fault) {
		case 0:
			unit->state = 2;
			break;
		case 1:
			unit->path = p->path_bytes;
			break;
		case 2:
			unit->first = 0;
			break;
		case 3:
			unit->nsites = UINT32_MAX - 9;
			break;
		case 4:
			unit->hash = 7, unit->nsites = 5;
			break;
		case 5:
			unit->first = 4;
			break;
		case 6:
			p->path_bytes = 16;
			break;
		case 7:
			p->pairs[0].kind = 4;
			break;
		case 8:
			p->pairs[0].head_site = 5;
			break;
		case 9:
			p->pairs[0].tail_thread = 3;
			break;
		case 10:
			p->pairs[0].tail_loop.site = 9;
			break;
		case 11:
			p->predecessors[0].before = 14;
			break;
		case 12:
			p->edges[0].write = 2;
			break;
		case 13:
			p->edges[0].sink = 0;
			break;
		case 14:
			p->couples[0].second = 1;
			break;
		case 15:
			p->couples[0].crossed = 2;
			break;
		case 16:
			p->pairs[0].tail_thread = 1;
			break;
		}
		_cleanup_close_ int fd = area_file(area);
		_cleanup_(observations_free) struct observations seen = harvest_ok(fd);

		assert_int_equal(seen.dropped, 1);
		assert_int_equal(seen.npairs, fault < 7 || fault > 10 ? 1 : 0);
		assert_int_equal(seen.npredecessors, fault != 11);
		assert_int_equal(seen.nedges, fault != 12 && fault != 13);
		assert_int_equal(seen.ncouples, fault < 7 || (fault > 10 && fault < 14));
	}
}

/* Hostile ones. */

static void put_random(int fd, uint64_t offset, size_t size)
{
	_cleanup_free_ unsigned char *bytes = memory_alloc(size);

	/* Mostly small values and valid states, or nothing would pass the first check. */
	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t word = below(3) ? below(below(2) ? 3 : 64) : (uint32_t)random_word();

		memcpy(bytes + i, &word, 4);
	}
	area_put(fd, offset, bytes, size);
}

/* Entries that begin with 24 bits and a state. */
static void put_random_packed(int fd, uint64_t offset, size_t size)
{
	_cleanup_free_ unsigned char *bytes = memory_alloc(size);

	for (size_t i = 0; i + 4 <= size; i += 4) {
		uint32_t word = below(below(2) ? 3 : 64) | (below(4) ? below(2) : below(256)) << 24;

		memcpy(bytes + i, &word, 4);
	}
	area_put(fd, offset, bytes, size);
}

static void assert_sound(const struct observations *o)
{
	uint64_t sites = 0;

	for (size_t i = 0; i < o->nunits; i++) {
		assert_int_equal(o->units[i].first, sites);
		assert_true(strlen(o->units[i].path) < 4096);
		sites += o->units[i].nsites;
	}
	assert_true(sites <= UINT32_MAX);
	for (size_t i = 0; i < o->npairs; i++) {
		const struct pair *p = &o->pairs[i];

		assert_true(p->kind >= PAIR_WRITE_READ && p->kind <= PAIR_WRITE_WRITE);
		assert_true(p->head_site < sites && p->tail_site < sites);
		assert_true(p->head_thread < o->nthreads || p->head_thread == AREA_THREAD_GONE);
		assert_true(p->tail_thread < o->nthreads || p->tail_thread == AREA_THREAD_GONE);
		assert_true(p->head_loop.site < sites || p->head_loop.site == LOOP_NONE);
		assert_true(p->tail_loop.site < sites || p->tail_loop.site == LOOP_NONE);
	}
	for (size_t i = 0; i < o->ncouples; i++) {
		assert_true(o->couples[i].first < o->npairs && o->couples[i].second < o->npairs);
		assert_int_equal(o->pairs[o->couples[i].first].head_thread,
				 o->pairs[o->couples[i].second].tail_thread);
	}
	for (size_t i = 0; i < o->npredecessors; i++)
		assert_true(o->predecessors[i].site < sites &&
			    (o->predecessors[i].before < sites || o->predecessors[i].before == SITE_NIL));
	for (size_t i = 0; i < o->nedges; i++)
		assert_true(o->edges[i].sink < sites &&
			    (o->edges[i].source < sites || o->edges[i].source == SITE_NIL));
}

/* Nothing but noise where the runtime writes. */
static void put_noise(int fd)
{
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t base = AREA_PROCESS_OFFSET(i);

		put_random(fd, base, 48);
		put_random(fd, base + offsetof(struct area_process, slot_order), 64);
		put_random(fd, base + offsetof(struct area_process, paths), 512);
		put_random(fd, base + offsetof(struct area_process, units), 24 * 40);
		put_random(fd, base + offsetof(struct area_process, pairs), 80 * 40);
		put_random_packed(fd, base + offsetof(struct area_process, predecessors), 8 * 40);
		put_random_packed(fd, base + offsetof(struct area_process, edges), 12 * 40);
		put_random_packed(fd, base + offsetof(struct area_process, couples), 12 * 40);
	}
}

/* A sound area in which a few words of every part were overwritten. */
static void put_damaged(int fd)
{
	_cleanup_free_ struct process *p = memory_alloc(sizeof *p);

	for (uint32_t i = 0; i < 3; i++) {
		memcpy(p->paths, "/bin/a\0/lib/b.so", 17);
		p->path_bytes = 17;
		area_random_process(p);
		for (uint32_t k = below(40); k > 0; k--) {
			uint32_t at = below(k % 2 ? offsetof(struct process, pairs) : sizeof *p) & ~3u;
			uint32_t word = below(2) ? below(64) : (uint32_t)random_word();

			memcpy((char *)p + at, &word, 4);
		}
		area_put_process(fd, i, p);
	}
}

static void test_hostile(void **state)
{
	size_t taken = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		random_seed(seed * 77);
		_cleanup_close_ int fd =
			area_empty_file(seed % 10 ? AREA_SIZE : AREA_PROCESS_OFFSET(1) + below(1 << 25));
		struct area_head head = { .magic = AREA_MAGIC, .version = AREA_VERSION };

		head.processes = below(2) ? below(4) : (uint32_t)random_word();
		head.threads = below(2) ? below(64) : (uint32_t)random_word();
		area_put(fd, 0, &head, sizeof head);
		if (seed % 4 == 0)
			put_noise(fd);
		else
			put_damaged(fd);
		_cleanup_(observations_free) struct observations seen = harvest_ok(fd);

		assert_sound(&seen);
		taken += seen.nunits && seen.npairs && seen.npredecessors && seen.nedges && seen.ncouples;
	}
	/* The attack is worth something only when much gets past the first checks. */
	assert_true(taken > 100);
}

/* The bars: half a million pairs, and an area of a tiny program. */

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_many_pairs(void **state)
{
	const uint32_t n = 500000;
	_cleanup_free_ struct area *area = area_new(2);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct process *p = &area->processes[i];

		p->nunits = 2;
		p->units[0] = (struct area_unit){ .hash = 7, .first = 1, .nsites = 100000, .state = 1 };
		p->units[1] = (struct area_unit){ .hash = 8, .first = 100001, .nsites = 100000, .state = 1 };
		p->npairs = n / 2;
	}
	_cleanup_close_ int fd = area_file(area);
	_cleanup_free_ struct area_pair *pairs = memory_alloc(n * sizeof *pairs);

	for (uint32_t i = 0; i < n; i++)
		pairs[i] = (struct area_pair){ .state = 1,
					       .kind = 1 + i % 3,
					       .head_site = 1 + i % 199999,
					       .tail_site = 1 + i * 7 % 200000,
					       .head_thread = i % 2,
					       .head_loop = { 1 + i % 1000, 1, i },
					       .tail_order = i };
	for (uint32_t i = 0; i < 2; i++)
		area_put(fd, AREA_PROCESS_OFFSET(i) + offsetof(struct area_process, pairs),
			 pairs + i * (n / 2), n / 2 * sizeof *pairs);
	double start = cpu_seconds();
	_cleanup_(observations_free) struct observations seen = harvest_ok(fd);
	double took = cpu_seconds() - start;

	assert_int_equal(seen.npairs, n);
	assert_int_equal(seen.dropped, 0);
	print_message("%u pairs: %.3f s\n", n, took);
	assert_true(took < 4);
}

static void test_tiny_area(void **state)
{
	const int rounds = 200;

	(void)state;
	random_seed(5);
	_cleanup_free_ struct area *area = area_new(1);

	area_random_process(&area->processes[0]);
	area->processes[0].npairs = 12;
	area->processes[0].npredecessors = 10;
	area->processes[0].nedges = 15;
	_cleanup_close_ int fd = area_file(area);
	double start = cpu_seconds();

	for (int i = 0; i < rounds; i++) {
		_cleanup_(observations_free) struct observations seen = harvest_ok(fd);
	}
	double took = (cpu_seconds() - start) / rounds;

	print_message("a tiny area: %.1f us\n", took * 1e6);
	assert_true(took < 2e-3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),     cmocka_unit_test(test_two_processes),
		cmocka_unit_test(test_wrong_head),  cmocka_unit_test(test_short_file),
		cmocka_unit_test(test_unreadable),  cmocka_unit_test(test_overflowing_counts),
		cmocka_unit_test(test_behind_hole), cmocka_unit_test(test_unsound_entries),
		cmocka_unit_test(test_random),      cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_many_pairs),  cmocka_unit_test(test_tiny_area),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
