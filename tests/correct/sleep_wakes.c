/* A thread that polls with sleeps, one that sleeps before it acts: only the result counts. */
#include "check.h"

#include <unistd.h>

static int ready, value;

static void *late(void *none)
{
	usleep(3000);
	value = 42;
	__atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
	return none;
}

static void *patient(void *none)
{
	while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		usleep(500);
	EQUAL(value, 42);
	return none;
}

int main(void)
{
	pthread_t a = start(patient, NULL), b = start(late, NULL), c = start(patient, NULL);
	finish(a);
	finish(b);
	finish(c);
	printf("%d\n", value);
	return 0;
}
