/* A recursive mutex: as many unlocks as locks, and only by its owner. */
#include "check.h"

static pthread_mutex_t mutex;
static int total;

static void *other(void *held)
{
	EQUAL(pthread_mutex_trylock(&mutex), held ? EBUSY : 0);
	if (held)
		EQUAL(pthread_mutex_unlock(&mutex), EPERM);
	else
		EQUAL(pthread_mutex_unlock(&mutex), 0);
	return NULL;
}

static void *count(void *none)
{
	for (int i = 0; i < 3; i++) {
		EQUAL(pthread_mutex_lock(&mutex), 0);
		EQUAL(pthread_mutex_lock(&mutex), 0);
		int old = total;
		EQUAL(pthread_mutex_unlock(&mutex), 0);
		total = old + 1;
		EQUAL(pthread_mutex_unlock(&mutex), 0);
	}
	return none;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	EQUAL(pthread_mutexattr_init(&attributes), 0);
	EQUAL(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE), 0);
	EQUAL(pthread_mutex_init(&mutex, &attributes), 0);
	EQUAL(pthread_mutexattr_destroy(&attributes), 0);
	EQUAL(pthread_mutex_unlock(&mutex), EPERM);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_mutex_trylock(&mutex), 0);
	struct timespec past = { 1, 0 };
	EQUAL(pthread_mutex_timedlock(&mutex, &past), 0);
	for (int i = 0; i < 3; i++) {
		finish(start(other, &mutex));
		EQUAL(pthread_mutex_unlock(&mutex), 0);
	}
	finish(start(other, NULL));
	pthread_t a = start(count, NULL), b = start(count, NULL);
	finish(a);
	finish(b);
	EQUAL(pthread_mutex_destroy(&mutex), 0);
	printf("%d\n", total);
	return 0;
}
