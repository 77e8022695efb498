/* Threads that do the same: each looks without the lock whether there is something to take, and takes it under the
 * lock. */
#include <pthread.h>
#include <stdlib.h>

#define ITEMS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int next;
static int items[ITEMS];

static void *take_all(void *unused)
{
	while (next < ITEMS) { /* look */
		pthread_mutex_lock(&lock);
		int taken = next; /* take */
		next = taken + 1;
		pthread_mutex_unlock(&lock);
		if (taken >= ITEMS)
			abort();
		items[taken]++;
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, take_all, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
