/* The guard's runtime where it lies in programs: the recorder against a naive one that
 * keeps every access, stalls that end in time, rules, and figures of violations. Threads
 * are played by one, which takes their numbers in turn, where order must be known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loom/guard/guard.h"

void unsnarl_hook_guard(uint64_t address, uint64_t site, uint64_t shift); /* loom/guard/inline.c */
void unsnarl_hook_guard_two(uint64_t address, uint64_t site, uint64_t shift);

#define SITES 5u

/* Site s may come after nobody and after sites below s; site 5 after anything. */
static uint64_t rows[SITES + 1];
static const uint8_t any[SITES + 1] = { [5] = 1 };
static uint8_t traits[SITES + 1];
static const uint8_t shifts[SITES + 1] = { 0, 2, 2, 2, 2, 2 };
static uint16_t alike[SITES + 1] = { 0, 1, 2, 3, 4, 5 };
static const struct guard_name names[SITES + 1] = {
	{ 0, "-", "-", "-", "-", 0, 0 },    { 1, "read", "f", "1", "-", 1, 1 },
	{ 2, "read", "f", "2", "-", 2, 1 }, { 3, "read", "f", "3", "-", 3, 1 },
	{ 4, "read", "f", "4", "-", 4, 1 }, { 5, "read", "f", "5", "-", 5, 1 }
};
static const struct guard_rule_data rules[] = { { 2, 0, 1, 2 }, { 1, 0, 3, 4 } };
static struct guard_data data = { .nsites = SITES,
				  .nrules = 2,
				  .limit_us = 20000,
				  .words = 1,
				  .rows = rows,
				  .any = any,
				  .traits = traits,
				  .shifts = shifts,
				  .alike = alike,
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

/* A range is as its locations one by one. */
static void test_range(void **unused)
{
	(void)unused;
	static int32_t rows_of[2][128];

	guard_settings.limit_us = 0;
	memset(memos, 0xff, sizeof memos);
	memset(kept_steps, 0, sizeof kept_steps);
	guard_self = 0;
	for (unsigned i = 0; i < 20000; i++) {
		unsigned at = below(90), n = 1 + below(36), site = 1 + below(SITES);

		play(1 + below(4));
		unsnarl_guard_range((uint64_t)(uintptr_t)&rows_of[0][at], 4ull * n, site, 2);
		for (unsigned k = 0; k < n; k++)
			unsnarl_guard((uint64_t)(uintptr_t)&rows_of[1][at + k], site);
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

/* What passing runs had, maybe by luck, is waited for a quarter as long as what was never seen. */
static void test_doubted(void **unused)
{
	(void)unused;
	static const uint32_t doubted[] = { 1u << 16 | 2, 2u << 16, 2u << 16 | 4 };

	guard_settings.limit_us = 20000;
	assert_int_equal(guard_tally_limit(2, 4), 20000);
	data.doubted = doubted;
	data.ndoubted = 3;
	assert_int_equal(guard_tally_limit(1, 2), 5000);
	assert_int_equal(guard_tally_limit(2, 0), 5000);
	assert_int_equal(guard_tally_limit(2, 4), 5000);
	assert_int_equal(guard_tally_limit(2, 3), 20000);
	assert_int_equal(guard_tally_limit(1, 4), 20000);
	data.ndoubted = 0;
}

/* Who waits for a thread that is stalled itself does not use its time up; in a circle the one with the shortest limit
 * is to give up, and of equals the first that came. */
static void test_held(void **unused)
{
	(void)unused;
	const struct guard_violation of_one = { .site = guard_word(2, 1), .before = guard_word(4, 2) },
				     of_two = { .site = guard_word(2, 2), .before = guard_word(4, 3) },
				     of_three = { .site = guard_word(2, 3), .before = guard_word(4, 1) };
	struct guard_pace one = { .limit_us = 5000, .started_us = 30 },
			  two = { .limit_us = 5000, .started_us = 20 },
			  three = { .limit_us = 20000, .started_us = 10 };
	bool weakest;

	guard_self = 1;
	guard_tally_begin(&of_one, &one);
	assert_false(guard_tally_is_held(&weakest) || weakest);
	guard_self = 2;
	guard_tally_begin(&of_two, &two);
	assert_false(guard_tally_is_held(&weakest) || weakest);
	guard_self = 1;
	assert_true(guard_tally_is_held(&weakest) && !weakest);
	guard_self = 3;
	guard_tally_begin(&of_three, &three);
	for (uint32_t thread = 1; thread <= 3; thread++) {
		guard_self = thread;
		assert_int_equal(guard_tally_is_held(&weakest), thread != 2);
		assert_int_equal(weakest, thread == 2);
	}
	guard_self = 3;
	guard_tally_awaits(guard_word(4, 9), 40);
	assert_false(guard_tally_is_held(&weakest) || weakest);
	/* The first now waits for one who waits for nobody that is known: maybe for the first. */
	const struct guard_violation of_nobody = { .site = guard_word(2, 2) };

	guard_tally_ended();
	guard_self = 2;
	guard_tally_begin(&of_nobody, &three);
	assert_false(guard_tally_is_held(&weakest) || weakest);
	guard_self = 1;
	assert_true(!guard_tally_is_held(&weakest) && weakest);
	for (uint32_t thread = 1; thread <= 3; thread++) {
		guard_self = thread;
		guard_tally_ended();
	}
}

/* A noted access is taken back when whoever let it come waits for it now: that thread is not done yet. */
static void *come_halfway(void *address)
{
	guard_self = 0;
	guard_register();
	guard_note((uint64_t)(uintptr_t)address, 1, true); /* lets the other one come */
	while (!stage)
		sched_yield();
	unsnarl_guard((uint64_t)(uintptr_t)address,
		      4); /* and has one more, before which that one must not be */
	stage = 2;
	return NULL;
}

static void test_gives_way(void **unused)
{
	(void)unused;
	static int64_t location[2];
	uint64_t address = (uint64_t)(uintptr_t)&location[0], kept[SITES + 1];
	pthread_t thread;

	memcpy(kept, rows, sizeof rows);
	rows[3] = 1ull << 1 | 1ull << 4; /* after 1 and after 4 */
	rows[4] = 1 | 1ull << 1;         /* not after 3 */
	guard_settings.limit_us = 60000000;
	guard_self = 7;
	guard_note(address, 1, true);
	guard_self = 8;
	stage = 0;
	pthread_create(&thread, NULL, come_halfway, &location[0]);
	while (guard_word_thread(guard_predecessor(address, 3)) == 7)
		sched_yield();
	/* Noted, as in the middle of a stall; the other thread comes to wait for it. */
	struct guard_note note;
	uint64_t noted_us = guard_now_us();
	const uint32_t halfway = guard_word_thread(guard_predecessor(address, 3));

	assert_true(halfway != 7);

	assert_true(guard_note_for_now(address, 3, &note));
	assert_false(guard_tally_is_awaited(address, guard_word(3, 8), halfway, noted_us));
	stage = 1;
	while (!guard_tally_is_awaited(address, guard_word(3, 8), halfway, noted_us))
		sched_yield();
	assert_false(guard_tally_is_awaited(address, guard_word(3, 8), halfway,
					    guard_now_us() + 1000000));               /* a later one */
	assert_false(guard_tally_is_awaited(address, guard_word(3, 8), 7, noted_us)); /* who is not stalled */
	assert_true(guard_note_undo(address, 3, &note));
	pthread_join(thread, NULL);
	assert_int_equal(stage, 2);
	assert_int_equal(guard_word_site(guard_predecessor(address, 3)), 4);
	assert_true(guard_note_for_now(address, 3, &note));
	guard_note(address, 3, true);
	guard_self = 9;
	guard_note(address, 1, true);
	assert_false(guard_note_undo(address, 3, &note)); /* somebody has come since */
	memcpy(rows, kept, sizeof rows);
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
		assert_int_equal(guard_word_site(guard_predecessor(address, 3)), 4);
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

/* A child has only the thread that made it: nobody in it is in the group. */
static void test_fork_in_group(void **unused)
{
	(void)unused;
	static int64_t location;
	pthread_t thread;
	int status;

	guard_settings.limit_us = 60000000;
	stage = 0;
	guard_self = 0;
	pthread_create(&thread, NULL, enter_group, &location);
	while (stage < 1)
		;
	pid_t child = fork();

	if (child == 0) {
		uint64_t before = guard_now_us();

		unsnarl_guard_wait(0, (uint64_t)(uintptr_t)&location, 8, 2);
		_exit(guard_now_us() - before < 30000000 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	stage = 2;
	pthread_join(thread, NULL);
}

static __thread sigjmp_buf out_of_stall;

static void jump_out(int number)
{
	(void)number;
	siglongjmp(out_of_stall, 1);
}

static void *stall_and_end(void *address)
{
	guard_self = 0;
	if (sigsetjmp(out_of_stall, 1) == 0) {
		stage = 1;
		unsnarl_guard((uint64_t)(uintptr_t)address, 2);
		return address; /* nobody comes, so it would stay for a minute */
	}
	return NULL;
}

/* A thread that a signal's handler takes out of its stall, and that ends: others go on as if it had not been. */
static void test_end_inside_stall(void **unused)
{
	(void)unused;
	static int64_t location;
	uint64_t address = (uint64_t)(uintptr_t)&location, before = guard_now_us();
	struct sigaction action = { .sa_handler = jump_out };
	pthread_t thread;
	void *result;

	guard_settings.limit_us = 60000000;
	sigaction(SIGUSR1, &action, NULL);
	guard_self = 7;
	guard_note(address, 3, true);
	stage = 0;
	pthread_create(&thread, NULL, stall_and_end, &location);
	while (stage < 1)
		;
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, &result);
	assert_null(result);
	unsnarl_guard(address, 4);
	assert_int_equal(guard_predecessor(address, 4), 0);
	assert_true(guard_now_us() - before < 30000000);
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

#define TURNS 3000u
static long pair[2]; /* a group reads both; others change both, each by an access of its own */
static _Atomic long torn;

static void *read_pair(void *unused)
{
	(void)unused;
	guard_self = 0;
	for (unsigned i = 0; i < TURNS; i++) {
		unsnarl_guard_enter(0, (uint64_t)(uintptr_t)&pair[0], sizeof pair[0]);
		long first = __atomic_load_n(&pair[0], __ATOMIC_RELAXED);
		torn += first != __atomic_load_n(&pair[0], __ATOMIC_RELAXED);
		unsnarl_guard_leave(0);
	}
	return NULL;
}

static void *change_pair(void *unused)
{
	(void)unused;
	guard_self = 0;
	for (long i = 0; i < TURNS; i++) {
		unsnarl_guard_touch(0, (uint64_t)(uintptr_t)&pair[0], sizeof pair[0], 2);
		__atomic_store_n(&pair[0], i, __ATOMIC_RELAXED);
		unsnarl_guard_touched(0);
	}
	return NULL;
}

/* Between the look and the access of another thread no group begins. */
static void test_touch_is_alone(void **unused)
{
	(void)unused;
	pthread_t threads[4];

	guard_settings.limit_us = 60000000;
	torn = 0;
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, i % 2 ? read_pair : change_pair, NULL);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(torn, 0);
}

static void *touch_and_note(void *address)
{
	guard_self = 0;
	unsnarl_guard_touch(0, (uint64_t)(uintptr_t)address, 8, 2);
	stage = stage == 1 ? 2 : -1;
	unsnarl_guard_touched(0);
	return NULL;
}

/* Who touches a location inside its own group does not end the group. */
static void test_touch_in_group(void **unused)
{
	(void)unused;
	static int64_t location;
	uint64_t address = (uint64_t)(uintptr_t)&location;
	pthread_t thread;

	guard_settings.limit_us = 60000000;
	guard_self = 0;
	stage = 0;
	unsnarl_guard_enter(0, address, 8);
	unsnarl_guard_touch(0, address, 8, 2);
	unsnarl_guard_touched(0);
	pthread_create(&thread, NULL, touch_and_note, &location);
	for (unsigned i = 0; i < 100; i++) /* it gets its chances */
		sched_yield();
	stage = stage == 0 ? 1 : stage;
	unsnarl_guard_leave(0);
	pthread_join(thread, NULL);
	assert_int_equal(stage, 2);
}

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

static void *access_inside(void *address)
{
	guard_self = 0;
	pthread_mutex_lock(&door);
	unsnarl_guard((uint64_t)(uintptr_t)address, 1);
	pthread_mutex_unlock(&door);
	return NULL;
}

/* Who would resolve it needs the mutex: it is given back meanwhile, and taken again. */
static void test_locked(void **unused)
{
	(void)unused;
	static int64_t location[2];
	uint64_t address = (uint64_t)(uintptr_t)&location[0], mutex = (uint64_t)(uintptr_t)&door;
	pthread_t thread;

	rows[1] = ~0ull; /* the other access may come after anything */
	guard_settings.limit_us = 60000000;
	guard_self = 7;
	guard_note(address, 5, true);
	guard_self = 8;
	pthread_mutex_lock(&door);
	pthread_create(&thread, NULL, access_inside, &location[0]);
	uint64_t before = guard_now_us();
	unsnarl_guard_locked(address, 3, mutex, 1); /* the call did not take it */
	assert_int_equal(guard_word_site(guard_predecessor(address, 3)), 5);
	unsnarl_guard_locked(address, 3, mutex, 0);
	assert_true(guard_now_us() - before < 30000000);
	assert_true(guard_may_follow(address, 3));
	assert_int_equal(pthread_mutex_trylock(&door), EBUSY);
	pthread_mutex_unlock(&door);
	pthread_join(thread, NULL);
	rows[1] = 1;
}

/* A mutex that counts stays taken: others must not come in between. */
static void test_locked_recursive(void **unused)
{
	(void)unused;
	static int64_t location;
	uint64_t address = (uint64_t)(uintptr_t)&location, before = guard_now_us();
	pthread_mutexattr_t kind;
	pthread_mutex_t mutex;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&mutex, &kind);
	guard_settings.limit_us = 60000000;
	guard_self = 7;
	guard_note(address, 5, true);
	guard_self = 8;
	pthread_mutex_lock(&mutex);
	unsnarl_guard_locked(address, 3, (uint64_t)(uintptr_t)&mutex, 0);
	assert_true(guard_now_us() - before < 30000000);
	assert_false(guard_may_follow(address, 3));
	pthread_mutex_unlock(&mutex);
	pthread_mutex_destroy(&mutex);
	pthread_mutexattr_destroy(&kind);
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
	/* Stalls first: those of random accesses are in vain, and shorten later ones. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allows),
		cmocka_unit_test(test_resolved),
		cmocka_unit_test(test_doubted),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_gives_way),
		cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_atomic_rule),
		cmocka_unit_test(test_group_is_alone),
		cmocka_unit_test(test_touch_is_alone),
		cmocka_unit_test(test_touch_in_group),
		cmocka_unit_test(test_locked),
		cmocka_unit_test(test_locked_recursive),
		cmocka_unit_test(test_order_rule),
		cmocka_unit_test(test_fork_in_group),
		cmocka_unit_test(test_end_inside_stall),
		cmocka_unit_test(test_recorder),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_turn),
		cmocka_unit_test(test_turn_hooks),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_forget_much),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
