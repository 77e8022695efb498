/* Cancellation waits while it is disabled, and for the next cancellation point. */
#include "check.h"

#include <semaphore.h>

static sem_t cancelled;
static int steps, cleaned;

static void clean(void *by)
{
	cleaned = cleaned * 10 + *(int *)by;
}

static void *disabled(void *none)
{
	int old, one = 1, two = 2;
	EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
	EQUAL(old, PTHREAD_CANCEL_ENABLE);
	EQUAL(sem_wait(&cancelled), 0); /* a cancellation point, but not now */
	pthread_testcancel();
	steps++;
	pthread_cleanup_push(clean, &one);
	pthread_cleanup_push(clean, &two);
	EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old), 0);
	EQUAL(old, PTHREAD_CANCEL_DISABLE);
	steps++; /* enabling is no cancellation point */
	pthread_testcancel();
	steps = 100;
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return none;
}

static void *popped(void *none)
{
	int three = 3, four = 4;
	pthread_cleanup_push(clean, &three);
	pthread_cleanup_pop(1);
	pthread_cleanup_push(clean, &four);
	pthread_exit(none);
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	int old;
	EQUAL(sem_init(&cancelled, 0, 0), 0);
	EQUAL(pthread_setcancelstate(77, &old), EINVAL);
	EQUAL(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old), 0);
	EQUAL(old, PTHREAD_CANCEL_DEFERRED);
	pthread_t thread = start(disabled, NULL);
	EQUAL(pthread_cancel(thread), 0);
	EQUAL(sem_post(&cancelled), 0);
	CHECK(finish(thread) == PTHREAD_CANCELED);
	EQUAL(steps, 2);
	EQUAL(cleaned, 21);
	cleaned = 0;
	CHECK(finish(start(popped, &steps)) == &steps);
	printf("%d %d\n", steps, cleaned);
	return 0;
}
