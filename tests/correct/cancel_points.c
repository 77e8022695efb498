/* Every call that may block and is a cancellation point can be left by cancellation. */
#include "check.h"

#include <poll.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

static sem_t never;
static int pipe_ends[2], ended;

static void clean(void *none)
{
	(void)none;
	ended++;
}

static void block(int how)
{
	char byte;
	struct timespec late = in_ms(CLOCK_REALTIME, 600000), hour = { 3600, 0 };
	struct pollfd polled = { .fd = pipe_ends[0], .events = POLLIN };
	switch (how) {
	case 0:
		sem_wait(&never);
		break;
	case 1:
		sem_timedwait(&never, &late);
		break;
	case 2:
		nanosleep(&hour, NULL);
		break;
	case 3:
		read(pipe_ends[0], &byte, 1);
		break;
	case 4:
		poll(&polled, 1, -1);
		break;
	case 5:
		sleep(3600);
		break;
	case 6:
		clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL);
		break;
	}
}

/* Sleeps may be over before the cancellation comes: then the next one is met. */
static void *blocked(void *how)
{
	pthread_cleanup_push(clean, NULL);
	for (;;)
		block(*(int *)how);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *joins(void *thread)
{
	pthread_cleanup_push(clean, NULL);
	pthread_join(*(pthread_t *)thread, NULL);
	pthread_cleanup_pop(0);
	return NULL;
}

int main(void)
{
	EQUAL(sem_init(&never, 0, 0), 0);
	EQUAL(pipe(pipe_ends), 0);
	int hows[] = { 0, 1, 2, 3, 4, 5, 6 };
	for (int i = 0; i < 7; i++) {
		pthread_t thread = start(blocked, &hows[i]);
		EQUAL(pthread_cancel(thread), 0);
		CHECK(finish(thread) == PTHREAD_CANCELED);
	}
	/* Cancelled while it joins: the joined thread can still be joined. */
	pthread_t sleeper = start(blocked, &hows[0]), joiner = start(joins, &sleeper);
	EQUAL(pthread_cancel(joiner), 0);
	CHECK(finish(joiner) == PTHREAD_CANCELED);
	EQUAL(pthread_cancel(sleeper), 0);
	CHECK(finish(sleeper) == PTHREAD_CANCELED);
	printf("%d\n", ended);
	return 0;
}
