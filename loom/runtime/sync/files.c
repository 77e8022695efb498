/* Reading, writing and connecting under control: each call waits until it would
 * not block, then it is made. */
#include "loom/runtime/sync/blocking.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* A call that waits for `events` of the file `fd`. */
#define FILE_CALL(type, name, parameters, arguments, fd, events) \
	INTERPOSE type name parameters                           \
	{                                                        \
		struct agent *me = control_me();                 \
		if (!me)                                         \
			return REAL(name) arguments;             \
		if (!blocking_until(me, fd, events))             \
			return -1;                               \
		type result = REAL(name) arguments;              \
		blocking_moved();                                \
		return result;                                   \
	}

INTERPOSE ssize_t read(int fd, void *to, size_t size)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(read)(fd, to, size);
	if (UNLIKELY(chance_reads(fd))) {
		blocking_point(me, fd);
		chance_fill(to, size);
		return (ssize_t)size;
	}
	if (!blocking_until(me, fd, POLLIN))
		return -1;
	ssize_t result = REAL(read)(fd, to, size);
	blocking_moved();
	return result;
}

FILE_CALL(ssize_t, readv, (int fd, const struct iovec *to, int n), (fd, to, n), fd, POLLIN)
/* What is longer than a pipe surely takes waits in its middle: it goes in pieces. Others may write between
 * them, as they may between those of the kernel. */
static ssize_t write_pieces(struct agent *me, int fd, const char *from, size_t size)
{
	size_t done = 0;
	long flags = raw_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
	bool whole = size <= PIPE_BUF || flags < 0 || flags & O_NONBLOCK || !blocking_can_wait(fd);
	do {
		size_t piece = whole || size - done < PIPE_BUF ? size - done : PIPE_BUF;
		if (!blocking_until(me, fd, POLLOUT))
			break;
		ssize_t n = REAL(write)(fd, from + done, piece);
		blocking_moved();
		if (n <= 0)
			return done ? (ssize_t)done : n;
		done += (size_t)n;
	} while (done < size && !whole);
	return done || !size ? (ssize_t)done : -1;
}

INTERPOSE ssize_t write(int fd, const void *from, size_t size)
{
	struct agent *me = control_me();
	return me ? write_pieces(me, fd, from, size) : REAL(write)(fd, from, size);
}

FILE_CALL(ssize_t, writev, (int fd, const struct iovec *from, int n), (fd, from, n), fd, POLLOUT)
FILE_CALL(int, eventfd_read, (int fd, eventfd_t *value), (fd, value), fd, POLLIN)
FILE_CALL(int, eventfd_write, (int fd, eventfd_t value), (fd, value), fd, POLLOUT)
FILE_CALL(int, accept, (int fd, struct sockaddr *address, socklen_t *size), (fd, address, size), fd, POLLIN)
FILE_CALL(int, accept4, (int fd, struct sockaddr *address, socklen_t *size, int flags),
	  (fd, address, size, flags), fd, POLLIN)

/* The same with flags, of which MSG_DONTWAIT means what it says. */
#define SOCKET_CALL(name, parameters, arguments, fd, flags, events) \
	INTERPOSE ssize_t name parameters                           \
	{                                                           \
		struct agent *me = control_me();                    \
		if (!me)                                            \
			return REAL(name) arguments;                \
		if ((flags) & MSG_DONTWAIT)                         \
			blocking_point(me, fd);                     \
		else if (!blocking_until(me, fd, events))           \
			return -1;                                  \
		ssize_t result = REAL(name) arguments;              \
		blocking_moved();                                   \
		return result;                                      \
	}

SOCKET_CALL(recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags), fd, flags, POLLIN)
SOCKET_CALL(recvfrom,
	    (int fd, void *to, size_t size, int flags, struct sockaddr *address, socklen_t *address_size),
	    (fd, to, size, flags, address, address_size), fd, flags, POLLIN)
SOCKET_CALL(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), fd, flags, POLLIN)

