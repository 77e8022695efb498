/* Producers and consumers of one slot wait at one condition variable for different things, and each signal may wake
 * one of the wrong kind. */
#include <pthread.h>
#include <stdio.h>

#ifdef MENDED
#define pthread_cond_signal pthread_cond_broadcast
#endif

#define EACH 2
#define ITEMS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full, taken;

static void *produce(void *argument)
{
	for (int i = 0; i < ITEMS; i++) {
		pthread_mutex_lock(&lock);
		while (full)
			pthread_cond_wait(&changed, &lock); /* room */
		full = 1;
		pthread_cond_signal(&changed); /* filled */
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

static void *consume(void *argument)
{
	for (int i = 0; i < ITEMS; i++) {
		pthread_mutex_lock(&lock);
		while (!full)
			pthread_cond_wait(&changed, &lock); /* items */
		full = 0;
		taken++;
		pthread_cond_signal(&changed); /* emptied */
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

int main(void)
{
	pthread_t threads[2 * EACH];

	for (int i = 0; i < 2 * EACH; i++)
		pthread_create(&threads[i], NULL, i % 2 ? consume : produce, NULL);
	for (int i = 0; i < 2 * EACH; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", taken);
	return taken != EACH * ITEMS;
}
