/* Reading, writing and connecting under control: each call waits until it would
 * not block, then it is made. */
#include "loom/runtime/sync/blocking.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
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
FILE_CALL(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size), fd, POLLOUT)
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
SOCKET_CALL(send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags), fd, flags,
	    POLLOUT)
SOCKET_CALL(sendto,
	    (int fd, const void *from, size_t size, int flags, const struct sockaddr *address,
	     socklen_t address_size),
	    (fd, from, size, flags, address, address_size), fd, flags, POLLOUT)
SOCKET_CALL(sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), fd, flags,
	    POLLOUT)

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
