/* Blocks of readers (loom/runtime/observe/readers.c, lists.c) against a naive twin that keeps
 * every reader's last read in a plain array: few sites, where lists are shared; so many that
 * there are no numbers left; more readers than a list names; slots that are given away; threads
 * that read at the same time. And what a block costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "loom/runtime/observe/readers.h"
#include "loom/runtime/observe/spare.h"
#include "tests/runtime_alone.h"

enum { THREADS = 12, CELLS = 64, SITES = 16 };

/* A thread logs what its read teaches, at the latest when it learns it for the first time. */
static uint8_t observed[THREADS + 1][SITES][SITES];
static bool watches; /* then only the predecessor at hand may come */
static uint32_t site_now, before_now;

void observe_predecessor(struct thread *self, uint32_t site, uint32_t before)
{
	if (!watches)
		return;
	assert_int_equal(site, site_now);
	assert_int_equal(before, before_now);
	if (site < SITES && before < SITES)
		observed[self->slot][site][before] = 1;
}

/* ---- the twin ---- */

struct twin {
	uint32_t n, latest, before; /* latest: which one */
	struct {
		uint32_t slot, site, order;
	} reads[2 * THREADS];
};

static struct thread *threads; /* by slot */
static struct cell cells[CELLS];
static struct twin twins[CELLS];
static uint64_t seed = 11;
static uint32_t order, nthreads = THREADS; /* that read */

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static uint64_t word_of(uint32_t slot, uint32_t site, uint32_t at)
{
	return (uint64_t)slot << WORD_SLOT_SHIFT | (uint64_t)site << WORD_SITE_SHIFT | at;
}

static uint32_t twin_last(const struct twin *twin, uint32_t slot)
{
	return twin->reads[twin->latest].slot == slot ? twin->before : twin->reads[twin->latest].site;
}

static void twin_read(struct twin *twin, uint32_t slot, uint32_t site)
{
	uint32_t i = 0;
	if (twin->n)
		twin->before = twin_last(twin, slot);
	while (i < twin->n && twin->reads[i].slot != slot)
		i++;
	twin->n += i == twin->n;
	twin->latest = i;
	twin->reads[i].slot = slot;
	twin->reads[i].site = site;
	twin->reads[i].order = order;
}

static void compare(const struct cell *cell, const struct twin *twin)
{
	struct readers_walk walk = { .number = readers_of(cell, cell->read) };
	assert_true(!twin->n || walk.number);
	/* In any order; orders differ. */
	uint32_t n = 0;
	for (uint64_t word; (word = readers_next(&walk)); n++) {
		uint32_t i = 0;
		while (i < twin->n && twin->reads[i].order != WORD_ORDER(word))
			i++;
		assert_true(i < twin->n);
		assert_int_equal(WORD_SLOT(word), twin->reads[i].slot);
		assert_int_equal(WORD_SITE(word), twin->reads[i].site);
	}
	assert_int_equal(n, twin->n);
	for (uint32_t slot = 1; twin->n && slot <= THREADS; slot++)
		assert_int_equal(readers_last(&threads[slot], cell->read), twin_last(twin, slot));
	if (!twin->n)
		return;
	assert_int_equal(WORD_SLOT(readers_latest(cell->read)), twin->reads[twin->latest].slot);
	assert_int_equal(WORD_SITE(readers_latest(cell->read)), twin->reads[twin->latest].site);
}

/* ---- what happens to cells ---- */

/* As cell.c does it. */
static enum reading note_read(uint32_t slot, struct cell *cell, uint64_t word)
{
	enum reading reading = readers_read(&threads[slot], readers_of(cell, cell->read), word);
	if (reading == READING_AGAIN)
		return reading;
	uint32_t number = readers_add(&threads[slot], cell->read, word, cell);
	if (number != cell->read)
		readers_free(&threads[slot], cell->read);
	cell->read = number;
	return reading;
}

static void begin(uint32_t slot, struct cell *cell, struct twin *twin, uint32_t sites)
{
	uint64_t words[3];
	uint32_t n = 2 + below(2), before = 1 + below(sites - 1);
	*twin = (struct twin){ 0 };
	for (uint32_t i = 0; i < n; i++) {
		uint32_t who = (slot + i) % nthreads + 1, site = 1 + below(sites - 1);
		words[i] = word_of(who, site, ++order);
		twin_read(twin, who, site);
	}
	twin->before = before;
	cell->read = readers_new(&threads[slot], cell, words, n, before);
}

static void end(uint32_t slot, struct cell *cell, struct twin *twin)
{
	readers_free(&threads[slot], cell->read);
	cell->read = 0;
	twin->n = 0;
}

static void rename_one(uint32_t *reader)
{
	if (READER_SLOT(*reader) == 1)
		*reader = READER_SITE(*reader) | SLOT_GONE << 22;
}

