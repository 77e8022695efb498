/* Connections over the loopback network: accept, several messages in one call, a full socket, a time-out.
 * What comes over the network may be named. */
#include "check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define BYTES 600000

static struct sockaddr_in address = { .sin_family = AF_INET };

static void *dial(void *none)
{
	static char block[BYTES];
	int line = socket(AF_INET, SOCK_STREAM, 0), small = 4096;
	CHECK(line >= 0);
	EQUAL(setsockopt(line, SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
	EQUAL(connect(line, (struct sockaddr *)&address, sizeof address), 0);
	for (long sent = 0; sent < BYTES;) {
		long n = send(line, block + sent, (size_t)(BYTES - sent), 0);
		CHECK(n > 0);
		sent += n;
	}
	EQUAL(shutdown(line, SHUT_WR), 0);
	char byte;
	EQUAL(recv(line, &byte, 1, 0), 1);
	EQUAL(close(line), 0);
	return none;
}

int main(void)
{
	static char block[8192];
	int door = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t size = sizeof address;
	EQUAL(bind(door, (struct sockaddr *)&address, size), 0);
	EQUAL(getsockname(door, (struct sockaddr *)&address, &size), 0);
	EQUAL(listen(door, 4), 0);
	pthread_t thread = start(dial, NULL);
	int line = accept(door, NULL, NULL);
	CHECK(line >= 0);
	long all = 0, n;
	while ((n = recv(line, block, sizeof block, 0)) > 0)
		all += n;
	EQUAL(all, BYTES);
	EQUAL(send(line, "x", 1, 0), 1);
	finish(thread);
	EQUAL(close(line), 0);
	int pair[2];
	EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	struct timeval limit = { .tv_usec = 20000 };
	EQUAL(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
	FAILS(recv(pair[0], block, 1, 0), EAGAIN);
	struct iovec parts[2] = { { .iov_base = (char[]){ "a" }, .iov_len = 1 },
				  { .iov_base = (char[]){ "b" }, .iov_len = 1 } };
	struct mmsghdr both[2] = { { .msg_hdr = { .msg_iov = parts, .msg_iovlen = 1 } },
				   { .msg_hdr = { .msg_iov = parts + 1, .msg_iovlen = 1 } } };
	EQUAL(sendmmsg(pair[1], both, 2, 0), 2);
	EQUAL(recvmmsg(pair[0], both, 2, 0, NULL), 2);
	printf("%ld\n", all);
	return 0;
}
