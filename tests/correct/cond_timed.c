/* Timed waits: over when nobody signals, with the mutex held again and the clock past the
 * deadline; on either clock; nonsense is refused; a signal or the end of time, never both lost. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, monotonic;
static int ready, seen;

static void *wait_ready(void *none)
{
	EQUAL(pthread_mutex_lock(&mutex), 0);
	while (!ready) {
		struct timespec soon = in_ms(CLOCK_REALTIME, 20);
		int code = pthread_cond_timedwait(&condition, &mutex, &soon);
		CHECK(code == 0 || code == ETIMEDOUT);
		EQUAL(pthread_mutex_lock(&mutex), EDEADLK); /* it is ours again */
	}
	seen++;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return none;
}

static void times_out(pthread_cond_t *cond, clockid_t clock)
{
	struct timespec soon = in_ms(clock, 3), past = { 1, 0 }, wrong = { 1, -1 };
	/* A wait may end early for no reason: then it goes on. */
	while (pthread_cond_timedwait(cond, &mutex, &soon) != ETIMEDOUT)
		;
	CHECK(now_ns(clock) >= soon.tv_sec * 1000000000ll + soon.tv_nsec);
	EQUAL(pthread_cond_timedwait(cond, &mutex, &past), ETIMEDOUT);
	EQUAL(pthread_cond_timedwait(cond, &mutex, &wrong), EINVAL);
	EQUAL(pthread_mutex_lock(&mutex), EDEADLK);
}

int main(void)
{
	pthread_condattr_t attributes;
	EQUAL(pthread_condattr_init(&attributes), 0);
	EQUAL(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
	EQUAL(pthread_cond_init(&monotonic, &attributes), 0);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	times_out(&condition, CLOCK_REALTIME);
	times_out(&monotonic, CLOCK_MONOTONIC);
	struct timespec soon = in_ms(CLOCK_MONOTONIC, 3);
	while (pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &soon) != ETIMEDOUT)
		;
	CHECK(now_ns(CLOCK_MONOTONIC) >= soon.tv_sec * 1000000000ll + soon.tv_nsec);
	EQUAL(pthread_mutex_unlock(&mutex), 0);

	pthread_t a = start(wait_ready, NULL), b = start(wait_ready, NULL);
	EQUAL(pthread_mutex_lock(&mutex), 0);
	ready = 1;
	EQUAL(pthread_cond_broadcast(&condition), 0);
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	finish(a);
	finish(b);
	printf("%d\n", seen);
	return 0;
}
