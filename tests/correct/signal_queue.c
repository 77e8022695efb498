/* sigqueue with a value to a handler, while other threads wait for each other.
 * may be named: process numbers */
#include "check.h"

#include <signal.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int turn;
static volatile sig_atomic_t got;

static void on_queued(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	got += info->si_value.sival_int;
}

static void *player(void *argument)
{
	int me = *(int *)argument;
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&lock);
		while (turn != me)
			pthread_cond_wait(&change, &lock);
		turn = 1 - me;
		pthread_cond_signal(&change);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_queued, .sa_flags = SA_SIGINFO | SA_RESTART };
	int zero = 0, one = 1;
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	pthread_t a = start(player, &zero), b = start(player, &one);
	for (int i = 1; i <= 3; i++)
		EQUAL(sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = i }), 0);
	finish(a);
	finish(b);
	CHECK(got >= 3); /* not all of them need to be kept */
	printf("%d\n", turn);
	return 0;
}
