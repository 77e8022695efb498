/* Waits on a condition with a second mutex in its hand, which the signaller needs.
 * expect: deadlock */
#include "../../correct/check.h"

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *signal_it(void *none)
{
	EQUAL(pthread_mutex_lock(&outer), 0);
	EQUAL(pthread_mutex_lock(&inner), 0);
	ready = 1;
	EQUAL(pthread_cond_signal(&condition), 0);
	EQUAL(pthread_mutex_unlock(&inner), 0);
	EQUAL(pthread_mutex_unlock(&outer), 0);
	return none;
}

int main(void)
{
	pthread_t thread = start(signal_it, NULL);
	EQUAL(pthread_mutex_lock(&outer), 0);
	EQUAL(pthread_mutex_lock(&inner), 0);
	while (!ready)
		EQUAL(pthread_cond_wait(&condition, &inner), 0);
	EQUAL(pthread_mutex_unlock(&inner), 0);
	EQUAL(pthread_mutex_unlock(&outer), 0);
	finish(thread);
	return 0;
}
