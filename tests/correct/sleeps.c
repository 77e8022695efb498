/* Sleeps last as long as they say by every clock, clocks never go back and agree with each other. */
#include "check.h"

#include <sys/time.h>
#include <unistd.h>

#define MS 1000000ll

static void *nap(void *none)
{
	struct timespec two = { 0, 2 * MS };
	long long before = now_ns(CLOCK_MONOTONIC), last = before;
	for (int i = 0; i < 3; i++) {
		EQUAL(nanosleep(&two, NULL), 0);
		long long now = now_ns(CLOCK_MONOTONIC);
		CHECK(now - last >= 2 * MS);
		last = now;
	}
	CHECK(last - before >= 6 * MS);
	return none;
}

static long long of_day(void)
{
	struct timeval t;
	EQUAL(gettimeofday(&t, NULL), 0);
	return t.tv_sec * 1000000000ll + t.tv_usec * 1000ll;
}

int main(void)
{
	struct timespec wrong = { 0, 1000000000 }, negative = { -1, 0 }, three = { 0, 3 * MS };
	pthread_t a = start(nap, NULL), b = start(nap, NULL);
	long long real = now_ns(CLOCK_REALTIME), monotonic = now_ns(CLOCK_MONOTONIC), day = of_day();
	time_t seconds = time(NULL);
	EQUAL(usleep(3000), 0);
	CHECK(now_ns(CLOCK_REALTIME) - real >= 3 * MS);
	CHECK(now_ns(CLOCK_MONOTONIC) - monotonic >= 3 * MS);
	CHECK(of_day() - day >= 3 * MS - 1000);
	CHECK(time(NULL) >= seconds);
	EQUAL(clock_nanosleep(CLOCK_REALTIME, 0, &three, NULL), 0);
	CHECK(now_ns(CLOCK_REALTIME) - real >= 6 * MS);
	struct timespec at = in_ms(CLOCK_MONOTONIC, 4);
	EQUAL(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL), 0);
	CHECK(now_ns(CLOCK_MONOTONIC) >= at.tv_sec * 1000000000ll + at.tv_nsec);
	EQUAL(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL), 0); /* in the past */
	EQUAL(clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, NULL), EINVAL);
	FAILS(nanosleep(&wrong, NULL), EINVAL);
	FAILS(nanosleep(&negative, NULL), EINVAL);
	EQUAL(sleep(0), 0);
	/* The same second by all clocks of the day, read in this order. */
	time_t t1 = time(NULL);
	long long t2 = of_day(), t3 = now_ns(CLOCK_REALTIME);
	CHECK(t1 <= t2 / 1000000000 && t2 <= t3);
	CHECK(t3 / 1000000000 - t1 <= 60); /* the thread may have been held up, but not for ever */
	finish(a);
	finish(b);
	puts("rested");
	return 0;
}
