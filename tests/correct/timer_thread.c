/* A timer that wants a function called in a thread; main waits for what it does. */
#include "check.h"

#include <semaphore.h>
#include <signal.h>

static sem_t rung;
static int calls;

static void on_time(union sigval value)
{
	EQUAL(value.sival_int, 5);
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	sem_post(&rung);
}

int main(void)
{
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_time };
	struct itimerspec once = { { 0, 0 }, { 0, 5000000 } };
	event.sigev_value.sival_int = 5;
	EQUAL(sem_init(&rung, 0, 0), 0);
	EQUAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	EQUAL(timer_settime(timer, 0, &once, NULL), 0);
	EQUAL(sem_wait(&rung), 0);
	EQUAL(timer_delete(timer), 0);
	printf("%d\n", calls);
	return 0;
}
