/* Looks at the clock while it works and complains when five seconds are over; another thread sleeps for long. */
#include "check.h"

#include <unistd.h>

static int stop;

static void *dozer(void *none)
{
	for (int i = 0; i < 5 && !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); i++)
		usleep(700000);
	return none;
}

int main(void)
{
	long long begin = now_ns(CLOCK_MONOTONIC);
	volatile int work = 0;
	pthread_t thread = start(dozer, NULL);
	for (int i = 0; i < 2000; i++) {
		work += i;
		if (i % 100 == 0)
			CHECK(now_ns(CLOCK_MONOTONIC) - begin < 5000000000ll);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	finish(thread);
	printf("%d\n", work);
	return 0;
}
