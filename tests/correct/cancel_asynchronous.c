/* A loop without an end is cancelled asynchronously; clean-up handlers run. */
#include "check.h"

static volatile long turns;
static int cleaned;

static void clean(void *none)
{
	(void)none;
	__atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED);
}

static void *loop(void *none)
{
	pthread_cleanup_push(clean, NULL);
	EQUAL(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
	for (;;)
		turns++;
	pthread_cleanup_pop(0);
	return none;
}

int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		threads[i] = start(loop, NULL);
	while (turns < 10)
		sched_yield();
	for (int i = 0; i < 2; i++)
		EQUAL(pthread_cancel(threads[i]), 0);
	for (int i = 0; i < 2; i++)
		CHECK(finish(threads[i]) == PTHREAD_CANCELED);
	EQUAL(cleaned, 2);
	printf("cancelled\n");
	return 0;
}
