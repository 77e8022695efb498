/* What the kernel keeps for each thread (number, name, mask of signals, handlers' stack) stays with the
 * thread, whoever ran before it is asked for.
 * may be named: process numbers */
#include "check.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t begun;
static int turns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int handled;

static void on_usr1(int number)
{
	EQUAL(number, SIGUSR1);
	handled++;
}

static void take_turns(void)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&lock);
		turns++;
		pthread_mutex_unlock(&lock);
		sched_yield();
	}
}

static void *work(void *number)
{
	char name[16], again[16];
	sigset_t blocked, now;
	take_turns(); /* carried, if at all */
	snprintf(name, sizeof name, "worker %ld", (long)number);
	EQUAL(pthread_setname_np(pthread_self(), name), 0);
	pid_t tid = gettid();
	sigemptyset(&blocked);
	sigaddset(&blocked, number ? SIGUSR2 : SIGTERM);
	EQUAL(pthread_sigmask(SIG_BLOCK, &blocked, NULL), 0);
	pthread_barrier_wait(&begun);
	take_turns();
	EQUAL(raise(SIGUSR1), 0);
	EQUAL(handled, 1);
	EQUAL(gettid(), tid);
	EQUAL(syscall(SYS_gettid), tid);
	EQUAL(pthread_getname_np(pthread_self(), again, sizeof again), 0);
	EQUAL(strcmp(name, again), 0);
	EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
	EQUAL(sigismember(&now, SIGUSR2), number ? 1 : 0);
	EQUAL(sigismember(&now, SIGTERM), number ? 0 : 1);
	return number;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_usr1 };
	EQUAL(pthread_barrier_init(&begun, NULL, 3), 0);
	pthread_t first = start(work, NULL), second = start(work, (void *)1);
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	pthread_barrier_wait(&begun);
	finish(first);
	finish(second);
	EQUAL(turns, 16);
	puts("done");
	return 0;
}
