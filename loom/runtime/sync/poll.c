/* poll, select and epoll under control: asked without waiting, again and again as
 * others move. Time-outs are those of virtual time. */
#include "loom/runtime/sync/blocking.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/select.h>

static const struct timespec poll_no_time;

static uint64_t poll_deadline(const struct timespec *time)
{
	if (!time)
		return NEVER;
	uint64_t seconds = (uint64_t)time->tv_sec;
	return seconds > 1000000000u
		       ? NEVER - 1
		       : time_of(control.current) + seconds * 1000000000u + (uint64_t)time->tv_nsec;
}

static uint64_t poll_deadline_ms(int ms)
{
	return ms < 0 ? NEVER : time_of(control.current) + (uint64_t)ms * 1000000u;
}

/* Waits for more; false when the time is up (0) or the wait was interrupted (-1): then *result is it. */
static bool poll_again(struct agent *me, struct pollfd *fds, uint32_t n, uint64_t deadline,
		       const sigset_t *mask, int *result)
{
	if (deadline <= time_of(me))
		return false;
	me->looked = mask; /* what it lets in while it waits */
	enum wait_result end = blocking_wait(me, fds, n, deadline);
	cancel_point(me);
	if (end == WAIT_INTERRUPTED) {
		errno = EINTR;
		*result = -1;
	}
	return end == WAIT_WOKEN;
}

INTERPOSE int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *time, const sigset_t *mask)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(ppoll)(fds, n, time, mask);
	uint64_t deadline = poll_deadline(time);
	int result;
	blocking_point(me, n ? fds[0].fd : -1);
	do {
		result = REAL(ppoll)(fds, n, &poll_no_time, mask);
	} while (result == 0 && poll_again(me, fds, (uint32_t)n, deadline, mask, &result));
	return result;
}

INTERPOSE int poll(struct pollfd *fds, nfds_t n, int ms)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(poll)(fds, n, ms);
	uint64_t deadline = poll_deadline_ms(ms);
	int result;
	blocking_point(me, n ? fds[0].fd : -1);
	do {
		result = REAL(poll)(fds, n, 0);
	} while (result == 0 && poll_again(me, fds, (uint32_t)n, deadline, NULL, &result));
	return result;
}

/* ---- epoll: its descriptor can be polled itself ---- */

INTERPOSE int epoll_pwait(int fd, struct epoll_event *events, int most, int ms, const sigset_t *mask)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(epoll_pwait)(fd, events, most, ms, mask);
	uint64_t deadline = poll_deadline_ms(ms);
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	int result;
	blocking_point(me, fd);
	do {
		result = REAL(epoll_pwait)(fd, events, most, 0, mask);
	} while (result == 0 && poll_again(me, &polled, 1, deadline, mask, &result));
	return result;
}

INTERPOSE int epoll_wait(int fd, struct epoll_event *events, int most, int ms)
{
	if (control_me())
		return epoll_pwait(fd, events, most, ms, NULL);
	return REAL(epoll_wait)(fd, events, most, ms);
}

/* ---- select ---- */

static short select_events(int fd, const fd_set *in, const fd_set *out, const fd_set *odd)
{
	int events = (in && FD_ISSET(fd, in) ? POLLIN : 0) | (out && FD_ISSET(fd, out) ? POLLOUT : 0) |
		     (odd && FD_ISSET(fd, odd) ? POLLPRI : 0);
	return (short)events;
}

static uint32_t select_polled(int n, const fd_set *in, const fd_set *out, const fd_set *odd,
			      struct pollfd *polled)
{
	uint32_t used = 0;
	for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++)
		if (select_events(fd, in, out, odd))
			polled[used++] =
				(struct pollfd){ .fd = fd, .events = select_events(fd, in, out, odd) };
	return used;
}

static int select_until(struct agent *me, int n, fd_set *in, fd_set *out, fd_set *odd, uint64_t deadline,
			const sigset_t *mask)
{
	struct pollfd polled[n > 0 && n <= FD_SETSIZE ? n : 1];
	static const fd_set none;
	fd_set wanted[3] = { in ? *in : none, out ? *out : none, odd ? *odd : none };
	uint32_t used = select_polled(n, in, out, odd, polled);
	int result;
	blocking_point(me, used ? polled[0].fd : -1);
	for (;;) {
		result = REAL(pselect)(n, in, out, odd, &poll_no_time, mask);
		if (result != 0 || !poll_again(me, polled, used, deadline, mask, &result))
			return result;
		if (in)
			*in = wanted[0];
		if (out)
			*out = wanted[1];
		if (odd)
			*odd = wanted[2];
	}
}

INTERPOSE int pselect(int n, fd_set *in, fd_set *out, fd_set *odd, const struct timespec *time,
		      const sigset_t *mask)
{
	struct agent *me = control_me();
	return me ? select_until(me, n, in, out, odd, poll_deadline(time), mask)
		  : REAL(pselect)(n, in, out, odd, time, mask);
}

INTERPOSE int select(int n, fd_set *in, fd_set *out, fd_set *odd, struct timeval *time)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(select)(n, in, out, odd, time);
	struct timespec limit = { 0 };
	if (time)
		limit = (struct timespec){ .tv_sec = time->tv_sec, .tv_nsec = time->tv_usec * 1000 };
	return select_until(me, n, in, out, odd, poll_deadline(time ? &limit : NULL), NULL);
}
