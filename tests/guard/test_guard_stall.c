/* Stalls of the guard's runtime: they end when who is waited for has come, at the limit, and for whoever is taken out of
 * them; who gives way to whom; mutexes that are given back meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "tests/guard/runtime_world.h"

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

/* How often this thread has gone to sleep. */
static long sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* Two accesses behind one mutex, for both of which it waited in vain before: behind it it waits for neither. */
static void test_ahead_in_vain(void **unused)
{
	(void)unused;
	static int64_t location[2];
	uint64_t first = (uint64_t)(uintptr_t)&location[0], second = (uint64_t)(uintptr_t)&location[1];
	uint64_t mutex = (uint64_t)(uintptr_t)&door;

	guard_settings.limit_us = 20000;
	guard_self = 7;
	guard_note(first, 4, true);
	guard_note(second, 4, true);
	guard_self = 8;
	long before = sleeps();
	unsnarl_guard_ahead(first, 2, mutex);
	unsnarl_guard_ahead(second, 2, mutex);
	assert_true(sleeps() > before);
	before = sleeps();
	pthread_mutex_lock(&door);
	unsnarl_guard_locked(first, 2, mutex, 0);
	unsnarl_guard_locked(second, 2, mutex, 0);
	unsnarl_guard(first, 2);
	unsnarl_guard(second, 2);
	assert_int_equal(sleeps(), before);
	pthread_mutex_unlock(&door);
	assert_int_equal(guard_word_site(guard_predecessor(second, 2)), 4);
}

int main(void)
{
	world_start();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolved),
		cmocka_unit_test(test_doubted),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_gives_way),
		cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_locked),
		cmocka_unit_test(test_locked_recursive),
		cmocka_unit_test(test_ahead_in_vain),
		cmocka_unit_test(test_end_inside_stall),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
