/* Adaptive mutexes and those with priority inheritance exclude like any other. */
#include "check.h"

static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, inheriting;
static int first, second;

static void *count(void *none)
{
	for (int i = 0; i < 3; i++) {
		EQUAL(pthread_mutex_lock(&adaptive), 0);
		first++;
		EQUAL(pthread_mutex_unlock(&adaptive), 0);
		EQUAL(pthread_mutex_lock(&inheriting), 0);
		second++;
		EQUAL(pthread_mutex_unlock(&inheriting), 0);
	}
	return none;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	EQUAL(pthread_mutexattr_init(&attributes), 0);
	EQUAL(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT), 0);
	EQUAL(pthread_mutex_init(&inheriting, &attributes), 0);
	pthread_t a = start(count, NULL), b = start(count, NULL);
	count(NULL);
	finish(a);
	finish(b);
	EQUAL(pthread_mutex_trylock(&inheriting), 0);
	EQUAL(pthread_mutex_trylock(&inheriting), EBUSY);
	EQUAL(pthread_mutex_unlock(&inheriting), 0);
	printf("%d %d\n", first, second);
	return 0;
}
