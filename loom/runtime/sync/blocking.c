/* Waiting for files: a thread that would block on a pipe, a socket or a poll waits
 * with us until another thread of the program has provided what it needs. Input
 * that comes from outside is waited for in reality, when nobody else can run. */
#include "loom/runtime/sync/blocking.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int poll_now(struct pollfd *fds, uint32_t n)
{
	return (int)raw_call(SYS_poll, (long)fds, n, 0, 0, 0, 0);
}

/* Wakes those whose input is there. */
static bool wake_inputs(void)
{
	bool some = false;
	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];
		if (agent->wait == WAIT_INPUT && agent->npolled && poll_now(agent->polled, agent->npolled)) {
			control_unblock(agent, WAIT_WOKEN);
			some = true;
		} else {
			i++;
		}
	}
	return some;
}

static bool is_internal(int fd, uint32_t depth);

/* An epoll set is internal when all files in it are; the kernel lists them. */
static bool set_is_internal(int set, uint32_t depth)
{
	char path[64], text[4096], *at = text;
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", set);
	long file = raw_call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
	long size = file < 0 ? -1 : raw_call(SYS_read, file, (long)text, sizeof text - 1, 0, 0, 0);
	if (file >= 0)
		raw_call(SYS_close, file, 0, 0, 0, 0, 0);
	if (size < 0 || size == sizeof text - 1 || depth > 4)
		return false;
	text[size] = '\0';
	while ((at = strstr(at, "tfd:"))) {
		at += 4;
		if (!is_internal((int)strtol(at, NULL, 10), depth + 1))
			return false;
	}
	return true;
}

/* Is the other end of the file in this process, so that nobody else can provide anything? */
static bool is_internal(int fd, uint32_t depth)
{
	struct stat st, other;
	struct ucred peer;
	socklen_t size = sizeof peer;
	if (fstat(fd, &st) != 0)
		return true;
	if (S_ISSOCK(st.st_mode))
		return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == control.pid;
	if (!S_ISFIFO(st.st_mode)) { /* eventfd and the like: anonymous, without a type */
		char path[64], link[64] = "";
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (readlink(path, link, sizeof link - 1) <= 0)
			return false;
		return strcmp(link, "anon_inode:[eventfd]") == 0 ||
		       (strcmp(link, "anon_inode:[eventpoll]") == 0 && set_is_internal(fd, depth));
	}
	for (int end = 0; end < 1024; end++)
		if (end != fd && fstat(end, &other) == 0 && other.st_dev == st.st_dev &&
		    other.st_ino == st.st_ino)
			return true;
	return false;
}

static bool waits_outside(const struct agent *agent)
{
	for (uint32_t i = 0; i < agent->npolled; i++)
		if (agent->polled[i].fd >= 0 && (control.forked || !is_internal(agent->polled[i].fd, 0)))
			return true;
	return false;
}

/* Milliseconds until the first deadline, -1 without one. */
static int real_timeout(void)
{
	uint64_t first = NEVER;
	for (uint32_t i = 0; i < control.nblocked; i++)
		if (control.blocked[i]->deadline < first)
			first = control.blocked[i]->deadline;
	if (first == NEVER)
		return -1;
	uint64_t ms = (first - control.now + 999999) / 1000000;
	return ms < 60000 ? (int)ms : 60000;
}

bool blocking_poll(bool wait)
{
	static struct pollfd all[1024];
	if (wake_inputs())
		return true;
	uint32_t n = 0;
	for (uint32_t i = 0; wait && i < control.nblocked; i++) {
		const struct agent *agent = control.blocked[i];
		if (agent->wait != WAIT_INPUT || !waits_outside(agent))
			continue;
		for (uint32_t k = 0; k < agent->npolled && n < 1024; k++)
			all[n++] = agent->polled[k];
	}
	if (n == 0)
		return false;
	control_uncontrolled("input from outside the program: waited for in reality");
	control.outside = true;
	long ready = raw_call(SYS_poll, (long)all, n, real_timeout(), 0, 0, 0);
	control.outside = false;
	if (ready <= 0)
		return false;
	return wake_inputs();
}

/* ---- for the calls ---- */

bool blocking_ready(struct pollfd *fds, uint32_t n)
{
	if (UNLIKELY(plan_blocks_here()))
		return false;
	bool ready = poll_now(fds, n) != 0;
	/* Where the run that is replayed went on, the input will come. */
	if (!ready && UNLIKELY(plan_goes_on()) && control.forked)
		ready = raw_call(SYS_poll, (long)fds, n, -1, 0, 0, 0) > 0;
	return ready;
}

enum wait_result blocking_wait(struct agent *me, struct pollfd *fds, uint32_t n, uint64_t deadline)
{
	me->polled = fds;
	me->npolled = n;
	enum wait_result result = control_wait(me, WAIT_INPUT, n ? (uint64_t)fds[0].fd + 1 : 0, deadline);
	me->npolled = 0;
	return result;
}

void blocking_point(struct agent *me, int fd)
{
	control_call(me, (const void *)(intptr_t)(fd + 1));
	cancel_point(me);
}

bool blocking_until(struct agent *me, int fd, short events)
{
	struct pollfd polled = { .fd = fd, .events = events };
	blocking_point(me, fd);
	while (!blocking_ready(&polled, 1)) {
		int flags = fcntl(fd, F_GETFL);
		if (flags < 0 || flags & O_NONBLOCK)
			break; /* the call itself says so */
		enum wait_result result = blocking_wait(me, &polled, 1, NEVER);
		cancel_point(me);
		if (result == WAIT_INTERRUPTED && !me->restarts) {
			errno = EINTR;
			return false;
		}
	}
	return true;
}

void blocking_moved(void)
{
	int saved = errno;
	if (control.ninputs)
		wake_inputs();
	errno = saved;
}
