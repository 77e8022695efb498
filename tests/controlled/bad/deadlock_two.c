/* Two locks, taken in opposite order by two threads.
 * expect: deadlock */
#include "../../correct/check.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *backward(void *none)
{
	EQUAL(pthread_mutex_lock(&b), 0);
	EQUAL(pthread_mutex_lock(&a), 0);
	EQUAL(pthread_mutex_unlock(&a), 0);
	EQUAL(pthread_mutex_unlock(&b), 0);
	return none;
}

int main(void)
{
	pthread_t thread = start(backward, NULL);
	EQUAL(pthread_mutex_lock(&a), 0);
	EQUAL(pthread_mutex_lock(&b), 0);
	EQUAL(pthread_mutex_unlock(&b), 0);
	EQUAL(pthread_mutex_unlock(&a), 0);
	finish(thread);
	return 0;
}
