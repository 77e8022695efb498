/* timerfd: periodic, read by a thread; one that was never started stays silent. */
#include "check.h"

#include <poll.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void *reader(void *argument)
{
	int fd = *(int *)argument;
	uint64_t count, sum = 0;
	while (sum < 3) {
		EQUAL(read(fd, &count, sizeof count), sizeof count);
		CHECK(count > 0);
		sum += count;
	}
	return NULL;
}

int main(void)
{
	struct itimerspec often = { { 0, 3000000 }, { 0, 1000000 } }, left;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), idle = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
	uint64_t count;
	CHECK(fd >= 0 && idle >= 0);
	EQUAL(timerfd_settime(fd, 0, &often, NULL), 0);
	pthread_t thread = start(reader, &fd);
	struct pollfd polled = { .fd = idle, .events = POLLIN };
	EQUAL(poll(&polled, 1, 5), 0);
	FAILS(read(idle, &count, sizeof count), EAGAIN);
	finish(thread);
	EQUAL(timerfd_gettime(fd, &left), 0);
	EQUAL(left.it_interval.tv_nsec, 3000000);
	EQUAL(close(fd), 0);
	EQUAL(close(idle), 0);
	printf("ticked\n");
	return 0;
}
