/* Unnamed semaphores: counts, codes, time-outs. */
#include "check.h"

#include <limits.h>
#include <semaphore.h>

static sem_t items, room, done;
static int buffer, sum;

static void *produce(void *none)
{
	for (int i = 1; i <= 4; i++) {
		EQUAL(sem_wait(&room), 0);
		buffer = i;
		EQUAL(sem_post(&items), 0);
	}
	return none;
}

static void *consume(void *none)
{
	for (int i = 0; i < 4; i++) {
		struct timespec soon;
		do
			soon = in_ms(CLOCK_REALTIME, 5);
		while (sem_timedwait(&items, &soon) != 0 && errno == ETIMEDOUT);
		sum += buffer;
		EQUAL(sem_post(&room), 0);
	}
	EQUAL(sem_post(&done), 0);
	return none;
}

int main(void)
{
	int value;
	struct timespec soon, past = { 1, 0 }, wrong = { 1, 1000000000 };
	EQUAL(sem_init(&items, 0, 2), 0);
	EQUAL(sem_getvalue(&items, &value), 0);
	EQUAL(value, 2);
	EQUAL(sem_trywait(&items), 0);
	EQUAL(sem_timedwait(&items, &past), 0); /* free: the time does not matter */
	FAILS(sem_trywait(&items), EAGAIN);
	FAILS(sem_timedwait(&items, &past), ETIMEDOUT);
	FAILS(sem_timedwait(&items, &wrong), EINVAL);
	soon = in_ms(CLOCK_REALTIME, 3);
	FAILS(sem_timedwait(&items, &soon), ETIMEDOUT);
	CHECK(now_ns(CLOCK_REALTIME) >= soon.tv_sec * 1000000000ll + soon.tv_nsec);
	soon = in_ms(CLOCK_MONOTONIC, 3);
	FAILS(sem_clockwait(&items, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
	EQUAL(sem_getvalue(&items, &value), 0);
	EQUAL(value, 0);
	EQUAL(sem_init(&room, 0, SEM_VALUE_MAX), 0);
	FAILS(sem_post(&room), EOVERFLOW);
	EQUAL(sem_destroy(&room), 0);
	FAILS(sem_init(&room, 0, (unsigned)SEM_VALUE_MAX + 1), EINVAL);

	EQUAL(sem_init(&room, 0, 1), 0);
	EQUAL(sem_init(&done, 0, 0), 0);
	pthread_t a = start(produce, NULL), b = start(consume, NULL);
	EQUAL(sem_wait(&done), 0);
	finish(a);
	finish(b);
	printf("%d\n", sum);
	return 0;
}