/* The slot of thread 1 goes to another thread. */
static void recycle(void)
{
	readers_recycle(rename_one);
	runtime.recycled++;
	memset(threads[1].listed, 0, sizeof threads[1].listed);
	for (int i = 0; i < CELLS; i++)
		for (uint32_t k = 0; k < twins[i].n; k++)
			if (twins[i].reads[k].slot == 1)
				twins[i].reads[k].slot = SLOT_GONE;
}

/* It read at another site since, as the thread itself or another one knows. */
static void correct(uint32_t slot, struct cell *cell, struct twin *twin, uint32_t site)
{
	uint32_t which = below(twin->n), whose = twin->reads[which].slot;
	if (whose == SLOT_GONE)
		return;
	if (readers_correct(&threads[below(2) ? whose : slot], cell, cell->read, whose, site))
		twin->reads[which].site = site;
	else
		assert_true(lists_are_full());
}

static void one_step(uint32_t sites)
{
	uint32_t which = below(CELLS), slot = 1 + below(nthreads), what = below(100);
	struct cell *cell = &cells[which];
	struct twin *twin = &twins[which];
	if (!twin->n) {
		begin(slot, cell, twin, sites);
	} else if (what < 5) {
		end(slot, cell, twin);
	} else if (what < 8) {
		struct cell *other = &cells[(which + 1) % CELLS];
		readers_free(&threads[slot], other->read);
		other->read = readers_copy(&threads[slot], cell->read, other);
		twins[other - cells] = *twin;
	} else if (what == 8 && twin->n < THREADS && below(20) == 0) {
		recycle();
	} else if (what < 24) {
		correct(slot, cell, twin, 1 + below(sites - 1));
	} else {
		uint32_t site = 1 + below(sites - 1);
		bool first = true;
		order++;
		for (uint32_t i = 0; i < twin->n; i++)
			first = first && twin->reads[i].slot != slot;
		twin_read(twin, slot, site);
		watches = true;
		site_now = site;
		before_now = twin->before;
		enum reading reading = note_read(slot, cell, word_of(slot, site, order));
		watches = false;
		assert_int_equal(reading == READING_FIRST, first);
		assert_true(sites > SITES || observed[slot][site][before_now]);
	}
	compare(cell, twin);
}

static int prepare(void **state)
{
	(void)state;
	readers_start();
	threads = calloc(THREADS + 1, sizeof *threads);
	for (uint32_t slot = 1; slot <= THREADS; slot++)
		threads[slot].slot = slot;
	return 0;
}

static int tidy(void **state)
{
	(void)state;
	free(threads);
	return 0;
}

/* Lists and blocks stay from test to test. */
static int clear(void **state)
{
	(void)state;
	for (int i = 0; i < CELLS; i++) {
		readers_free(&threads[1], cells[i].read);
		cells[i] = (struct cell){ 0 };
		twins[i] = (struct twin){ 0 };
	}
	return 0;
}

/* ---- tests ---- */

/* The same steps come again and again. */
static void test_few_threads(void **state)
{
	(void)state;
	nthreads = 3;
	for (int i = 0; i < 200000; i++)
		one_step(4);
	nthreads = THREADS;
}

static void test_few_sites(void **state)
{
	(void)state;
	for (int i = 0; i < 200000; i++)
		one_step(SITES);
	for (int kind = 0; kind < (int)READERS_KINDS; kind++)
		assert_true(runtime.next_readers[kind] > 0);
}

static void test_more_lists_than_numbers(void **state)
{
	(void)state;
	for (int i = 0; i < 600000; i++)
		one_step(WORD_SITE_MASK);
	assert_true(lists_are_full());
}

static void test_short_run(void **state)
{
	(void)state;
	uint32_t before[READERS_KINDS];
	memcpy(before, runtime.next_readers, sizeof before);
	runtime.lean = true;
	for (int i = 0; i < 20000; i++)
		one_step(SITES);
	assert_memory_equal(before + 1, runtime.next_readers + 1, sizeof before - sizeof *before);
	runtime.lean = false;
	for (int i = 0; i < 20000; i++)
		one_step(SITES);
}

/* Three readers take 16 bytes, five 24, nine 40. */
static void test_sizes(void **state)
{
	(void)state;
	enum { N = 1000 };
	static struct cell many[N];
	static const uint32_t sizes[][2] = { { 3, 16 }, { 5, 24 }, { 9, 40 } };
	for (uint32_t kind = 1; kind <= 3; kind++) {
		for (int i = 0; i < N; i++) {
			uint64_t words[] = { word_of(1, 1, 1), word_of(2, 2, 2) };
			many[i].read = readers_new(&threads[1], &many[i], words, 2, 3);
			for (uint32_t slot = 3; slot <= sizes[kind - 1][0]; slot++)
				note_read(slot, &many[i], word_of(slot, slot, slot));
		}
		const uint8_t *block = (const uint8_t *)LISTED_START + LISTED_SPAN * kind;
		/* Each thread keeps some that it has freed. */
		size_t used = (size_t)(N + 64 * THREADS + 1) * sizes[kind - 1][1];
		for (size_t i = used; i < 2 * used; i++)
			assert_int_equal(block[i], 0);
		assert_true(runtime.next_readers[kind] >= N);
	}
	assert_int_equal(runtime.next_readers[0], 0);
}

