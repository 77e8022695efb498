/* An allA-B order violation: the sum is to be read when all workers have added their part,
 * but who reads it waits for the first of them only. */
#include <pthread.h>
#include <stdio.h>

#include "../pause.h"

#define WORKERS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned sum, added;

static unsigned work(unsigned state, int steps)
{
	for (int i = 0; i < steps; i++)
		state = (state ^ (state >> 15)) * 2246822519u + 3;
	return state;
}

static void *worker_main(void *part)
{
	work(1, 1000);
	if (*(unsigned *)part == 100)
		PAUSE(10);
	pthread_mutex_lock(&lock);
	sum += *(unsigned *)part;
	added++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];
	unsigned parts[WORKERS] = { 1, 10, 100 };

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, worker_main, &parts[i]);
	work(2, 4000000);
	pthread_mutex_lock(&lock);
	while (!added)
		pthread_cond_wait(&changed, &lock);
	unsigned seen = sum;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("%u\n", seen);
	return seen != 111;
}
