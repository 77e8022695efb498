/* A periodic timer's handler posts a semaphore that a thread waits for. */
#include "check.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

static sem_t ticks;

static void on_tick(int number)
{
	(void)number;
	sem_post(&ticks);
}

static void *waiter(void *none)
{
	for (int i = 0; i < 3; i++)
		while (sem_wait(&ticks) != 0)
			EQUAL(errno, EINTR);
	return none;
}

int main(void)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
	EQUAL(sem_init(&ticks, 0, 0), 0);
	signal(SIGALRM, on_tick);
	pthread_t thread = start(waiter, NULL);
	EQUAL(setitimer(ITIMER_REAL, &often, NULL), 0);
	finish(thread);
	EQUAL(setitimer(ITIMER_REAL, &never, NULL), 0);
	printf("three ticks\n");
	return 0;
}
