/* A thread takes a normal mutex that it already holds.
 * expect: deadlock */
#include "../../correct/check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void inner(void)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
}

int main(void)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	inner();
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return 0;
}
