/* The recorder of the guard's runtime against a naive one that keeps every access, and hooks, which take short ways,
 * against the plain look; memory that begins a new life or ends it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/guard/runtime_world.h"

void unsnarl_hook_guard(uint64_t address, uint64_t site, uint64_t shift); /* loom/guard/inline.c */
void unsnarl_hook_guard_two(uint64_t address, uint64_t site, uint64_t shift);

static uint64_t state = 88172645463325252u;

static unsigned below(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % n);
}

/* ---- the recorder ---- */

#define ADDRESSES 4096u
static struct {
	uint32_t site, thread;
} history[ADDRESSES][64];
static unsigned lengths[ADDRESSES];

/* The last access by another thread, by looking back. */
static uint32_t naive(unsigned at, uint32_t thread)
{
	for (unsigned i = lengths[at]; i > 0; i--)
		if (history[at][i - 1].thread != thread)
			return guard_word(history[at][i - 1].site, history[at][i - 1].thread);
	return 0;
}

/* Threads are played by one, so each one's memos are put back when it is its turn. */
static struct guard_memo memos[5][GUARD_MEMOS];
static struct guard_step kept_steps[5][GUARD_STEPS];

static void play(uint32_t thread)
{
	if (guard_self >= 1 && guard_self <= 4) {
		memcpy(memos[guard_self], unsnarl_guard_memos, sizeof memos[0]);
		memcpy(kept_steps[guard_self], guard_steps, sizeof kept_steps[0]);
	}
	guard_self = thread;
	memcpy(guard_steps, kept_steps[thread], sizeof kept_steps[0]);
	memcpy(unsnarl_guard_memos, memos[thread], sizeof memos[0]);
}

/* Whatever site came next, it would be judged as by who looks back. */
static void check_verdicts(uint64_t address, unsigned at)
{
	uint32_t before = naive(at, guard_self);

	for (uint32_t site = 1; site <= SITES; site++)
		assert_int_equal(guard_allows(site, guard_word_site(guard_predecessor(address, site))),
				 guard_allows(site, guard_word_site(before)));
}

static void compare_recorders(unsigned steps, unsigned addresses)
{
	memset(memos, 0xff, sizeof memos);
	memset(kept_steps, 0, sizeof kept_steps);
	guard_self = 0;
	for (unsigned i = 0; i < steps; i++) {
		unsigned at = below(addresses), times = 1 + below(4);
		uint64_t address = 0x10000 + (uint64_t)at * 4 + (at % 3 ? 0 : 0x555500000000);

		play(1 + below(4));
		check_verdicts(address, at);
		if (below(50) == 0 || lengths[at] > 60) {
			guard_forget(address, 4);
			lengths[at] = 0;
		}
		for (; times; times--) {
			uint32_t site = 1 + below(SITES);

			unsnarl_hook_guard(address, site, 2);
			history[at][lengths[at]].site = site;
			history[at][lengths[at]++].thread = guard_self;
		}
	}
	for (unsigned at = 0; at < ADDRESSES; at++) {
		guard_forget(0x10000 + (uint64_t)at * 4 + (at % 3 ? 0 : 0x555500000000), 4);
		lengths[at] = 0;
	}
}

static void test_recorder(void **unused)
{
	(void)unused;
	guard_settings.limit_us = 0;
	compare_recorders(100000, ADDRESSES);
	compare_recorders(50000, 7);
}

/* Sets at random, with sites that are in the same ones. */
static void test_alike(void **unused)
{
	(void)unused;
	uint64_t kept[SITES + 1];

	memcpy(kept, rows, sizeof rows);
	guard_settings.limit_us = 0;
	for (unsigned set = 0; set < 40; set++) {
		for (uint32_t site = 1; site <= SITES; site++) {
			rows[site] = below(1u << (SITES + 1));
			/* 2 and 3 are in the same sets, in some also 4. */
			for (uint32_t other = 3; other <= 3 + set % 2; other++)
				rows[site] = (rows[site] & ~(1ull << other)) | (rows[site] >> 2 & 1) << other;
		}
		alike[3] = 2;
		alike[4] = set % 2 ? 2 : 4;
		compare_recorders(2000, 5);
	}
	memcpy(rows, kept, sizeof rows);
	alike[3] = 3;
	alike[4] = 4;
}

