/* Spare blocks (loom/runtime/observe/spare.c) against a map of all memory that says who has what:
 * no two blocks overlap, whatever their kinds; none is handed out again before its thread
 * has freed a good many more; memory of one kind that is free serves the smaller ones, also
 * when the thread that freed it has ended; and threads at the same time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "loom/runtime/observe/cells.h"
#include "loom/runtime/observe/spare.h"

struct runtime runtime;

void *runtime_map(uint64_t at, size_t size)
{
	void *memory = mmap((void *)at, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	assert_true(memory != MAP_FAILED);
	return memory;
}

void runtime_die(const char *what)
{
	fail_msg("%s", what);
}

enum { THREADS = 5, LIVE = 3000, ROUNDS = 400000, KEPT = 64 };

static const enum spare_kind kinds[] = { SPARE_CUTS, SPARE_ROWS, SPARE_ARRAYS };

/* Memory in pieces as large as an array. */
#define PIECES (1u << 22)
static uint8_t has[PIECES]; /* a block */
static struct {
	uint8_t thread, kind;
	uint32_t frees; /* of that thread and kind, when it was freed; 0 = never */
} freed[PIECES];

static struct thread *threads;
static uint32_t frees[THREADS][3];

struct block {
	uint32_t kind, number;
};
static struct block live[LIVE];
static uint32_t nlive;

static uint64_t seed = 3;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static uint32_t first_piece(struct block block)
{
	return block.number << (2 - block.kind);
}

static uint32_t pieces(struct block block)
{
	return 4u >> block.kind;
}

static struct block take(uint32_t thread, uint32_t kind)
{
	struct block block = { kind, spare_block(&threads[thread].spares[kinds[kind]], kinds[kind]) };
	assert_true(block.number && first_piece(block) + pieces(block) <= PIECES);
	for (uint32_t i = first_piece(block); i < first_piece(block) + pieces(block); i++) {
		assert_false(has[i]);
		has[i] = 1;
		assert_true(!freed[i].frees ||
			    frees[freed[i].thread][freed[i].kind] - freed[i].frees >= KEPT);
	}
	return block;
}

static void give(uint32_t thread, struct block block)
{
	uint32_t n = ++frees[thread][block.kind];
	for (uint32_t i = first_piece(block); i < first_piece(block) + pieces(block); i++) {
		has[i] = 0;
		freed[i].thread = (uint8_t)thread;
		freed[i].kind = (uint8_t)block.kind;
		freed[i].frees = n;
	}
	spare_give(&threads[thread].spares[kinds[block.kind]], kinds[block.kind], block.number);
}

static int prepare(void **state)
{
	(void)state;
	spare_start();
	return 0;
}

static int begin(void **state)
{
	(void)state;
	memset(has, 0, sizeof has);
	memset(freed, 0, sizeof freed);
	memset(frees, 0, sizeof frees);
	nlive = 0;
	threads = calloc(THREADS, sizeof *threads);
	return threads ? 0 : 1;
}

static int end(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < THREADS; i++)
		spare_leave(&threads[i]);
	free(threads);
	return 0;
}

/* ---- tests ---- */

/* Each thread takes and frees, also what others took; what is wanted changes all the time. */
static void test_nothing_overlaps(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t thread = below(THREADS), favourite = round / 20000 % 3;
		bool grows = round / 7000 % 2 == 0;
		if (nlive < LIVE && below(8) < (grows ? 6 : 2)) {
			live[nlive++] = take(thread, below(4) ? favourite : below(3));
		} else if (nlive) {
			uint32_t which = below(nlive);
			give(thread, live[which]);
			live[which] = live[--nlive];
		}
	}
	/* Bounded by what was live at once, three times over, and what threads keep. */
	assert_true(runtime.next_blocks < 3 * LIVE + 3 * THREADS * 4 * SPARE_CHUNK_MOST);
	while (nlive)
		give(0, live[--nlive]);
}

