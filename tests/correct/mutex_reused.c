/* One place, several mutexes one after the other: what was destroyed is forgotten. */
#include "check.h"

static int total;

static void *count(void *mutex)
{
	EQUAL(pthread_mutex_lock(mutex), 0);
	total++;
	EQUAL(pthread_mutex_unlock(mutex), 0);
	return NULL;
}

int main(void)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK };
	static const int second[] = { EBUSY, 0, EBUSY };
	for (int i = 0; i < 6; i++) {
		pthread_mutex_t *mutex = malloc(sizeof *mutex);
		pthread_mutexattr_t attributes;
		EQUAL(pthread_mutexattr_init(&attributes), 0);
		EQUAL(pthread_mutexattr_settype(&attributes, types[i % 3]), 0);
		EQUAL(pthread_mutex_init(mutex, &attributes), 0);
		EQUAL(pthread_mutex_lock(mutex), 0);
		EQUAL(pthread_mutex_trylock(mutex), second[i % 3]);
		if (!second[i % 3])
			EQUAL(pthread_mutex_unlock(mutex), 0);
		pthread_t a = start(count, mutex);
		EQUAL(pthread_mutex_unlock(mutex), 0);
		finish(a);
		if (i < 3)
			EQUAL(pthread_mutex_destroy(mutex), 0);
		free(mutex); /* destroyed or not */
	}
	printf("%d\n", total);
	return 0;
}
