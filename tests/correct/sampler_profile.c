/* A profiler's timer of processor time interrupts threads at work; only that nothing breaks counts.
 * may be named as not under control */
#include "check.h"

#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t samples;
static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_sample(int number)
{
	(void)number;
	samples++;
}

static void *worker(void *none)
{
	for (int i = 0; i < 300; i++) {
		pthread_mutex_lock(&lock);
		total++;
		pthread_mutex_unlock(&lock);
		for (volatile int k = 0; k < 50; k++)
			;
	}
	return none;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_sample, .sa_flags = SA_RESTART };
	struct itimerval often = { .it_interval.tv_usec = 1000, .it_value.tv_usec = 1000 }, never = { 0 };
	EQUAL(sigaction(SIGPROF, &action, NULL), 0);
	EQUAL(setitimer(ITIMER_PROF, &often, NULL), 0);
	pthread_t a = start(worker, NULL), b = start(worker, NULL);
	finish(a), finish(b);
	EQUAL(setitimer(ITIMER_PROF, &never, NULL), 0);
	printf("%d\n", total);
	return 0;
}