/* Two neighbours in one hook are as two hooks. */
static void test_two(void **unused)
{
	(void)unused;
	static int32_t pairs[2][64];

	guard_settings.limit_us = 0;
	memset(memos, 0xff, sizeof memos);
	memset(kept_steps, 0, sizeof kept_steps);
	guard_self = 0;
	for (unsigned i = 0; i < 20000; i++) {
		unsigned at = below(62), site = 1 + below(SITES);
		bool alone = below(3) == 0;

		play(1 + below(4));
		unsnarl_hook_guard_two((uint64_t)(uintptr_t)&pairs[0][at], site, 2);
		unsnarl_guard((uint64_t)(uintptr_t)&pairs[1][at], site);
		unsnarl_guard((uint64_t)(uintptr_t)&pairs[1][at + 1], site);
		if (alone) {
			unsnarl_hook_guard((uint64_t)(uintptr_t)&pairs[0][at], site, 2);
			unsnarl_guard((uint64_t)(uintptr_t)&pairs[1][at], site);
		}
		for (unsigned j = 0; j < 64; j++)
			assert_int_equal(
				guard_word_site(guard_predecessor((uint64_t)(uintptr_t)&pairs[0][j], 1)),
				guard_word_site(guard_predecessor((uint64_t)(uintptr_t)&pairs[1][j], 1)));
	}
}

/* A range or a row is as its locations one by one. */
static void test_range(void **unused)
{
	(void)unused;
	static int32_t rows_of[2][128];
	bool has_vectors = guard_has_vectors;

	guard_settings.limit_us = 0;
	memset(memos, 0xff, sizeof memos);
	memset(kept_steps, 0, sizeof kept_steps);
	guard_self = 0;
	for (unsigned i = 0; i < 20000; i++) {
		unsigned at = below(90), n = 1 + below(36), site = 1 + below(SITES), step = 1 + below(4);

		play(1 + below(4));
		guard_has_vectors = has_vectors && below(2);
		/* Some with gaps: of every `step` locations the first `extent`. */
		unsigned extent = 1 + below(step);

		if (below(2))
			step = extent = 1;
		n += step - 1 - (n + step - 1) % step;
		for (unsigned k = 0; k < n; k++)
			if (k % step < extent)
				unsnarl_guard((uint64_t)(uintptr_t)&rows_of[1][at + k], site);
		if (step == 1)
			unsnarl_guard_range((uint64_t)(uintptr_t)&rows_of[0][at], 4ull * n, site, 2);
		else
			unsnarl_guard_strided((uint64_t)(uintptr_t)&rows_of[0][at], n / step,
					      4ull * step << 32 | 4 * extent, site << 8 | 2);
		play(1 + below(4));
		for (unsigned j = 0; j < 128; j++)
			assert_int_equal(
				guard_word_site(guard_predecessor((uint64_t)(uintptr_t)&rows_of[0][j], 1)),
				guard_word_site(guard_predecessor((uint64_t)(uintptr_t)&rows_of[1][j], 1)));
	}
}

/* Where it does not matter any more whose accesses they were nothing is written for a third thread. */
static void test_several(void **unused)
{
	(void)unused;
	static int64_t location;
	uint64_t address = (uint64_t)(uintptr_t)&location & ~7ull;

	for (uint32_t thread = 1; thread <= 3; thread++) {
		guard_self = thread;
		guard_note(address, 2, true);
	}
	for (uint32_t thread = 1; thread <= 4; thread++) {
		guard_self = thread;
		assert_int_equal(guard_predecessor(address, 2), guard_word(2, GUARD_SEVERAL));
	}
	guard_note(address, 1, true);
	assert_int_equal(guard_predecessor(address, 2), guard_word(2, GUARD_SEVERAL));
	guard_self = 1;
	assert_int_equal(guard_predecessor(address, 2), guard_word(1, 4));
}