static void test_memory_is_shared(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < LIVE; i++)
		live[i] = take(0, 0);
	for (uint32_t i = 0; i < LIVE; i++)
		give(0, live[i]);
	uint32_t before = runtime.next_blocks;
	for (uint32_t i = 0; i < LIVE; i++) /* half of it */
		live[i] = take(1, 1);
	for (uint32_t i = 0; i < LIVE; i++)
		take(2, 2);
	assert_true(runtime.next_blocks - before <= 8);
	for (uint32_t i = 0; i < LIVE; i++)
		give(1, live[i]);
	before = runtime.next_blocks;
	for (uint32_t i = 0; i < LIVE; i++) /* rows once more divided */
		take(2, 2);
	assert_true(runtime.next_blocks - before <= 8);
}

static void test_what_the_ended_had(void **state)
{
	(void)state;
	enum { FEW = 100 };
	for (uint32_t i = 0; i < FEW; i++)
		live[i] = take(3, 1);
	for (uint32_t i = ROWS_IN_HAND; i < FEW; i++)
		give(3, live[i]);
	for (uint32_t i = 0; i < ROWS_IN_HAND; i++) { /* rows.c frees them so */
		memset(&has[first_piece(live[i])], 0, pieces(live[i]));
		threads[3].rows_in_hand[i] = live[i].number;
	}
	uint32_t before = runtime.next_blocks;
	spare_leave(&threads[3]);
	memset(freed, 0, sizeof freed); /* it frees no more */
	for (uint32_t i = 0; i < FEW; i++)
		take(4, 1);
	assert_true(runtime.next_blocks == before);
	while (runtime.next_blocks == before)
		take(4, 1);
	for (uint32_t i = 0; i < ROWS_IN_HAND; i++)
		assert_true(has[first_piece(live[i])]);
}

/* ---- at the same time ---- */

static void *churn(void *which)
{
	struct thread *self = which;
	uint64_t mine = (uint64_t)(self - threads) + 1, drawn = mine;
	struct block own[200];
	uint32_t n = 0;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		drawn = drawn * 6364136223846793005u + 1442695040888963407u;
		uint32_t kind = (uint32_t)(drawn >> 40) % 3;
		if (n < 200 && (drawn >> 50 & 1 || !n)) {
			own[n] = (struct block){ kind, spare_block(&self->spares[kinds[kind]], kinds[kind]) };
			for (uint32_t i = 0; i < pieces(own[n]); i++)
				if (__atomic_exchange_n(&has[first_piece(own[n]) + i], 1, __ATOMIC_RELAXED))
					return "two have it";
			n++;
			continue;
		}
		struct block block = own[--n];
		for (uint32_t i = 0; i < pieces(block); i++)
			__atomic_store_n(&has[first_piece(block) + i], 0, __ATOMIC_RELAXED);
		spare_give(&self->spares[kinds[block.kind]], kinds[block.kind], block.number);
	}
	return NULL;
}

static void test_at_once(void **state)
{
	(void)state;
	pthread_t all[THREADS];
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&all[i], NULL, churn, &threads[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		void *wrong;
		pthread_join(all[i], &wrong);
		assert_null(wrong);
	}
}

/* Arrays have numbers of 22 bits; the others go on behind. */
static void test_many(void **state)
{
	(void)state;
	struct spare rows = { 0 }, arrays = { 0 };
	uint32_t last = 0;
	for (uint32_t i = 0; i < 1u << 20; i++)
		last = spare_block(&rows, SPARE_ROWS);
	assert_true(last >= 1u << 21 && runtime.next_far_blocks);
	uint32_t n = 0, number;
	while ((number = spare_block(&arrays, SPARE_ARRAYS))) {
		assert_true(number < 1u << 22);
		n++;
	}
	assert_true(n > 3u << 20);
	assert_true(spare_block(&rows, SPARE_ROWS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_overlaps, begin, end),
		cmocka_unit_test_setup_teardown(test_memory_is_shared, begin, end),
		cmocka_unit_test_setup_teardown(test_what_the_ended_had, begin, end),
		cmocka_unit_test_setup_teardown(test_at_once, begin, end),
		cmocka_unit_test_setup_teardown(test_many, begin, end),
	};
	return cmocka_run_group_tests(tests, prepare, NULL);
}
