/* The client of a fork server. One pair of pipes serves all runs: a run is over
 * when the server says so, not when its pipes close, and what they hold then is
 * all that the run has printed.
 */
#include "loom/server.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define START_MS 20000 /* a program may have much to load before its first constructor */
#define READ_BYTES 65536

enum { SERVER, OUT, ERR, STOP, NPOLLED = STOP + 2 };

static void close_all(struct server *server)
{
	cleanup_close(&server->socket);
	for (int i = 0; i < 2; i++) {
		cleanup_close(&server->out[i]);
		cleanup_close(&server->err[i]);
	}
	*server = (struct server){ .socket = -1, .out = { -1, -1 }, .err = { -1, -1 } };
}

void server_stop(struct server *server)
{
	if (server->pid > 0) {
		kill(server->pid, SIGKILL);
		while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close_all(server);
}

struct error *server_start(struct server *server, struct spawn *start)
{
	_cleanup_close_ int theirs = -1;
	int ends[2];

	close_all(server);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(errno, "cannot connect to %s", start->argv[0]);
	server->socket = ends[0];
	theirs = spawn_move_up(ends[1]);
	close(ends[1]);
	if (theirs < 0)
		return error_errno(errno, "cannot connect to %s", start->argv[0]);
	TRY(watch_pipe(&server->out[0], &server->out[1]));
	TRY(watch_pipe(&server->err[0], &server->err[1]));
	spawn_server_entry(start->environment[0], theirs);
	start->area = theirs;
	start->out = server->out[1];
	start->err = server->err[1];
	return spawn(start, &server->pid);
}

static bool order(const struct server *server, int area)
{
	int fds[] = { area, server->out[1], server->err[1] };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof fds)];
	} beside = { .bytes = { 0 } };
	char byte = 1;
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &beside, .msg_controllen = sizeof beside
	};
	ssize_t n;

	beside.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof fds),
					  .cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&beside.header), fds, sizeof fds);
	do {
		n = sendmsg(server->socket, &message, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n == 1;
}

static bool hear(const struct server *server, void *message, size_t size)
{
	ssize_t n;

	do {
		n = recv(server->socket, message, size, 0);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

static void drain(int fd, struct output *output)
{
	char bytes[READ_BYTES];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof bytes)) > 0)
		output_take(output, bytes, (size_t)n);
}

static int left_ms(double deadline)
{
	return deadline > 0 ? (int)fmin(fmax(ceil((deadline - watch_now()) * 1000), 0), 1e9) : -1;
}

/* Until the server speaks; false at the deadline or when the run is to be stopped. */
static bool listen_to(struct server *server, struct watch *watch, double deadline, struct ending *ending)
{
	struct pollfd polled[NPOLLED] = {
		[SERVER] = { .fd = server->socket, .events = POLLIN },
		[OUT] = { .fd = server->out[0], .events = POLLIN },
		[ERR] = { .fd = server->err[0], .events = POLLIN },
		[STOP] = { .fd = watch->stop[0], .events = POLLRDHUP },
		[STOP + 1] = { .fd = watch->stop[1], .events = POLLIN },
	};

	for (;;) {
		if (poll(polled, NPOLLED, left_ms(deadline)) < 0)
			continue;
		if (polled[STOP].revents || polled[STOP + 1].revents) {
			ending->stopped = true;
			return false;
		}
		if (polled[OUT].revents)
			drain(server->out[0], watch->outputs[0]);
		if (polled[ERR].revents)
			drain(server->err[0], watch->outputs[1]);
		if (polled[SERVER].revents)
			return true;
		if (deadline > 0 && watch_now() >= deadline)
			return false;
	}
}

/* Follows the run to its end and kills it at the time-out. False: the server is lost. */
static bool follow(struct server *server, struct watch *watch, struct ending *ending)
{
	double deadline = watch->timeout_s > 0 ? watch->start + watch->timeout_s : 0;
	struct server_ended ended;

	if (!listen_to(server, watch, deadline, ending)) {
		ending->timed_out = !ending->stopped;
		kill(watch->pid, SIGKILL);
		if (ending->stopped)
			return true;
		/* The killed process may have gigabytes to give back. */
		if (!listen_to(server, watch, watch_now() + START_MS / 1e3, ending))
			return false;
	}
	if (!hear(server, &ended, sizeof ended))
		return false;
	ending->status = ended.status;
	ending->wall_s = watch_now() - watch->start;
	ending->usage.ru_utime.tv_sec = (time_t)(ended.cpu_us / 1000000);
	ending->usage.ru_utime.tv_usec = (suseconds_t)(ended.cpu_us % 1000000);
	ending->usage.ru_maxrss = (long)ended.peak_kib;
	drain(server->out[0], watch->outputs[0]);
	drain(server->err[0], watch->outputs[1]);
	return true;
}

struct error *server_run(struct server *server, int area, struct watch *watch, struct ending *ending,
			 bool *lost)
{
	struct server_started started;

	*ending = (struct ending){ 0 };
	*lost = true;
	if (!order(server, area))
		return NULL;
	if (!listen_to(server, watch, watch_now() + START_MS / 1e3, ending)) {
		*lost = !ending->stopped;
		return NULL;
	}
	if (!hear(server, &started, sizeof started))
		return NULL;
	if (started.pid <= 0)
		return error_errno(-started.pid, "the program cannot be forked");
	watch->pid = started.pid;
	*lost = !follow(server, watch, ending);
	return NULL;
}
