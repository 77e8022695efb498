/* poll, select and epoll_wait for what other threads write; and their time-outs. */
#include "check.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

static int first[2], second[2];

static void *feed(void *none)
{
	EQUAL(write(second[1], "x", 1), 1);
	EQUAL(write(first[1], "y", 1), 1);
	return none;
}

static int by_poll(void)
{
	struct pollfd polled[2] = { { .fd = first[0], .events = POLLIN },
				    { .fd = second[0], .events = POLLIN } };
	char byte;
	long long before = now_ns(CLOCK_MONOTONIC);
	EQUAL(poll(polled, 2, 3), 0);
	CHECK(now_ns(CLOCK_MONOTONIC) - before >= 3000000);
	EQUAL(poll(polled, 2, 0), 0);
	pthread_t a = start(feed, NULL);
	int got = 0;
	while (got < 2) {
		CHECK(poll(polled, 2, -1) >= 1);
		for (int i = 0; i < 2; i++)
			if (polled[i].revents & POLLIN) {
				EQUAL(read(polled[i].fd, &byte, 1), 1);
				got++;
			}
	}
	finish(a);
	return got;
}

static int by_select(void)
{
	struct timeval wait = { 0, 3000 };
	fd_set set;
	char byte;
	FD_ZERO(&set);
	FD_SET(first[0], &set);
	EQUAL(select(first[0] + 1, &set, NULL, NULL, &wait), 0);
	pthread_t a = start(feed, NULL);
	int got = 0, most = first[0] > second[0] ? first[0] : second[0];
	while (got < 2) {
		FD_ZERO(&set);
		FD_SET(first[0], &set);
		FD_SET(second[0], &set);
		CHECK(select(most + 1, &set, NULL, NULL, NULL) >= 1);
		int ends[] = { first[0], second[0] };
		for (int i = 0; i < 2; i++)
			if (FD_ISSET(ends[i], &set)) {
				EQUAL(read(ends[i], &byte, 1), 1);
				got++;
			}
	}
	finish(a);
	return got;
}

static int by_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = first[0] }, ready[2];
	char byte;
	int set = epoll_create1(0), got = 0;
	CHECK(set >= 0);
	EQUAL(epoll_ctl(set, EPOLL_CTL_ADD, first[0], &event), 0);
	event.data.fd = second[0];
	EQUAL(epoll_ctl(set, EPOLL_CTL_ADD, second[0], &event), 0);
	EQUAL(epoll_wait(set, ready, 2, 3), 0);
	pthread_t a = start(feed, NULL);
	while (got < 2) {
		int n = epoll_wait(set, ready, 2, -1);
		CHECK(n >= 1);
		for (int i = 0; i < n; i++) {
			EQUAL(read(ready[i].data.fd, &byte, 1), 1);
			got++;
		}
	}
	finish(a);
	EQUAL(close(set), 0);
	return got;
}

int main(void)
{
	EQUAL(pipe(first), 0);
	EQUAL(pipe(second), 0);
	int polled = by_poll(), selected = by_select(), waited = by_epoll();
	printf("%d %d %d\n", polled, selected, waited);
	return 0;
}
