/* What does not block must not wait: EAGAIN as ever, with threads that poll by yielding. */
#include "check.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

static int ends[2];

static void *feed(void *none)
{
	sched_yield();
	EQUAL(write(ends[1], "abc", 3), 3);
	return none;
}

int main(void)
{
	char text[4] = "";
	EQUAL(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	FAILS(read(ends[0], text, 1), EAGAIN);
	pthread_t a = start(feed, NULL);
	ssize_t n;
	while ((n = read(ends[0], text, 3)) < 0) {
		EQUAL(errno, EAGAIN);
		sched_yield();
	}
	EQUAL(n, 3);
	finish(a);
	puts(text);
	return 0;
}
