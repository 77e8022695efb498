/* C11 threads: conditions, once, thread-specific storage, yield, sleep, detach, exit. */
#include "check.h"

#include <threads.h>

static mtx_t mutex;
static cnd_t changed;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t slot;
static int stage, once_runs, destroyed, detached_done;

static void run_once(void)
{
	once_runs++;
}

static void destroy(void *value)
{
	__atomic_add_fetch(&destroyed, *(int *)value, __ATOMIC_SEQ_CST);
}

static int step(void *argument)
{
	int mine = *(int *)argument;
	call_once(&flag, run_once);
	EQUAL(once_runs, 1);
	EQUAL(tss_set(slot, argument), thrd_success);
	EQUAL(mtx_lock(&mutex), thrd_success);
	while (stage != mine) {
		struct timespec soon = in_ms(CLOCK_REALTIME, 5);
		int code = mine == 2 ? cnd_timedwait(&changed, &mutex, &soon) : cnd_wait(&changed, &mutex);
		CHECK(code == thrd_success || (mine == 2 && code == thrd_timedout));
	}
	stage++;
	EQUAL(cnd_broadcast(&changed), thrd_success);
	EQUAL(mtx_unlock(&mutex), thrd_success);
	thrd_yield();
	CHECK(tss_get(slot) == argument);
	if (mine == 1)
		thrd_exit(mine * 10);
	return mine * 10;
}

static int detached(void *none)
{
	(void)none;
	EQUAL(mtx_lock(&mutex), thrd_success);
	detached_done = 1;
	EQUAL(cnd_signal(&changed), thrd_success);
	EQUAL(mtx_unlock(&mutex), thrd_success);
	return 0;
}

int main(void)
{
	thrd_t threads[3], other;
	int numbers[] = { 2, 1, 0 }, sum = 0, result;
	struct timespec nap = { 0, 2000000 };
	EQUAL(mtx_init(&mutex, mtx_plain), thrd_success);
	EQUAL(cnd_init(&changed), thrd_success);
	EQUAL(tss_create(&slot, destroy), thrd_success);
	for (int i = 0; i < 3; i++)
		EQUAL(thrd_create(&threads[i], step, &numbers[i]), thrd_success);
	for (int i = 0; i < 3; i++) {
		EQUAL(thrd_join(threads[i], &result), thrd_success);
		sum += result;
	}
	EQUAL(destroyed, 3);
	EQUAL(thrd_create(&other, detached, NULL), thrd_success);
	EQUAL(thrd_detach(other), thrd_success);
	EQUAL(mtx_lock(&mutex), thrd_success);
	while (!detached_done)
		EQUAL(cnd_wait(&changed, &mutex), thrd_success);
	EQUAL(mtx_unlock(&mutex), thrd_success);
	long long before = now_ns(CLOCK_MONOTONIC);
	EQUAL(thrd_sleep(&nap, NULL), 0);
	CHECK(now_ns(CLOCK_MONOTONIC) - before >= 2000000);
	CHECK(thrd_equal(thrd_current(), thrd_current()));
	tss_delete(slot);
	cnd_destroy(&changed);
	printf("%d %d\n", sum, stage);
	return 0;
}
