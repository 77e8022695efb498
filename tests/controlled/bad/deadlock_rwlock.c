/* A reader that wants a mutex, a holder of the mutex that wants to write.
 * expect: deadlock */
#include "../../correct/check.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *reader_then_mutex(void *none)
{
	EQUAL(pthread_rwlock_rdlock(&lock), 0);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	return none;
}

int main(void)
{
	pthread_t thread = start(reader_then_mutex, NULL);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_rwlock_wrlock(&lock), 0);
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	finish(thread);
	return 0;
}
