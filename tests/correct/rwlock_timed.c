/* Timed read and write locks, on either clock. */
#include "check.h"

static pthread_rwlock_t lock;
static int total;

static void *give_up(void *written)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 2), wrong = { 1, 1000000000 };
	EQUAL(pthread_rwlock_timedwrlock(&lock, &soon), ETIMEDOUT);
	CHECK(now_ns(CLOCK_REALTIME) >= soon.tv_sec * 1000000000ll + soon.tv_nsec);
	EQUAL(pthread_rwlock_timedwrlock(&lock, &wrong), EINVAL);
	soon = in_ms(CLOCK_MONOTONIC, 2);
	EQUAL(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
	soon = in_ms(CLOCK_REALTIME, 2);
	EQUAL(pthread_rwlock_timedrdlock(&lock, &soon), written ? ETIMEDOUT : 0);
	if (!written)
		EQUAL(pthread_rwlock_unlock(&lock), 0);
	soon = in_ms(CLOCK_MONOTONIC, 2);
	EQUAL(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &soon), written ? ETIMEDOUT : 0);
	if (!written)
		EQUAL(pthread_rwlock_unlock(&lock), 0);
	return NULL;
}

static void *insist(void *none)
{
	struct timespec soon;
	do
		soon = in_ms(CLOCK_REALTIME, 5);
	while (pthread_rwlock_timedwrlock(&lock, &soon) == ETIMEDOUT);
	total++;
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	return none;
}

int main(void)
{
	pthread_rwlockattr_t attributes;
	EQUAL(pthread_rwlockattr_init(&attributes), 0);
	EQUAL(pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP), 0);
	EQUAL(pthread_rwlock_init(&lock, &attributes), 0);
	struct timespec past = { 1, 0 };
	EQUAL(pthread_rwlock_timedwrlock(&lock, &past), 0);
	finish(start(give_up, &lock));
	pthread_t a = start(insist, NULL), b = start(insist, NULL);
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	finish(a);
	finish(b);
	EQUAL(pthread_rwlock_timedrdlock(&lock, &past), 0);
	finish(start(give_up, NULL));
	EQUAL(pthread_rwlock_unlock(&lock), 0);
	EQUAL(pthread_rwlock_destroy(&lock), 0);
	printf("%d\n", total);
	return 0;
}
