/* A signal before anybody waits, and a waiter that does not look at a flag.
 * expect: lost-wakeup */
#include "../../correct/check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *signal_it(void *none)
{
	EQUAL(pthread_cond_signal(&condition), 0);
	return none;
}

int main(void)
{
	pthread_t thread = start(signal_it, NULL);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_cond_wait(&condition, &mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	finish(thread);
	return 0;
}
