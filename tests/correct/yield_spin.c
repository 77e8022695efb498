/* Threads that wait by spinning, with and without yielding, get where they want to. */
#include "check.h"

#include <sched.h>

static int flag, turn, total, locked;

static void *wait_yielding(void *none)
{
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		sched_yield();
	EQUAL(total, 7);
	return none;
}

static void *wait_spinning(void *none)
{
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		;
	EQUAL(total, 7);
	return none;
}

/* Two take turns, each spinning for the other. */
static void *ping_pong(void *me)
{
	for (int i = 0; i < 3; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != *(int *)me)
			;
		__atomic_store_n(&turn, 1 - *(int *)me, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* A lock of one's own. */
static void *own_lock(void *sum)
{
	for (int i = 0; i < 3; i++) {
		int expected = 0;
		while (!__atomic_compare_exchange_n(&locked, &expected, 1, 0, __ATOMIC_ACQUIRE,
						    __ATOMIC_RELAXED))
			expected = 0;
		++*(int *)sum;
		__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
	}
	return NULL;
}

int main(void)
{
	int zero = 0, one = 1, sum = 0;
	pthread_t threads[] = { start(wait_yielding, NULL), start(wait_spinning, NULL),
				start(ping_pong, &zero),    start(ping_pong, &one),
				start(own_lock, &sum),      start(own_lock, &sum) };
	total = 7;
	__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 6; i++)
		finish(threads[i]);
	printf("%d %d\n", turn, sum);
	return 0;
}
