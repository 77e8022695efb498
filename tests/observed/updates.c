/* An update that fails only reads; one that succeeds at the same place writes as well.
 * run: -> 0
 * pair: swap > look
 * no pair: put > look
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic long value;
static long seen;

static void *peek(void *unused)
{
	seen = value; /* @peek */
	return unused;
}

static void *look(void *unused)
{
	seen = value; /* @look */
	return unused;
}

static __attribute__((noinline)) void try_swap(long expected)
{
	atomic_compare_exchange_strong(&value, &expected, 3); /* @swap */
}

static int join_new(void *(*routine)(void *))
{
	pthread_t thread;
	return pthread_create(&thread, NULL, routine, NULL) != 0 || pthread_join(thread, NULL) != 0;
}

int main(void)
{
	value = 1;
	if (join_new(peek)) /* from here on the value has a predecessor */
		return 1;
	value = 1;
	value = 2; /* @put */
	for (long left = 10; left > 0; left--)
		try_swap(left > 1 ? 1000 : 2);
	if (join_new(look))
		return 1;
	printf("%ld\n", seen);
	return 0;
}