/* Nobody else has been there: that will do only where the thread itself has been. */
static void test_own(void **unused)
{
	(void)unused;
	static int64_t location[2];
	uint64_t address = (uint64_t)(uintptr_t)&location[0];

	guard_self = 2;
	assert_true(guard_may_follow(address, 3));
	traits[3] = GUARD_OWN;
	assert_false(guard_may_follow(address, 3));
	assert_false(guard_note(address, 3, false));
	assert_true(guard_note(address, 4, false));
	assert_true(guard_may_follow(address, 3));
	assert_true(guard_note(address, 3, false));
	traits[3] = 0;
}

/* Another thread has to have been there last; of a state of several threads nobody knows, and nobody is fine too. */
static void test_turn(void **unused)
{
	(void)unused;
	static int64_t location[2];
	uint64_t address = (uint64_t)(uintptr_t)&location[0];

	guard_settings.limit_us = 0;
	traits[3] = GUARD_TURN;
	guard_self = 2;
	assert_true(guard_may_follow(address, 3));
	assert_true(guard_note(address, 3, false));
	assert_false(guard_may_follow(address, 3));
	for (uint32_t thread = 3; thread <= 4; thread++) {
		guard_self = thread;
		assert_true(guard_note(address, 2, true));
	}
	guard_self = 2;
	assert_true(guard_may_follow(address, 3));
	traits[3] = 0;
}

/* How often the log says that a site came after another; what was only counted is logged first. */
static void read_log(unsigned times[SITES + 1][SITES + 1])
{
	char line[1024];

	guard_tally_end();
	FILE *log = fopen(guard_settings.log, "r");

	assert_non_null(log);
	while (fgets(line, sizeof line, log)) {
		const char *count = strstr(line, " times "), *site = strstr(line, " f "),
			   *before = strstr(line, " after ");

		assert_true(count && site && before && site < before);
		const char *other = strstr(before, " f ");

		times[atoi(site + 3)][other ? atoi(other + 3) : 0] += (unsigned)atoi(count + 7);
	}
	fclose(log);
}

/* The hooks, which take short ways, against a look at the last access: they count as violations what is one, and
 * nothing else. */
static void test_turn_hooks(void **unused)
{
	(void)unused;
	static int64_t location[2];
	uint64_t address = (uint64_t)(uintptr_t)&location[0];
	static unsigned expected[SITES + 1][SITES + 1], counted[SITES + 1][SITES + 1];
	struct {
		uint32_t site, thread;
	} last = { 0 }, other = { 0 };

	guard_settings.limit_us = 0;
	guard_tally_forget();
	snprintf(guard_settings.log, sizeof guard_settings.log, "turns.%d.log", (int)getpid());
	memset(memos, 0xff, sizeof memos);
	memset(kept_steps, 0, sizeof kept_steps);
	traits[2] = traits[4] = GUARD_TURN;
	guard_self = 0;
	for (unsigned i = 0; i < 50000; i++) {
		uint32_t thread = 1 + below(3), site = 1 + below(SITES);

		play(thread);
		uint32_t before = guard_word_site(guard_predecessor(address, site));

		expected[site][before] +=
			(traits[site] && last.thread == thread) || !guard_allows(site, before);
		unsnarl_hook_guard(address, site, 2);
		if (last.site == site && other.site == site) { /* who it was does not matter any more */
			last.thread = other.thread = GUARD_SEVERAL;
			continue;
		}
		if (last.thread != thread)
			other = last;
		last.site = site;
		last.thread = thread;
	}
	read_log(counted);
	for (uint32_t site = 1; site <= SITES; site++)
		for (uint32_t before = 0; before <= SITES; before++)
			assert_int_equal(counted[site][before], expected[site][before]);
	unlink(guard_settings.log);
	guard_settings.log[0] = '\0';
	traits[2] = traits[4] = 0;
}

