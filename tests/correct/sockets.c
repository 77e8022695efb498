/* Two threads talk over a pair of sockets, then over a listening one.
 * may be named: process numbers */
#include "check.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int pair[2];
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static socklen_t length;

static void *answer(void *none)
{
	char byte;
	while (recv(pair[1], &byte, 1, 0) == 1) {
		byte++;
		EQUAL(send(pair[1], &byte, 1, 0), 1);
	}
	return none;
}

static void *dial(void *none)
{
	int line = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(line >= 0);
	EQUAL(connect(line, (struct sockaddr *)&address, length), 0);
	struct iovec parts[] = { { .iov_base = (char[]){ "he" }, .iov_len = 2 },
				 { .iov_base = (char[]){ "llo" }, .iov_len = 3 } };
	EQUAL(writev(line, parts, 2), 5);
	EQUAL(shutdown(line, SHUT_WR), 0);
	char byte;
	EQUAL(read(line, &byte, 1), 0);
	EQUAL(close(line), 0);
	return none;
}

int main(void)
{
	char byte = 'a', text[16] = "";
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	pthread_t a = start(answer, NULL);
	for (int i = 0; i < 3; i++) {
		EQUAL(send(pair[0], &byte, 1, 0), 1);
		EQUAL(recv(pair[0], &byte, 1, 0), 1);
	}
	EQUAL(shutdown(pair[0], SHUT_RDWR), 0);
	finish(a);

	int door = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "controlled-%d", (int)getpid());
	length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address.sun_path + 1));
	EQUAL(bind(door, (struct sockaddr *)&address, length), 0);
	EQUAL(listen(door, 4), 0);
	a = start(dial, NULL);
	int line = accept(door, NULL, NULL);
	CHECK(line >= 0);
	size_t n = 0;
	ssize_t some;
	while ((some = recv(line, text + n, sizeof text - 1 - n, 0)) > 0)
		n += (size_t)some;
	EQUAL(close(line), 0);
	finish(a);
	printf("%c %s\n", byte, text);
	return 0;
}
