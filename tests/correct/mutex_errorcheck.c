/* An errorcheck mutex: what POSIX asks of a second lock, of a foreign unlock and of none. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void *other(void *none)
{
	EQUAL(pthread_mutex_unlock(&mutex), EPERM);
	EQUAL(pthread_mutex_trylock(&mutex), EBUSY);
	struct timespec soon = in_ms(CLOCK_REALTIME, 2);
	EQUAL(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
	return none;
}

static void *waiter(void *value)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	++*(int *)value;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return NULL;
}

int main(void)
{
	int value = 0;
	EQUAL(pthread_mutex_unlock(&mutex), EPERM);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_mutex_lock(&mutex), EDEADLK);
	EQUAL(pthread_mutex_trylock(&mutex), EBUSY);
	struct timespec soon = in_ms(CLOCK_REALTIME, 1000);
	EQUAL(pthread_mutex_timedlock(&mutex, &soon), EDEADLK);
	EQUAL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon), EDEADLK);
	finish(start(other, NULL));
	pthread_t a = start(waiter, &value), b = start(waiter, &value);
	value++;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	finish(a);
	finish(b);
	EQUAL(pthread_mutex_unlock(&mutex), EPERM);
	printf("%d\n", value);
	return 0;
}
