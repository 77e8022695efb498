/* Signals that all threads block and one takes with sigwaitinfo: those of an interval timer, and one that a
 * thread other than the first sends to the process. Process numbers may be named. */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#define TICKS 5

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ticked = PTHREAD_COND_INITIALIZER;
static int ticks;

static void *take(void *set)
{
	for (;;) {
		siginfo_t info;
		int number = sigwaitinfo(set, &info);

		if (number == SIGUSR1) {
			CHECK(info.si_code == SI_USER && info.si_pid == getpid());
			return NULL;
		}
		CHECK(number == SIGALRM);
		pthread_mutex_lock(&lock);
		ticks++;
		pthread_cond_broadcast(&ticked);
		pthread_mutex_unlock(&lock);
	}
}

static void *wait_for_ticks(void *unused)
{
	pthread_mutex_lock(&lock);
	while (ticks < TICKS)
		pthread_cond_wait(&ticked, &lock);
	pthread_mutex_unlock(&lock);
	CHECK(kill(getpid(), SIGUSR1) == 0);
	return unused;
}

int main(void)
{
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } };
	pthread_t taker, waiter;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&taker, NULL, take, &set);
	pthread_create(&waiter, NULL, wait_for_ticks, NULL);
	CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
	pthread_join(waiter, NULL);
	pthread_join(taker, NULL);
	puts("every signal was taken");
	return 0;
}
