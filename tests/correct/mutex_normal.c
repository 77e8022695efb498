/* Three threads count under a normal mutex; trylock of a held one says EBUSY. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *count(void *none)
{
	for (int i = 0; i < 4; i++) {
		EQUAL(pthread_mutex_lock(&mutex), 0);
		int old = total;
		total = old + 1;
		EQUAL(pthread_mutex_unlock(&mutex), 0);
	}
	return none;
}

static void *try_held(void *none)
{
	EQUAL(pthread_mutex_trylock(&mutex), EBUSY);
	return none;
}

int main(void)
{
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		threads[i] = start(count, NULL);
	for (int i = 0; i < 3; i++)
		finish(threads[i]);
	EQUAL(pthread_mutex_trylock(&mutex), 0);
	finish(start(try_held, NULL));
	EQUAL(pthread_mutex_trylock(&mutex), EBUSY);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	EQUAL(pthread_mutex_destroy(&mutex), 0);
	printf("%d\n", total);
	return 0;
}
