/* Emergency rules of the guard's runtime: one thread at a time is in a group, also among many, in a forked child, and
 * against others that only touch its location; an early access waits for the late one. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/guard/runtime_world.h"

static _Atomic int stage;

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

/* What a rule held back is told as that. */
static void test_words(void **unused)
{
	(void)unused;
	static int64_t location[2];
	char text[4096] = "";

	guard_settings.limit_us = 200000; /* a group counts no longer than that: a busy machine may come late */
	guard_self = 0;
	snprintf(guard_settings.log, sizeof guard_settings.log, "rules.%d.log", (int)getpid());
	unsnarl_guard_await(1, (uint64_t)(uintptr_t)&location[1], 8);
	unsnarl_guard_enter(0, (uint64_t)(uintptr_t)&location[0], 8);
	guard_self++; /* another thread */
	/* No other test waits at this site: of many violations of a kind few are logged. */
	unsnarl_guard_wait(0, (uint64_t)(uintptr_t)&location[0], 8, 5);
	FILE *log = fopen(guard_settings.log, "r");

	assert_non_null(log);
	fread(text, 1, sizeof text - 1, log);
	fclose(log);
	unlink(guard_settings.log);
	guard_settings.log[0] = '\0';
	assert_non_null(strstr(text, " f 4:1 4 -")); /* sites as names[] has them */
	assert_non_null(strstr(text, " early\n"));
	assert_non_null(strstr(text, " inside\n"));
	guard_self--;
	unsnarl_guard_leave(0);
}

int main(void)
{
	world_start();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_atomic_rule),    cmocka_unit_test(test_group_is_alone),
		cmocka_unit_test(test_touch_is_alone), cmocka_unit_test(test_touch_in_group),
		cmocka_unit_test(test_order_rule),     cmocka_unit_test(test_fork_in_group),
		cmocka_unit_test(test_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
