/* Opening named pipes under control: who opens one end waits until another thread has opened the other.
 * Ends are opened without waiting, and handed out as if they had been waited for. */
#include "loom/runtime/sync/blocking.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define DESCRIPTORS_SEEN 1024

struct pipe_wait {
	const char *path;
	int flags, fd;
};

static bool is_reader(const struct pipe_wait *wait)
{
	return (wait->flags & O_ACCMODE) == O_RDONLY;
}

/* Has a thread of this process the pipe open for writing? */
static bool has_writer(int fd)
{
	struct stat pipe, other;
	if (fstat(fd, &pipe) != 0)
		return true;
	for (int i = 0; i < DESCRIPTORS_SEEN; i++)
		if (i != fd && fstat(i, &other) == 0 && other.st_ino == pipe.st_ino &&
		    other.st_dev == pipe.st_dev &&
		    (raw_call(SYS_fcntl, i, F_GETFL, 0, 0, 0, 0) & O_ACCMODE) != O_RDONLY)
			return true;
	return false;
}

/* A writer is let in when there is a reader; a reader is in at once, and waits for a writer. */
static bool pipe_look(struct agent *agent)
{
	struct pipe_wait *wait = (struct pipe_wait *)(uintptr_t)agent->looked;
	if (wait->fd < 0) {
		wait->fd = REAL(open)(wait->path, wait->flags | O_NONBLOCK);
		if (wait->fd < 0)
			return errno != ENXIO;
	}
	struct pollfd polled = { .fd = wait->fd, .events = POLLIN };
	return !is_reader(wait) || has_writer(wait->fd) ||
	       raw_call(SYS_poll, (long)&polled, 1, 0, 0, 0, 0) > 0;
}

static bool pipe_waits(struct agent *me, struct pipe_wait *wait)
{
	for (;;) {
		me->looked = wait;
		if (pipe_look(me))
			break;
		blocking_moved(); /* the end that is open by now may be what others wait for */
		me->looked = wait;
		me->look = pipe_look;
		me->foreign = true;
		enum wait_result end = control_wait(me, WAIT_INPUT, 0, NEVER);
		cancel_point(me);
		if (end == WAIT_INTERRUPTED && !me->restarts)
			return false;
	}
	me->looked = NULL;
	return true;
}

bool named_pipe_open(const char *path, int flags, int *fd)
{
	struct agent *me = control_me();
	struct stat st;
	int mode = flags & O_ACCMODE;
	if (!me || control.forked || flags & (O_NONBLOCK | O_PATH) ||
	    (mode != O_RDONLY && mode != O_WRONLY) || stat(path, &st) != 0 || !S_ISFIFO(st.st_mode))
		return false;
	struct pipe_wait wait = { .path = path, .flags = flags, .fd = -1 };
	control_call(me, NULL);
	if (pipe_waits(me, &wait)) {
		if (wait.fd >= 0)
			raw_call(SYS_fcntl, wait.fd, F_SETFL, flags & ~(O_CREAT | O_EXCL), 0, 0, 0);
	} else {
		raw_call(SYS_close, wait.fd, 0, 0, 0, 0, 0);
		wait.fd = -1;
		errno = EINTR;
	}
	blocking_moved();
	*fd = wait.fd;
	return true;
}
