/* Two threads, of which the first leaves with the lock that the second one wants, as the last one that could go on:
 * nobody but itself could have been awaited.
 * expect: deadlock */
#include "../../correct/check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *take_twice(void *none)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	return none; /* forgets the mutex */
}

int main(void)
{
	pthread_t a = start(take_twice, NULL), b = start(take_twice, NULL);
	finish(a);
	finish(b);
	return 0;
}
