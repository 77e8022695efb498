/* pause and an alarm; the other thread has its work. */
#include "check.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t rung;
static int sum;

static void on_alarm(int number)
{
	(void)number;
	rung = 1;
}

static void *worker(void *none)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	EQUAL(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	for (int i = 0; i < 100; i++)
		sum += i;
	return none;
}

int main(void)
{
	sigset_t set, old;
	signal(SIGALRM, on_alarm);
	pthread_t thread = start(worker, NULL);
	finish(thread);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	alarm(1);
	if (!rung)
		pause();
	EQUAL(rung, 1);
	EQUAL(sigprocmask(SIG_BLOCK, &set, &old), 0);
	rung = 0;
	alarm(1);
	while (!rung)
		sigsuspend(&old);
	printf("%d %d\n", sum, (int)rung);
	return 0;
}