/* A large block that begins a new life: its cells are empty, those beside it are not. */
static void test_forget_much(void **unused)
{
	(void)unused;
	uint64_t first = 0x700000000010, size = 3u << 20;

	guard_self = 2;
	for (uint64_t at = 0; at < size; at += 4096)
		guard_note(first + at, 3, true);
	guard_note(first - 4, 3, true);
	guard_note(first + size, 3, true);
	guard_self = 3;
	assert_int_equal(guard_word_site(guard_predecessor(first + 4096, 1)), 3);
	guard_forget(first, size);
	for (uint64_t at = 0; at < size; at += 4096)
		assert_int_equal(guard_predecessor(first + at, 1), 0);
	assert_int_equal(guard_word_site(guard_predecessor(first - 4, 1)), 3);
	assert_int_equal(guard_word_site(guard_predecessor(first + size, 1)), 3);
}

static void test_allows(void **unused)
{
	(void)unused;
	for (uint32_t site = 1; site < SITES; site++)
		for (uint32_t before = 0; before <= SITES; before++)
			assert_int_equal(guard_allows(site, before), before < site);
	assert_true(guard_allows(5, 5));
	/* The same as lists. */
	const uint32_t starts[] = { 0, 0, 1, 3, 6, 10, 10 };
	const uint16_t members[] = { 0, 0, 1, 0, 1, 2, 0, 1, 2, 3 };
	data.words = 0;
	data.starts = starts;
	data.members = members;
	for (uint32_t site = 1; site < SITES; site++)
		for (uint32_t before = 0; before <= SITES; before++)
			assert_int_equal(guard_allows(site, before), before < site);
	data.words = 1;
}

/* A block that is freed: its bytes that somebody has touched are looked at, and none behind it; then nobody has been
 * there. */
static void test_freed(void **unused)
{
	(void)unused;
	char *block = malloc(20);
	uint64_t address = (uint64_t)(uintptr_t)block;
	static unsigned counted[SITES + 1][SITES + 1];

	rows[3] = 1; /* nobody may have been there */
	guard_settings.limit_us = 0;
	guard_tally_forget();
	snprintf(guard_settings.log, sizeof guard_settings.log, "freed.%d.log", (int)getpid());
	guard_forget(address, 64);
	guard_self = 2;
	guard_note(address + 4, 2, true);
	guard_note(address + 48, 2, true); /* another block's */
	guard_self = 1;
	unsnarl_guard_freed(address, 3, 2);
	unsnarl_guard_freed(0, 3, 2);
	guard_self = 4;
	read_log(counted);
	unlink(guard_settings.log);
	guard_settings.log[0] = '\0';
	assert_int_equal(counted[3][2], 1);
	assert_int_equal(counted[3][0], 0);
	assert_int_equal(guard_predecessor(address + 4, 3), 0);
	assert_int_equal(guard_word_site(guard_predecessor(address + 48, 3)), 2);
	assert_int_equal(guard_predecessor(0, 3), 0);
	rows[3] = 7;
	guard_forget(address, 64);
	free(block);
}

int main(void)
{
	guard_rows_start();
	world_start();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allows),  cmocka_unit_test(test_recorder),
		cmocka_unit_test(test_alike),   cmocka_unit_test(test_own),
		cmocka_unit_test(test_turn),    cmocka_unit_test(test_turn_hooks),
		cmocka_unit_test(test_two),     cmocka_unit_test(test_range),
		cmocka_unit_test(test_several), cmocka_unit_test(test_forget_much),
		cmocka_unit_test(test_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
