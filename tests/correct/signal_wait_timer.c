/* A POSIX timer whose signal a thread takes with sigwaitinfo, with its value. */
#include "check.h"

#include <signal.h>

static void *taker(void *set)
{
	siginfo_t info;
	long sum = 0;
	for (int i = 0; i < 3; i++) {
		EQUAL(sigwaitinfo(set, &info), SIGRTMIN);
		EQUAL(info.si_code, SI_TIMER);
		sum += info.si_value.sival_int;
	}
	return (void *)sum;
}

int main(void)
{
	sigset_t set;
	timer_t timer;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec often = { { 0, 2000000 }, { 0, 2000000 } };
	event.sigev_value.sival_int = 7;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	EQUAL(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	pthread_t thread = start(taker, &set);
	EQUAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	EQUAL(timer_settime(timer, 0, &often, NULL), 0);
	long sum = (long)finish(thread);
	EQUAL(timer_delete(timer), 0);
	printf("%ld\n", sum);
	return 0;
}
