/* Atomic operations are reads and writes of one site; a compare-exchange that
 * fails writes nothing.
 * run: -> 0
 * pair: add > load
 * pair: add > add2
 * pair: set > failed
 * no pair: failed > after
 * pair: set > after
 * pair: swap > swapped
 * pair: flag > wait
 * threads: 3
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static atomic_int counter, guarded, exchanged;
static _Atomic uint64_t wide;
static atomic_bool ready;
static volatile _Atomic char small;

static void *first(void *argument)
{
	atomic_fetch_add(&counter, 3); /* @add */
	atomic_store(&guarded, 1); /* @set */
	atomic_exchange(&exchanged, 4); /* @swap */
	small++;
	atomic_fetch_or_explicit(&wide, 1ull << 40, memory_order_relaxed);
	atomic_store_explicit(&ready, 1, memory_order_release); /* @flag */
	return argument;
}

static void *second(void *argument)
{
	/* Twice: a hook stands before its read, so the first one that sees the flag may count as earlier. */
	for (int seen = 0; seen < 2;)
		seen += atomic_load_explicit(&ready, memory_order_acquire); /* @wait */
	int expected = 99;
	int sum = counter; /* @load */
	sum += atomic_fetch_sub(&counter, 1); /* @add2 */
	sum += atomic_compare_exchange_strong(&guarded, &expected, 7); /* @failed */
	sum += (int)atomic_load(&wide) + small;
	sum += exchanged; /* @swapped */
	return (char *)argument + sum;
}

int main(void)
{
	pthread_t threads[2];
	void *result;
	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], &result);
	int last = guarded; /* @after */
	printf("%d %d %ld\n", last, counter, (long)(intptr_t)result);
	return 0;
}
