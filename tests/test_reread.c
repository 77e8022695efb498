/* Reads that are passed over (loom/runtime/observe/reread.h, reread.c) against a naive twin that knows
 * where each thread read each value last: more values than threads keep at hand, several sites,
 * values that are written anew. Whoever asks for a last site gets the right one at any time, and
 * the blocks of readers have it when it is put there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "loom/runtime/observe/reread.h"
#include "loom/runtime/observe/readers.h"
#include "tests/runtime_alone.h"

/* ---- what these rooms need of the runtime ---- */

void observe_predecessor(struct thread *self, uint32_t site, uint32_t before)
{
	(void)self;
	(void)site;
	(void)before;
}

/* ---- the twin ---- */

enum { THREADS = 5, CELLS = 3 * REREADS, SITES = 4, STEPS = 1500000 };

static _Alignas(64) struct cell cells[CELLS];
static uint32_t last_sites[CELLS][THREADS]; /* by slot; 0 = it has not read the value */
static uint32_t orders;
static uint64_t seed = 7;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static uint64_t word_of(uint32_t slot, uint32_t site)
{
	return (uint64_t)READER_AT(slot, site) << 32 | ++orders;
}

/* ---- as cell.c does it ---- */

/* By thread 1, always in the same way; then two threads read it. */
static void renew(uint32_t which)
{
	struct cell *cell = &cells[which];
	uint64_t words[] = { word_of(1, 1 + below(SITES)), word_of(2, 1 + below(SITES)) };
	if (cell->read)
		readers_free(&runtime.threads[1], cell->read);
	memset(last_sites[which], 0, sizeof last_sites[which]);
	for (int i = 0; i < 2; i++)
		last_sites[which][WORD_SLOT(words[i])] = WORD_SITE(words[i]);
	cell->owner = OWNER(0u, FORM_WHOLE, MODE_MANY);
	cell->history = 1u << HISTORY_BITS | 5;
	cell->write = ++orders;
	cell->read = readers_new(&runtime.threads[2], cell, words, 2, 3);
}

static uint32_t passed, listed;

static void read_at(uint32_t slot, uint32_t which, uint32_t site)
{
	struct thread *self = &runtime.threads[slot];
	struct cell *cell = &cells[which], now = *cell;
	uint64_t word = word_of(slot, site);
	bool first = !last_sites[which][slot];
	last_sites[which][slot] = site;
	if (passes_over(self, cell, word) || passes_over_listed(self, cell, word)) {
		assert_false(first);
		passed++;
		return;
	}
	reread_put_latest(self, cell, now);
	uint32_t list = readers_list(cell, now.read);
	enum reading reading = readers_read(self, now.read, word);
	if (reading != READING_AGAIN)
		cell->read = readers_add(self, now.read, word, cell);
	if (cell->read != now.read)
		readers_free(self, now.read);
	assert_int_equal(reading == READING_FIRST, first);
	note_reread(self, cell, now, word, !first);
	if (list && list_names(list, READER(word))) {
		note_listed_reread(self, now, list, word);
		listed++;
	}
}

/* With what is not in the block yet, or without. */
static void check(uint32_t which, bool in_block)
{
	struct readers_walk walk = { .number = cells[which].read };
	uint32_t n = 0;
	for (uint64_t word; (word = readers_next(&walk)); n++) {
		uint64_t last = in_block ? word : last_read(&cells[which], cells[which], word);
		assert_int_equal(WORD_SLOT(last), WORD_SLOT(word));
		assert_int_equal(WORD_SITE(last), last_sites[which][WORD_SLOT(word)]);
	}
	for (uint32_t slot = 1; slot < THREADS; slot++)
		n -= last_sites[which][slot] != 0;
	assert_int_equal(n, 0);
}

static int prepare(void **state)
{
	(void)state;
	readers_start();
	runtime.threads = calloc(THREADS, sizeof *runtime.threads);
	for (uint32_t slot = 1; slot < THREADS; slot++)
		runtime.threads[slot].slot = slot;
	for (uint32_t which = 0; which < CELLS; which++)
		renew(which);
	return 0;
}

static int tidy(void **state)
{
	(void)state;
	free(runtime.threads);
	return 0;
}

/* ---- tests ---- */

/* Mostly a few values far and near, and all of them by and by. */
static void test_last_sites(void **state)
{
	(void)state;
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t which = below(2) ? below(CELLS) : below(64) + below(3) * REREADS;
		if (below(50) == 0)
			renew(which);
		for (uint32_t n = below(4); n > 0; n--)
			read_at(1 + below(THREADS - 1), which, 1 + below(SITES));
		check(which, false);
		if (below(100) == 0) { /* as before it is cut */
			reread_put_everybodys(&runtime.threads[1], &cells[which], cells[which]);
			check(which, true);
		}
	}
	for (uint32_t which = 0; which < CELLS; which++)
		check(which, false);
	assert_true(passed > STEPS / 10 && listed > STEPS / 100);
}

/* As before their slots are given away. */
static void test_threads_that_end(void **state)
{
	(void)state;
	uint32_t moved = 0;
	for (uint32_t slot = 1; slot < THREADS; slot++) {
		for (uint32_t at = 0; at < REREADS; at++)
			moved += runtime.threads[slot].rereads[at] & REREAD_MOVED ? 1 : 0;
		reread_put_all(&runtime.threads[slot]);
	}
	for (uint32_t which = 0; which < CELLS; which++)
		check(which, true);
	assert_true(moved > 100);
}

/* A signal handler that needed the place between two stores of its thread left it so. */
static void test_no_name(void **state)
{
	(void)state;
	struct thread *self = &runtime.threads[1];
	self->moved[7] = 0;
	self->rereads[7] = REREAD_MOVED;
	assert_true(reread_put(self, 7));
	assert_int_equal(self->rereads[7], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_sites),
		cmocka_unit_test(test_threads_that_end),
		cmocka_unit_test(test_no_name),
	};
	return cmocka_run_group_tests(tests, prepare, tidy);
}
