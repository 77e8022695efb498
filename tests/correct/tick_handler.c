/* A timer ticks all the time while threads work under a lock; its handler only counts. */
#include "check.h"

#include <signal.h>
#include <sys/time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t ticks;
static int count;

static void on_tick(int number)
{
	(void)number;
	ticks = ticks + 1;
}

static void *worker(void *none)
{
	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&lock);
		count++;
		pthread_mutex_unlock(&lock);
	}
	return none;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	EQUAL(sigaction(SIGALRM, &action, NULL), 0);
	EQUAL(setitimer(ITIMER_REAL, &often, NULL), 0);
	pthread_t a = start(worker, NULL), b = start(worker, NULL);
	finish(a);
	finish(b);
	EQUAL(setitimer(ITIMER_REAL, &never, NULL), 0);
	CHECK(ticks >= 0);
	printf("%d\n", count);
	return 0;
}
