/* Timed locks: they give up when the mutex stays held, succeed when it is free whatever the
 * deadline, and refuse nonsense; the clock has passed the deadline when they give up. */
#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *give_up(void *none)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 3), past = { 1, 0 }, wrong = { 1, 1000000000 };
	EQUAL(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT);
	CHECK(now_ns(CLOCK_REALTIME) >= soon.tv_sec * 1000000000ll + soon.tv_nsec);
	EQUAL(pthread_mutex_timedlock(&mutex, &past), ETIMEDOUT);
	EQUAL(pthread_mutex_timedlock(&mutex, &wrong), EINVAL);
	soon = in_ms(CLOCK_MONOTONIC, 3);
	EQUAL(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
	CHECK(now_ns(CLOCK_MONOTONIC) >= soon.tv_sec * 1000000000ll + soon.tv_nsec);
	EQUAL(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &soon), EINVAL);
	return none;
}

/* Gets it in the end, after as many attempts as it takes. */
static void *insist(void *none)
{
	int code;
	do {
		struct timespec soon = in_ms(CLOCK_REALTIME, 5);
		code = pthread_mutex_timedlock(&mutex, &soon);
		CHECK(code == 0 || code == ETIMEDOUT);
	} while (code);
	total++;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	return none;
}

int main(void)
{
	struct timespec past = { 1, 0 }, soon;
	EQUAL(pthread_mutex_timedlock(&mutex, &past), 0);
	soon = in_ms(CLOCK_REALTIME, 2);
	EQUAL(pthread_mutex_timedlock(&mutex, &soon), ETIMEDOUT); /* held by itself, normal type */
	finish(start(give_up, NULL));
	pthread_t a = start(insist, NULL), b = start(insist, NULL);
	total++;
	EQUAL(pthread_mutex_unlock(&mutex), 0);
	finish(a);
	finish(b);
	printf("%d\n", total);
	return 0;
}
