/* A handler that counts once, and the usual action is not wanted twice: SA_RESETHAND, then ignored. */
#include "check.h"

#include <signal.h>

static volatile sig_atomic_t count;

static void on_usr1(int number)
{
	(void)number;
	count++;
}

static void *poke(void *none)
{
	EQUAL(raise(SIGUSR1), 0);
	return none;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_usr1, .sa_flags = (int)SA_RESETHAND }, old;
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	finish(start(poke, NULL));
	EQUAL(sigaction(SIGUSR1, NULL, &old), 0);
	CHECK(old.sa_handler == SIG_DFL);
	signal(SIGUSR1, SIG_IGN);
	finish(start(poke, NULL));
	CHECK(signal(SIGUSR1, on_usr1) == SIG_IGN);
	CHECK(signal(SIGUSR1, SIG_DFL) == on_usr1);
	printf("%d\n", (int)count);
	return 0;
}
