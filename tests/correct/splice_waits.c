/* Bytes that the kernel moves by itself: splice, tee, sendfile and recvmmsg wait as read does. */
#include "check.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int first[2], second[2], pair[2];

static void *writer(void *none)
{
	EQUAL(write(first[1], "abcd", 4), 4);
	struct iovec part = { .iov_base = (char[]){ "e" }, .iov_len = 1 };
	struct mmsghdr one = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };
	EQUAL(sendmmsg(pair[1], &one, 1, 0), 1);
	return none;
}

int main(void)
{
	char got[8] = "", last = 0;
	EQUAL(pipe(first), 0);
	EQUAL(pipe(second), 0);
	EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	pthread_t thread = start(writer, NULL);
	EQUAL(tee(first[0], second[1], 2, 0), 2);
	EQUAL(splice(first[0], NULL, second[1], NULL, 4, 0), 4);
	EQUAL(read(second[0], got, 6), 6);
	struct iovec part = { .iov_base = &last, .iov_len = 1 };
	struct mmsghdr one = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };
	EQUAL(recvmmsg(pair[0], &one, 1, 0, NULL), 1);
	finish(thread);
	printf("%s%c\n", got, last);
	return 0;
}