static uint32_t given(void)
{
	const struct spare *spare = &threads[1].spares[SPARE_READERS];
	return spare_chunk_at(spare->kept)->n + spare_chunk_at(spare->loaded)->n + spare->at;
}

/* A cell that two threads changed at once may name anything. */
static void test_foreign_numbers(void **state)
{
	(void)state;
	uint32_t spares = given();
	begin(1, &cells[0], &twins[0], SITES);
	assert_int_equal(readers_of(&cells[1], cells[0].read), 0);
	const struct cell *round = (const struct cell *)(1ull << 32); /* its low bits are those of no home */
	assert_int_equal(readers_of(round, ~0u) + readers_of(round, 3u << 30), 0);
	const uint32_t wrong[] = { 0, 7, 1u << 28, 1u << 30, (1u << 30) + 5, 2u << 30, 3u << 30, ~0u };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(readers_of(&cells[0], wrong[i]), 0);
		assert_true(readers_correct(&threads[1], &cells[0], wrong[i], 1, 1));
		readers_free(&threads[1], wrong[i]);
	}
	assert_int_equal(given(), spares);
	for (uint32_t slot = 1; slot <= THREADS; slot++)
		assert_true(readers_correct(&threads[1], &cells[1], cells[0].read, slot, SITES + 1));
	compare(&cells[0], &twins[0]);
}

/* ---- at the same time ---- */

enum { TOGETHER = 8, TURNS = 100000 };
static uint64_t last_words[TOGETHER + 1][CELLS];

/* Nobody but the thread itself changes what the block says of it. */
static uint64_t word_in(const struct cell *cell, uint32_t slot)
{
	struct readers_walk walk = { .number = cell->read };
	for (uint64_t word; (word = readers_next(&walk));)
		if (WORD_SLOT(word) == slot)
			return word;
	return 0;
}

static void *read_at_once(void *argument)
{
	uint32_t slot = (uint32_t)(uintptr_t)argument;
	uint64_t mine = slot * 0x9e3779b97f4a7c15u;
	for (uint32_t i = 1; i <= TURNS; i++) {
		mine = mine * 6364136223846793005u + 1442695040888963407u;
		uint32_t which = (mine >> 33) % 4, site = 1 + (mine >> 40) % 3;
		uint64_t word = word_of(slot, site, i);
		if (word_in(&cells[which], slot) != last_words[slot][which] ||
		    readers_read(&threads[slot], cells[which].read, word) != READING_AGAIN)
			return argument;
		last_words[slot][which] = word;
	}
	return NULL;
}

static void test_at_once(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		uint64_t words[] = { word_of(1, 1, 0), word_of(2, 1, 0) };
		cells[i].read = readers_new(&threads[1], &cells[i], words, 2, 1);
		for (uint32_t slot = 3; slot <= TOGETHER; slot++)
			note_read(slot, &cells[i], word_of(slot, 1, 0));
		for (uint32_t slot = 1; slot <= TOGETHER; slot++)
			last_words[slot][i] = word_of(slot, 1, 0);
	}
	pthread_t ids[TOGETHER + 1];
	for (uintptr_t slot = 1; slot <= TOGETHER; slot++)
		assert_int_equal(pthread_create(&ids[slot], NULL, read_at_once, (void *)slot), 0);
	for (int slot = 1; slot <= TOGETHER; slot++) {
		void *result;
		pthread_join(ids[slot], &result);
		assert_null(result);
	}
	for (int i = 0; i < 4; i++) {
		for (int slot = 1; slot <= TOGETHER; slot++)
			assert_true(word_in(&cells[i], (uint32_t)slot) == last_words[slot][i]);
	}
	assert_int_equal(runtime.next_readers[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes), /* of all that there is so far */
		cmocka_unit_test_setup(test_foreign_numbers, clear),
		cmocka_unit_test_setup(test_at_once, clear),
		cmocka_unit_test_setup(test_few_threads, clear),
		cmocka_unit_test_setup(test_few_sites, clear),
		cmocka_unit_test_setup(test_short_run, clear),
		cmocka_unit_test_setup(test_more_lists_than_numbers, clear), /* from then on there are none */
	};
	return cmocka_run_group_tests(tests, prepare, tidy);
}
