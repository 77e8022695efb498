/* epoll, edge triggered and one-shot, shared by three threads; an eventfd ends them. */
#include "check.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <fcntl.h>

static int queue, quit, pairs[2][2], got;

static void *server(void *none)
{
	for (;;) {
		struct epoll_event event;
		int n = epoll_wait(queue, &event, 1, -1);
		EQUAL(n, 1);
		if (event.data.fd == quit)
			return none;
		char c;
		while (read(event.data.fd, &c, 1) == 1)
			if (__atomic_add_fetch(&got, 1, __ATOMIC_SEQ_CST) == 12) {
				uint64_t one = 1;
				EQUAL(write(quit, &one, 8), 8);
			}
		event.events = EPOLLIN | EPOLLET | EPOLLONESHOT;
		EQUAL(epoll_ctl(queue, EPOLL_CTL_MOD, event.data.fd, &event), 0);
	}
}

int main(void)
{
	pthread_t threads[3];
	queue = epoll_create1(0), quit = eventfd(0, 0);
	struct epoll_event event = { .events = EPOLLIN, .data.fd = quit };
	EQUAL(epoll_ctl(queue, EPOLL_CTL_ADD, quit, &event), 0);
	for (int i = 0; i < 2; i++) {
		EQUAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pairs[i]), 0);
		event = (struct epoll_event){ .events = EPOLLIN | EPOLLET | EPOLLONESHOT,
					      .data.fd = pairs[i][0] };
		EQUAL(epoll_ctl(queue, EPOLL_CTL_ADD, pairs[i][0], &event), 0);
	}
	for (int i = 0; i < 3; i++)
		threads[i] = start(server, NULL);
	for (int i = 0; i < 12; i++)
		EQUAL(write(pairs[i & 1][1], "x", 1), 1);
	for (int i = 0; i < 3; i++)
		finish(threads[i]);
	printf("%d\n", got);
	return 0;
}
