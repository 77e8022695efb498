/* The flag is set and signalled without the mutex: between the look and the wait.
 * expect: lost-wakeup */
#include "../../correct/check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile int ready;

static void *signal_it(void *none)
{
	ready = 1;
	EQUAL(pthread_cond_broadcast(&condition), 0);
	return none;
}

int main(void)
{
	pthread_t thread = start(signal_it, NULL);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	while (!ready)
		EQUAL(pthread_cond_wait(&condition, &mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	finish(thread);
	return 0;
}
