/* Joining: values, codes, and the variants that do not wait for ever. */
#include "check.h"

#include <semaphore.h>

static sem_t go, detached_done;
static int nested_value;

static void *give_back(void *value)
{
	return value;
}

static void *leave(void *value)
{
	pthread_exit(value);
}

static void *wait_go(void *value)
{
	EQUAL(sem_wait(&go), 0);
	return value;
}

static void *detached(void *none)
{
	EQUAL(pthread_detach(pthread_self()), 0);
	EQUAL(sem_post(&detached_done), 0);
	return none;
}

static void *nested(void *none)
{
	pthread_t inner = start(give_back, &nested_value);
	CHECK(finish(inner) == &nested_value);
	EQUAL(pthread_join(pthread_self(), NULL), EDEADLK);
	return none;
}

int main(void)
{
	int value;
	void *result = NULL;
	EQUAL(sem_init(&go, 0, 0), 0);
	EQUAL(sem_init(&detached_done, 0, 0), 0);
	CHECK(finish(start(give_back, &value)) == &value);
	CHECK(finish(start(leave, &value)) == &value);
	finish(start(nested, NULL));

	pthread_t thread = start(wait_go, &value);
	struct timespec soon = in_ms(CLOCK_REALTIME, 3);
	EQUAL(pthread_tryjoin_np(thread, &result), EBUSY);
	EQUAL(pthread_timedjoin_np(thread, &result, &soon), ETIMEDOUT);
	CHECK(now_ns(CLOCK_REALTIME) >= soon.tv_sec * 1000000000ll + soon.tv_nsec);
	soon = in_ms(CLOCK_MONOTONIC, 3);
	EQUAL(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
	EQUAL(sem_post(&go), 0);
	int code;
	while ((code = pthread_tryjoin_np(thread, &result)))
		EQUAL(code, EBUSY);
	CHECK(result == &value);

	thread = start(wait_go, &go);
	EQUAL(sem_post(&go), 0);
	do
		soon = in_ms(CLOCK_REALTIME, 5);
	while ((code = pthread_timedjoin_np(thread, &result, &soon)) == ETIMEDOUT);
	EQUAL(code, 0);
	CHECK(result == &go);

	start(detached, NULL);
	EQUAL(sem_wait(&detached_done), 0);
	thread = start(wait_go, NULL);
	EQUAL(pthread_detach(thread), 0);
	EQUAL(pthread_join(thread, NULL), EINVAL); /* it still lives */
	EQUAL(sem_post(&go), 0);
	pthread_attr_t attributes;
	EQUAL(pthread_attr_init(&attributes), 0);
	EQUAL(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED), 0);
	EQUAL(pthread_attr_setstacksize(&attributes, 1 << 18), 0);
	EQUAL(pthread_create(&thread, &attributes, wait_go, NULL), 0);
	EQUAL(sem_post(&go), 0);
	puts("joined");
	return 0;
}
