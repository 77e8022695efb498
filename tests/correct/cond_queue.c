/* A bounded queue: two producers, two consumers, one mutex, two conditions. */
#include "check.h"

#define ITEMS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static int queue[2], n, sum, consumed;

static void *produce(void *first)
{
	for (int i = 0; i < ITEMS; i++) {
		EQUAL(pthread_mutex_lock(&mutex), 0);
		while (n == 2)
			EQUAL(pthread_cond_wait(&not_full, &mutex), 0);
		queue[n++] = *(int *)first + i;
		EQUAL(pthread_cond_signal(&not_empty), 0);
		EQUAL(pthread_mutex_unlock(&mutex), 0);
	}
	return NULL;
}

static void *consume(void *none)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	while (consumed < 2 * ITEMS) {
		if (n == 0) {
			EQUAL(pthread_cond_wait(&not_empty, &mutex), 0);
			continue;
		}
		sum += queue[--n];
		if (++consumed == 2 * ITEMS)
			EQUAL(pthread_cond_broadcast(&not_empty), 0);
		EQUAL(pthread_cond_signal(&not_full), 0);
	}
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return none;
}

int main(void)
{
	int one = 1, hundred = 100;
	pthread_t threads[] = { start(consume, NULL), start(produce, &one), start(consume, NULL),
				start(produce, &hundred) };
	for (int i = 0; i < 4; i++)
		finish(threads[i]);
	EQUAL(pthread_cond_destroy(&not_empty), 0);
	EQUAL(pthread_cond_destroy(&not_full), 0);
	printf("%d\n", sum);
	return 0;
}
