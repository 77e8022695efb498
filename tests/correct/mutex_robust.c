/* A robust mutex whose owner ends: EOWNERDEAD, then consistent again, or lost for good. */
#include "check.h"

static pthread_mutex_t mutex;

static void *leaves_it_locked(void *none)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	return none;
}

static void *waits_for_it(void *none)
{
	int code = pthread_mutex_lock(&mutex);
	CHECK(code == 0 || code == EOWNERDEAD);
	if (code == EOWNERDEAD)
		EQUAL(pthread_mutex_consistent(&mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return none;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	EQUAL(pthread_mutexattr_init(&attributes), 0);
	EQUAL(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
	EQUAL(pthread_mutex_init(&mutex, &attributes), 0);

	finish(start(leaves_it_locked, NULL));
	EQUAL(pthread_mutex_lock(&mutex), EOWNERDEAD);
	EQUAL(pthread_mutex_consistent(&mutex), 0);
	EQUAL(pthread_mutex_consistent(&mutex), EINVAL);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);

	finish(start(leaves_it_locked, NULL));
	EQUAL(pthread_mutex_trylock(&mutex), EOWNERDEAD);
	EQUAL(pthread_mutex_consistent(&mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);

	/* Two wait, or come later: one of them at most meets the dead owner's lock. */
	pthread_t a = start(waits_for_it, NULL), b = start(waits_for_it, NULL);
	finish(a);
	finish(b);
	pthread_t owner = start(leaves_it_locked, NULL);
	finish(owner);
	a = start(waits_for_it, NULL), b = start(waits_for_it, NULL);
	finish(a);
	finish(b);

	finish(start(leaves_it_locked, NULL));
	EQUAL(pthread_mutex_lock(&mutex), EOWNERDEAD);
	EQUAL(pthread_mutex_unlock(&mutex), 0); /* not made consistent */
	EQUAL(pthread_mutex_lock(&mutex), ENOTRECOVERABLE);
	EQUAL(pthread_mutex_trylock(&mutex), ENOTRECOVERABLE);
	EQUAL(pthread_mutex_destroy(&mutex), 0);
	EQUAL(pthread_mutex_init(&mutex, &attributes), 0);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	puts("recovered");
	return 0;
}
