/* Waiting for files: a thread that would block on a pipe, a socket or a poll waits
 * with us until another thread of the program has provided what it needs. Input
 * that comes from outside is waited for in reality, when nobody else can run. */
#include "loom/runtime/sync/blocking.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static int poll_now(struct pollfd *fds, uint32_t n)
{
	return (int)raw_call(SYS_poll, (long)fds, n, 0, 0, 0, 0);
}

/* Is the input there, or a signal that the wait lets in (ppoll and the like)? */
static bool input_look(struct agent *agent)
{
	const sigset_t *mask = agent->looked;
	sigset_t pending;
	if (agent->npolled && poll_now(agent->polled, agent->npolled))
		return true;
	if (!mask || sigpending(&pending) != 0)
		return false;
	for (int number = 1; number <= 64; number++)
		if (sigismember(&pending, number) == 1 && sigismember(mask, number) == 0)
			return true;
	return false;
}

/* Wakes those for whom what they wait for is there. */
static bool wake_inputs(void)
{
	bool some = false;
	for (uint32_t i = 0; i < control.nblocked;) {
		struct agent *agent = control.blocked[i];
		if (agent->look && agent->look(agent)) {
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

bool blocking_waits_outside(const struct agent *agent)
{
	for (uint32_t i = 0; i < agent->npolled; i++)
		if (agent->polled[i].fd >= 0 && !is_internal(agent->polled[i].fd, 0))
			return true;
	return false;
}

static uint64_t real_ns(void)
{
	struct timespec now;
	raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Until a file of those that threads wait for is ready, a signal comes, or the time is over. */
static void rest_in_reality(uint64_t ns)
{
	static struct pollfd all[1024];
	uint32_t n = 0;
	for (uint32_t i = 0; i < control.nblocked; i++)
		for (uint32_t k = 0; k < control.blocked[i]->npolled && n < 1024; k++)
			all[n++] = control.blocked[i]->polled[k];
	struct timespec time = { .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
	raw_call(SYS_ppoll, (long)all, n, (long)&time, 0, 0, 0);
}

#define SHORTEST_REST 50000u
#define LONGEST_REST 10000000u

/* When time alone will let somebody go on, only those count who would be at work meanwhile. */
static bool worth_waiting(void)
{
	bool can_come = outside_can_come(); /* also gives objects that others share a look */
	return first_deadline() == NEVER ? can_come : outside_is_at_work();
}

/* Nobody can run, but what is outside can: it has as much real time as virtual time would pass. */
static bool wait_in_reality(void)
{
	uint64_t start = real_ns(), first = first_deadline(), rest = SHORTEST_REST;
	uint64_t span = first == NEVER ? NEVER : first > control.now ? first - control.now : 0;
	control_uncontrolled("what comes from outside of the process: waited for in reality");
	control.outside = true;
	while (!control.nready) {
		uint64_t passed = real_ns() - start;
		if (passed >= span)
			break;
		rest_in_reality(rest < span - passed ? rest : span - passed);
		rest = rest < LONGEST_REST ? rest * 2 : rest;
		if (control.arrived)
			signals_take();
		/* What ended meanwhile may have let somebody go before, so its end is asked for first. */
		bool worth = worth_waiting();
		if (!wake_inputs() && !worth)
			break;
	}
	control.outside = false;
	return control.nready > 0;
}

bool blocking_poll(bool wait)
{
	if (control.ninputs && wake_inputs())
		return true;
	if (!wait)
		return false;
	if (!worth_waiting()) /* the last one outside may have ended since the look, and have left something */
		return first_deadline() == NEVER && control.ninputs && wake_inputs();
	if (control_in_circle()) /* whatever comes, these will not go on */
		control_stuck();
	return wait_in_reality();
}

/* ---- for the calls ---- */

/* May input come earlier or later than it did in another run of the same turns? */
static bool comes_from_outside(const struct pollfd *fds, uint32_t n)
{
	for (uint32_t i = 0; i < n && !control.forked; i++)
		if (fds[i].fd >= 0 && !is_internal(fds[i].fd, 0))
			return true;
	return control.forked;
}

bool blocking_ready(struct pollfd *fds, uint32_t n)
{
	/* Where the run that is replayed had to wait. */
	if (UNLIKELY(plan_blocks_here()) && comes_from_outside(fds, n))
		return false;
	bool ready = poll_now(fds, n) != 0;
	/* Where the run that is replayed went on, the input will come. */
	if (!ready && UNLIKELY(plan_goes_on()) && outside_is_at_work())
		ready = raw_call(SYS_poll, (long)fds, n, -1, 0, 0, 0) > 0;
	return ready;
}

enum wait_result blocking_wait(struct agent *me, struct pollfd *fds, uint32_t n, uint64_t deadline)
{
	me->polled = fds;
	me->npolled = n;
	me->look = input_look;
	enum wait_result result = control_wait(me, WAIT_INPUT, n ? (uint64_t)fds[0].fd + 1 : 0, deadline);
	me->npolled = 0;
	return result;
}

void blocking_point(struct agent *me, int fd)
{
	control_call(me, (const void *)(intptr_t)(fd + 1));
	cancel_point(me);
}

bool blocking_await(struct agent *me, int fd, short events, uint64_t deadline)
{
	struct pollfd polled = { .fd = fd, .events = events };
	while (!blocking_ready(&polled, 1)) {
		long flags = raw_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
		if (flags < 0 || flags & O_NONBLOCK)
			break; /* the call itself says so */
		enum wait_result result =
			deadline <= time_of(me) ? WAIT_TIMED_OUT : blocking_wait(me, &polled, 1, deadline);
		cancel_point(me);
		if (result == WAIT_WOKEN || (result == WAIT_INTERRUPTED && me->restarts))
			continue;
		errno = result == WAIT_TIMED_OUT ? ETIMEDOUT : EINTR;
		return false;
	}
	return true;
}

/* When a socket that is given a time for that gives up. */
static uint64_t socket_deadline(const struct agent *me, int fd, short events)
{
	struct timeval limit = { 0 };
	socklen_t size = sizeof limit;
	if (getsockopt(fd, SOL_SOCKET, events & POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO, &limit, &size) != 0 ||
	    (!limit.tv_sec && !limit.tv_usec))
		return NEVER;
	return time_of(me) + (uint64_t)limit.tv_sec * 1000000000u + (uint64_t)limit.tv_usec * 1000u;
}

bool blocking_until(struct agent *me, int fd, short events)
{
	struct pollfd polled = { .fd = fd, .events = events };
	blocking_point(me, fd);
	if (blocking_ready(&polled, 1))
		return true;
	int saved = errno;
	uint64_t deadline = socket_deadline(me, fd, events);
	errno = saved;
	if (blocking_await(me, fd, events, deadline))
		return true;
	if (errno == ETIMEDOUT)
		errno = EAGAIN;
	return false;
}

bool blocking_can_wait(int fd)
{
	struct stat st;
	return fd >= 0 && fstat(fd, &st) == 0 &&
	       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode));
}

void blocking_moved(void)
{
	int saved = errno;
	if (control.ninputs)
		wake_inputs();
	errno = saved;
}