/* A stream takes what it has room for; who sends waits for the rest. */
static bool is_stream(int fd)
{
	int type = 0;
	socklen_t size = sizeof type;
	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

INTERPOSE ssize_t send(int fd, const void *from, size_t size, int flags)
{
	struct agent *me = control_me();
	size_t done = 0;
	if (!me)
		return REAL(send)(fd, from, size, flags);
	do {
		if (flags & MSG_DONTWAIT)
			blocking_point(me, fd);
		else if (!blocking_until(me, fd, POLLOUT))
			break;
		long status = raw_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
		bool whole = flags & MSG_DONTWAIT || status < 0 || status & O_NONBLOCK || !is_stream(fd);
		ssize_t n = REAL(send)(fd, (const char *)from + done, size - done,
				       whole ? flags : flags | MSG_DONTWAIT);
		blocking_moved();
		if (n < 0 && errno == EAGAIN && !whole)
			continue;
		if (n < 0 || whole)
			return done ? (ssize_t)done : n;
		done += (size_t)n;
	} while (done < size);
	return done || !size ? (ssize_t)done : -1;
}

SOCKET_CALL(sendto,
	    (int fd, const void *from, size_t size, int flags, const struct sockaddr *address,
	     socklen_t address_size),
	    (fd, from, size, flags, address, address_size), fd, flags, POLLOUT)
SOCKET_CALL(sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), fd, flags,
	    POLLOUT)

INTERPOSE int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *time)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(recvmmsg)(fd, messages, n, flags, time);
	if (flags & MSG_DONTWAIT)
		blocking_point(me, fd);
	else if (!blocking_until(me, fd, POLLIN))
		return -1;
	/* Those that are there: who wants more waits again in its loop. */
	int result = REAL(recvmmsg)(fd, messages, n, flags | MSG_WAITFORONE, NULL);
	blocking_moved();
	return result;
}

INTERPOSE int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
	struct agent *me = control_me();
	if (me && flags & MSG_DONTWAIT)
		blocking_point(me, fd);
	else if (me && !blocking_until(me, fd, POLLOUT))
		return -1;
	int result = REAL(sendmmsg)(fd, messages, n, flags);
	if (me)
		blocking_moved();
	return result;
}

/* ---- bytes that the kernel moves: first there are some, then there is room ---- */

static bool moving_waits(struct agent *me, int from, int to)
{
	return blocking_until(me, from, POLLIN) && blocking_await(me, to, POLLOUT, NEVER);
}

INTERPOSE ssize_t splice(int from, off64_t *at, int to, off64_t *where, size_t size, unsigned flags)
{
	struct agent *me = control_me();
	if (me && !(flags & SPLICE_F_NONBLOCK) && !moving_waits(me, from, to))
		return -1;
	ssize_t result = REAL(splice)(from, at, to, where, size, flags);
	if (me)
		blocking_moved();
	return result;
}

INTERPOSE ssize_t tee(int from, int to, size_t size, unsigned flags)
{
	struct agent *me = control_me();
	if (me && !(flags & SPLICE_F_NONBLOCK) && !moving_waits(me, from, to))
		return -1;
	ssize_t result = REAL(tee)(from, to, size, flags);
	if (me)
		blocking_moved();
	return result;
}

/* Local connections are made at once, as far as the listener's queue has room. */
INTERPOSE int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	struct agent *me = control_me();
	if (me)
		blocking_point(me, fd);
	int result = REAL(connect)(fd, address, size);
	if (me)
		blocking_moved();
	return result;
}

/* What ends here is an end of file to others. */
#define ENDING_CALL(name, parameters, arguments)   \
	INTERPOSE int name parameters              \
	{                                          \
		int result = REAL(name) arguments; \
		if (control_me())                  \
			blocking_moved();          \
		return result;                     \
	}

INTERPOSE int close(int fd)
{
	if (UNLIKELY(runtime.controlled)) {
		timers_close(fd);
		chance_close(fd);
	}
	int result = REAL(close)(fd);
	if (control_me())
		blocking_moved();
	return result;
}

ENDING_CALL(shutdown, (int fd, int how), (fd, how))
