/* Event counters that block until somebody counts. */
#include "check.h"

#include <sys/eventfd.h>
#include <unistd.h>

static int ping, pong;

static void *answer(void *none)
{
	eventfd_t value;
	for (int i = 0; i < 3; i++) {
		EQUAL(eventfd_read(ping, &value), 0);
		EQUAL(eventfd_write(pong, value + 1), 0);
	}
	return none;
}

int main(void)
{
	uint64_t value = 1;
	ping = eventfd(0, EFD_CLOEXEC);
	pong = eventfd(0, 0);
	CHECK(ping >= 0 && pong >= 0);
	pthread_t a = start(answer, NULL);
	for (int i = 0; i < 3; i++) {
		EQUAL(write(ping, &value, 8), 8);
		EQUAL(read(pong, &value, 8), 8);
	}
	finish(a);
	int semaphore = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
	eventfd_t one;
	EQUAL(eventfd_read(semaphore, &one), 0);
	EQUAL(one, 1);
	EQUAL(eventfd_read(semaphore, &one), 0);
	FAILS(eventfd_read(semaphore, &one), EAGAIN);
	printf("%d\n", (int)value);
	return 0;
}
