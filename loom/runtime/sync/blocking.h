/* What the calls on files offer and need: see blocking.c. */
#ifndef RUNTIME_BLOCKING_H
#define RUNTIME_BLOCKING_H

#include <poll.h>

#include "loom/runtime/sync/sync.h"

/* A point of a call on a file, which may be cancelled. */
HIDDEN void blocking_point(struct agent *me, int fd);
/* Waits until the call would not block; false with errno when interrupted, or when the socket's own time is up. */
HIDDEN bool blocking_until(struct agent *me, int fd, short events);
/* The same without a point, as long as the deadline allows (ETIMEDOUT). */
HIDDEN bool blocking_await(struct agent *me, int fd, short events, uint64_t deadline);
/* Can a call on the file wait at all: is it a pipe, a socket, a terminal? */
HIDDEN bool blocking_can_wait(int fd);
/* Is there something to be had at once? */
HIDDEN bool blocking_ready(struct pollfd *fds, uint32_t n);
HIDDEN enum wait_result blocking_wait(struct agent *me, struct pollfd *fds, uint32_t n, uint64_t deadline);
/* Does it wait for a file whose other end is not in this process? */
HIDDEN bool blocking_waits_outside(const struct agent *agent);
/* Something was written, read or closed: others may go on. */
HIDDEN void blocking_moved(void);

#endif
