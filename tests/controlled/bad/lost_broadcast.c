/* A broadcast that wakes one waiter, while another has looked at the flag and does not wait yet.
 * expect: lost-wakeup */
#include "../../correct/check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile int stop;

static void *wait_for_it(void *none)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	while (!stop)
		EQUAL(pthread_cond_wait(&changed, &mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return none;
}

int main(void)
{
	pthread_t one = start(wait_for_it, NULL), other = start(wait_for_it, NULL);
	stop = 1; /* without the mutex */
	EQUAL(pthread_cond_broadcast(&changed), 0);
	finish(one);
	finish(other);
	return 0;
}
