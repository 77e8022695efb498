/* The self-pipe with poll: an alarm's handler writes, the loop of main polls. */
#include "check.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

static int ends[2];
static int worked;

static void on_alarm(int number)
{
	char byte = (char)number;
	if (write(ends[1], &byte, 1) != 1)
		abort();
}

static void *worker(void *none)
{
	for (int i = 0; i < 50; i++)
		__atomic_fetch_add(&worked, 1, __ATOMIC_RELAXED);
	return none;
}

int main(void)
{
	char byte = 0;
	EQUAL(pipe(ends), 0);
	signal(SIGALRM, on_alarm);
	pthread_t thread = start(worker, NULL);
	alarm(1);
	for (;;) {
		struct pollfd polled = { .fd = ends[0], .events = POLLIN };
		int n = poll(&polled, 1, -1);
		if (n < 0 && errno == EINTR)
			continue;
		EQUAL(n, 1);
		EQUAL(read(ends[0], &byte, 1), 1);
		break;
	}
	EQUAL(byte, SIGALRM);
	finish(thread);
	printf("%d\n", worked);
	return 0;
}
