/* A sum that is read first and written at the end, but not by the thread that has nothing to add: it goes on to the
 * barrier, and nothing there says that its group is over. */
#include <pthread.h>

static pthread_barrier_t all;
static volatile long sum;
static long parts[] = { 3, 0, 5 };

static void *add(void *argument)
{
	long part = *(long *)argument, before = sum; /* read */
	if (part)
		sum = before + part; /* write */
	pthread_barrier_wait(&all);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	pthread_barrier_init(&all, NULL, 3);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, add, &parts[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return sum != 8;
}
