/* The process tells itself to end in order: SIGTERM taken by sigwait in a thread that joins the others.
 * may be named: process numbers */
#include "check.h"

#include <signal.h>
#include <unistd.h>

static int stop, rounds;

static void *worker(void *none)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
		usleep(1000);
	}
	return none;
}

static void *signals(void *argument)
{
	int number;
	EQUAL(sigwait(argument, &number), 0);
	EQUAL(number, SIGTERM);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	return NULL;
}

int main(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	EQUAL(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	pthread_t a = start(worker, NULL), b = start(worker, NULL), s = start(signals, &set);
	EQUAL(kill(getpid(), SIGTERM), 0);
	finish(s), finish(a), finish(b);
	printf("stopped\n");
	return 0;
}
