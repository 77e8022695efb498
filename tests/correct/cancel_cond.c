/* Cancelled in a wait on a condition, a thread has the mutex again in its cleanup handler. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int cleaned;

static void clean(void *timed)
{
	EQUAL(pthread_mutex_lock(&mutex), EDEADLK);
	cleaned += timed ? 10 : 1;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
}

static void *wait_for_ever(void *timed)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	pthread_cleanup_push(clean, timed);
	for (;;) {
		struct timespec soon = in_ms(CLOCK_REALTIME, 5);
		if (timed)
			pthread_cond_timedwait(&condition, &mutex, &soon);
		else
			pthread_cond_wait(&condition, &mutex);
	}
	pthread_cleanup_pop(1);
	return NULL;
}

int main(void)
{
	pthread_t a = start(wait_for_ever, NULL), b = start(wait_for_ever, &mutex);
	EQUAL(pthread_mutex_lock(&mutex), 0); /* the handlers wait for it as well */
	EQUAL(pthread_cancel(a), 0);
	EQUAL(pthread_cancel(b), 0);
	cleaned += 100;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	CHECK(finish(a) == PTHREAD_CANCELED);
	CHECK(finish(b) == PTHREAD_CANCELED);
	printf("%d\n", cleaned);
	return 0;
}
