/* One signal for two waiters.
 * expect: lost-wakeup deadlock */
#include "../../correct/check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *wait_ready(void *none)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	while (!ready)
		EQUAL(pthread_cond_wait(&condition, &mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return none;
}

int main(void)
{
	pthread_t a = start(wait_ready, NULL), b = start(wait_ready, NULL);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	ready = 1;
	EQUAL(pthread_cond_signal(&condition), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	finish(a);
	finish(b);
	return 0;
}
