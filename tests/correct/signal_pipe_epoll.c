/* The self-pipe with epoll: a handler in whatever thread it runs wakes the loop. */
#include "check.h"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

static int ends[2];

static void on_term(int number)
{
	char byte = (char)number;
	if (write(ends[1], &byte, 1) != 1)
		abort();
}

static void *asker(void *none)
{
	EQUAL(raise(SIGTERM), 0);
	return none;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_term, .sa_flags = SA_RESTART };
	struct epoll_event event = { .events = EPOLLIN }, got;
	EQUAL(pipe(ends), 0);
	EQUAL(sigaction(SIGTERM, &action, NULL), 0);
	int set = epoll_create1(EPOLL_CLOEXEC);
	EQUAL(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event), 0);
	pthread_t thread = start(asker, NULL);
	int n;
	while ((n = epoll_wait(set, &got, 1, -1)) < 0)
		EQUAL(errno, EINTR);
	EQUAL(n, 1);
	finish(thread);
	printf("told to end\n");
	return 0;
}
