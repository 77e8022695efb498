/* The self-pipe: a handler writes, main reads; the signal comes from another thread.
 * may be named: process numbers */
#include "check.h"

#include <signal.h>
#include <unistd.h>

static int ends[2];

static void on_usr1(int number)
{
	char byte = (char)number;
	if (write(ends[1], &byte, 1) != 1)
		abort();
}

static void *sender(void *none)
{
	for (int i = 0; i < 3; i++) {
		EQUAL(kill(getpid(), SIGUSR1), 0);
		sched_yield();
	}
	return none;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_usr1, .sa_flags = SA_RESTART };
	char byte = 0;
	EQUAL(pipe(ends), 0);
	EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	pthread_t thread = start(sender, NULL);
	EQUAL(read(ends[0], &byte, 1), 1);
	EQUAL(byte, SIGUSR1);
	finish(thread);
	printf("woken\n");
	return 0;
}
