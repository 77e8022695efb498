/* Two threads that add to one number without a lock. Each stops between its read and its
 * write until the other has had its turn, or until it has looked often enough. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct {
	long total;
} shared;

static _Atomic int inside;

static void *add(void *amount)
{
	long now = shared.total;

	inside++;
	for (long i = 0; inside < 2 && i < 30000000; i++)
		;
	shared.total = now + (long)amount;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", shared.total);
	return shared.total == 3 ? 0 : 1;
}
