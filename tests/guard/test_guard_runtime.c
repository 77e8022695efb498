/* The guard's runtime where it lies in programs: the recorder against a naive one that
 * keeps every access, stalls that end in time, rules, and figures of violations. Threads
 * are played by one, which takes their numbers in turn, where order must be known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "loom/guard/guard.h"

#define SITES 5u

/* Site s may come after nobody and after sites below s; site 5 after anything. */
static uint64_t rows[SITES + 1];
static const uint8_t any[SITES + 1] = { [5] = 1 };
static const struct guard_name names[SITES + 1] = { { 0, "-", "-", "-", "-", 0, 0 } };
static const struct guard_rule_data rules[] = { { 2, 0, 1, 2 }, { 1, 0, 3, 4 } };
static struct guard_data data = { .nsites = SITES,
				  .nrules = 2,
				  .limit_us = 20000,
				  .words = 1,
				  .rows = rows,
				  .any = any,
				  .names = names,
				  .rules = rules };
const struct guard_data *unsnarl_guard_data = &data;

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

static void test_recorder(void **unused)
{
	(void)unused;
	unsigned known = 0, asked = 0;

	for (unsigned i = 0; i < 200000; i++) {
		unsigned at = below(ADDRESSES);
		uint64_t address = 0x10000 + (uint64_t)at * 4 + (at % 3 ? 0 : 0x5550000000);
		uint32_t thread = 1 + below(4), site = 1 + below(SITES);

		guard_self = thread;
		uint32_t before = guard_predecessor(address);

		asked++;
		if (before != GUARD_UNKNOWN) {
			known++;
			assert_int_equal(before, naive(at, thread));
		}
		if (below(50) == 0 || lengths[at] == 64) {
			guard_forget(address, 4);
			lengths[at] = 0;
			continue;
		}
		guard_note(address, site, true);
		history[at][lengths[at]].site = site;
		history[at][lengths[at]++].thread = thread;
	}
	/* Cells are few enough to be fought for, and many enough that most is known. */
	assert_true(known > asked / 2);
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

/* ---- stalls ---- */

static _Atomic int stage;

static void *access_later(void *address)
{
	guard_self = 0;
	while (stage < 1)
		;
	unsnarl_guard((uint64_t)(uintptr_t)address, 1);
	stage = 2;
	return NULL;
}

/* Site 2 after site 3 must wait; when site 1 of a third thread has come it may go on. */
static void test_resolved(void **unused)
{
	(void)unused;
	static int64_t location[2];
	uint64_t address = (uint64_t)(uintptr_t)&location[0];
	pthread_t thread;

	guard_self = 7;
	guard_note(address, 3, true);
	guard_self = 8;
	guard_settings.limit_us = 60000000;
	stage = 0;
	pthread_create(&thread, NULL, access_later, &location[0]);
	/* Its access may come after anything (site 5 is what lets it through), so that it never waits itself. */
	rows[1] = ~0ull;
	stage = 1;
	uint64_t before = guard_now_us();
	unsnarl_guard(address, 2);
	assert_true(guard_now_us() - before < 30000000);
	pthread_join(thread, NULL);
	rows[1] = 1;
	assert_int_equal(stage, 2);
}

/* Nobody comes: it goes on at the limit, and the next stalls are shorter and shorter. */
static void test_unresolved(void **unused)
{
	(void)unused;
	static int64_t locations[16];
	uint64_t total = guard_now_us(), first;

	guard_settings.limit_us = 20000;
	for (unsigned i = 0; i < 16; i++) {
		uint64_t address = (uint64_t)(uintptr_t)&locations[i];

		guard_self = 9;
		guard_note(address, 4, true);
		guard_self = 10;
		first = guard_now_us();
		unsnarl_guard(address, 3);
		if (i == 0)
			assert_true(guard_now_us() - first >= 20000);
		assert_int_equal(guard_word_site(guard_predecessor(address)), 4);
	}
	assert_int_equal(guard_tally_limit(3, 4), 0);
	/* 20 + 10 + 5 + … ms, and room for a busy machine. */
	assert_true(guard_now_us() - total < 20000000);
}

/* ---- rules ---- */

static void *enter_group(void *address)
{
	guard_self = 0;
	unsnarl_guard_enter(0, (uint64_t)(uintptr_t)address, 8);
	stage = 1;
	while (stage < 2)
		;
	stage = 3;
	unsnarl_guard_leave(0);
	return NULL;
}

/* Who would touch the location waits until the group is left; elsewhere nobody waits. */
static void test_atomic_rule(void **unused)
{
	(void)unused;
	static int64_t location[2];
	pthread_t thread;

	guard_settings.limit_us = 60000000;
	stage = 0;
	guard_self = 0;
	pthread_create(&thread, NULL, enter_group, &location[0]);
	while (stage < 1)
		;
	unsnarl_guard_wait(0, (uint64_t)(uintptr_t)&location[1], 8, 2);
	assert_int_equal(stage, 1);
	stage = 2;
	unsnarl_guard_wait(0, (uint64_t)(uintptr_t)&location[0], 4, 2);
	assert_int_equal(stage, 3);
	pthread_join(thread, NULL);
}

static _Atomic long inside, most_inside;

static void *enter_often(void *address)
{
	guard_self = 0;
	for (unsigned i = 0; i < 2000; i++) {
		unsnarl_guard_enter(0, (uint64_t)(uintptr_t)address, 8);
		long now = ++inside;
		if (now > most_inside)
			most_inside = now;
		inside--;
		unsnarl_guard_leave(0);
	}
	return NULL;
}

static void test_group_is_alone(void **unused)
{
	(void)unused;
	static int64_t location;
	pthread_t threads[4];

	guard_settings.limit_us = 60000000;
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, enter_often, &location);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(most_inside, 1);
}

static void *do_late(void *address)
{
	guard_self = 0;
	while (stage < 1)
		;
	stage = 2;
	unsnarl_guard_done(1, (uint64_t)(uintptr_t)address, 8);
	return NULL;
}

static void test_order_rule(void **unused)
{
	(void)unused;
	static int64_t location[2];
	pthread_t thread;

	guard_settings.limit_us = 60000000;
	stage = 0;
	pthread_create(&thread, NULL, do_late, &location[0]);
	stage = 1;
	unsnarl_guard_await(1, (uint64_t)(uintptr_t)&location[0], 8);
	assert_int_equal(stage, 2);
	pthread_join(thread, NULL);
	/* Once it is done nobody waits, until the memory begins a new life. */
	guard_settings.limit_us = 1000;
	uint64_t before = guard_now_us();
	unsnarl_guard_await(1, (uint64_t)(uintptr_t)&location[0], 8);
	unsnarl_guard_fresh_stack((uint64_t)(uintptr_t)&location[0], 8);
	assert_true(guard_now_us() - before < 10000000);
	unsnarl_guard_await(1, (uint64_t)(uintptr_t)&location[0], 8);
	assert_true(guard_now_us() - before >= 1000);
}

int main(void)
{
	for (uint32_t site = 1; site <= SITES; site++)
		rows[site] = (1ull << site) - 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorder),    cmocka_unit_test(test_allows),
		cmocka_unit_test(test_resolved),    cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_atomic_rule), cmocka_unit_test(test_group_is_alone),
		cmocka_unit_test(test_order_rule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
