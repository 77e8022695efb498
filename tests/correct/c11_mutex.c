/* C11 mutexes: plain, recursive, timed. */
#include "check.h"

#include <threads.h>

static mtx_t plain, recursive, timed;
static int total;

static int count(void *none)
{
	(void)none;
	for (int i = 0; i < 3; i++) {
		EQUAL(mtx_lock(&plain), thrd_success);
		total++;
		EQUAL(mtx_unlock(&plain), thrd_success);
		EQUAL(mtx_lock(&recursive), thrd_success);
		EQUAL(mtx_trylock(&recursive), thrd_success);
		EQUAL(mtx_unlock(&recursive), thrd_success);
		EQUAL(mtx_unlock(&recursive), thrd_success);
	}
	return 5;
}

static int give_up(void *none)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 3);
	(void)none;
	EQUAL(mtx_timedlock(&timed, &soon), thrd_timedout);
	EQUAL(mtx_trylock(&timed), thrd_busy);
	EQUAL(mtx_trylock(&recursive), thrd_busy);
	return 6;
}

int main(void)
{
	thrd_t a, b;
	int result;
	struct timespec past = { 1, 0 };
	EQUAL(mtx_init(&plain, mtx_plain), thrd_success);
	EQUAL(mtx_init(&recursive, mtx_plain | mtx_recursive), thrd_success);
	EQUAL(mtx_init(&timed, mtx_timed), thrd_success);
	EQUAL(thrd_create(&a, count, NULL), thrd_success);
	EQUAL(thrd_create(&b, count, NULL), thrd_success);
	EQUAL(thrd_join(a, &result), thrd_success);
	EQUAL(result, 5);
	EQUAL(thrd_join(b, NULL), thrd_success);
	EQUAL(mtx_timedlock(&timed, &past), thrd_success);
	EQUAL(mtx_lock(&recursive), thrd_success);
	EQUAL(thrd_create(&a, give_up, NULL), thrd_success);
	EQUAL(thrd_join(a, &result), thrd_success);
	EQUAL(result, 6);
	EQUAL(mtx_unlock(&timed), thrd_success);
	EQUAL(mtx_unlock(&recursive), thrd_success);
	mtx_destroy(&plain);
	mtx_destroy(&timed);
	printf("%d\n", total);
	return 0;
}
