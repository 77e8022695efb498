/* Signals that threads send each other and themselves: each handler runs, in its thread, once per signal.
 * may be named: process numbers */
#include "check.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

static pthread_t target;
static volatile sig_atomic_t handled;
static int by_self;

static void on_usr1(int number)
{
	EQUAL(number, SIGUSR1);
	CHECK(pthread_equal(pthread_self(), target));
	handled++;
}

static void on_usr2(int number)
{
	EQUAL(number, SIGUSR2);
	by_self++;
}

static void *wait_for_signal(void *none)
{
	while (!handled)
		sched_yield();
	return none;
}

static void *take(void *set)
{
	int number = 0;
	EQUAL(sigwait(set, &number), 0);
	EQUAL(number, SIGTERM);
	return set;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_usr1 };
	sigset_t set;
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	action.sa_handler = on_usr2;
	EQUAL(sigaction(SIGUSR2, &action, NULL), 0);
	target = start(wait_for_signal, NULL);
	EQUAL(pthread_kill(target, 0), 0);
	EQUAL(pthread_kill(target, SIGUSR1), 0);
	finish(target);
	EQUAL(raise(SIGUSR2), 0);
	EQUAL(by_self, 1);
	EQUAL(pthread_kill(pthread_self(), SIGUSR2), 0);
	EQUAL(by_self, 2);
	EQUAL(kill(getpid(), SIGUSR2), 0); /* the only thread that lets it in */
	EQUAL(by_self, 3);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	EQUAL(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	pthread_t taker = start(take, &set);
	EQUAL(pthread_kill(taker, SIGTERM), 0);
	finish(taker);
	printf("%d %d\n", (int)handled, by_self);
	return 0;
}
