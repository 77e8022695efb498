/* The index of append-only logs (loom/runtime/observe/index.c) against a plain search: what was
 * put in is found, what was not is not, in small logs and in large ones, with hashes that
 * tell little apart; threads that log the same at the same time; and how much memory an
 * entry takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "loom/runtime/observe/cells.h"

/* ---- what it needs of the runtime ---- */

static struct {
	unsigned char *at;
	size_t size;
} maps[16];
static int nmaps;
static size_t near_bytes; /* such tables share pages */

static void *map(size_t size)
{
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(memory != MAP_FAILED);
	maps[nmaps].at = memory;
	maps[nmaps++].size = (size + 4095) & ~4095ull;
	return memory;
}

void *runtime_map_near(size_t size)
{
	near_bytes = size;
	return map(size);
}

void *runtime_map_far(size_t size)
{
	return map(size);
}

static size_t touched(void)
{
	size_t pages = 0;
	for (int i = 0; i < nmaps; i++)
		for (size_t at = 0; at < maps[i].size; at += 4096) {
			unsigned char present;
			assert_int_equal(mincore(maps[i].at + at, 4096, &present), 0);
			pages += present & 1;
		}
	return pages * 4096;
}

/* ---- a log ---- */

enum { MOST = 1 << 18 };
static uint64_t entries[MOST];
static uint32_t count;
static struct index log_index;

static uint64_t few_bits;

static uint64_t hash_of(uint64_t value)
{
	return observe_mix(value, 5) & ~few_bits;
}

/* The number of the entry + 1; 0 when it is not there. */
static uint32_t find(uint64_t value)
{
	struct probe probe = index_probe(hash_of(value), __atomic_load_n(&count, __ATOMIC_RELAXED));
	for (uint32_t found; (found = index_next(&log_index, &probe));) {
		assert_true(found <= MOST);
		if (entries[found - 1] == value)
			return found;
	}
	return 0;
}

static void append(uint64_t value)
{
	uint32_t entry = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
	entries[entry] = value;
	struct probe probe = index_probe(hash_of(value), entry);
	while (index_publish(&log_index, &probe, entry))
		;
}

static int begin(void **state)
{
	(void)state;
	nmaps = 0;
	count = 0;
	few_bits = 0;
	index_start(&log_index);
	return 0;
}

static int end(void **state)
{
	(void)state;
	while (nmaps)
		if (munmap(maps[nmaps - 1].at, maps[nmaps - 1].size) == 0)
			nmaps--;
	return 0;
}

/* ---- tests ---- */

static void fill_and_look(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(find(3 * (uint64_t)i), 0);
		append(3 * (uint64_t)i);
		assert_int_equal(find(3 * (uint64_t)i), i + 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(find(3 * (uint64_t)i), i + 1);
		assert_int_equal(find(3 * (uint64_t)i + 1), 0);
	}
}

static void test_all_found(void **state)
{
	(void)state;
	fill_and_look(MOST);
}

static void test_alike(void **state)
{
	(void)state;
	few_bits = 0xfffffc00u; /* all in the first places, and no tags */
	fill_and_look(3000);
}

static void test_cleared(void **state)
{
	(void)state;
	fill_and_look(5000);
	index_clear(&log_index);
	count = 0;
	assert_int_equal(find(0), 0);
	fill_and_look(5000);
}

/* At most 11 bytes for an entry, however many there are, and half a page for a few hundred. */
static void test_memory(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MOST; i++) {
		append(i);
		if (i == 350)
			assert_true(touched() == 4096 && near_bytes == 2048);
		if (i > 4096 && i % 4096 == 0)
			assert_true(touched() <= 11 * (size_t)i + 3 * 4096);
	}
}

enum { THREADS = 4, SHARED = 40000 };

/* Looks before it logs, as everybody does; what two log at once stands there twice at most. */
static void *log_all(void *unused)
{
	for (uint64_t i = 0; i < SHARED; i++)
		if (!find(i + 1))
			append(i + 1);
	return unused;
}

static void test_at_once(void **state)
{
	(void)state;
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, log_all, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_true(count >= SHARED && count <= THREADS * SHARED);
	for (uint64_t i = 0; i < SHARED; i++)
		assert_true(find(i + 1));
	assert_int_equal(find(SHARED + 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_found, begin, end),
		cmocka_unit_test_setup_teardown(test_alike, begin, end),
		cmocka_unit_test_setup_teardown(test_cleared, begin, end),
		cmocka_unit_test_setup_teardown(test_memory, begin, end),
		cmocka_unit_test_setup_teardown(test_at_once, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
