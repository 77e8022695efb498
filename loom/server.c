/* The client of a fork server. One pair of pipes serves all runs: a run is over
 * when the kernel says so, not when its pipes close, and what they hold then is
 * all that it has printed. Runs are children of this process, not of the server.
 */
#include "loom/server.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define START_MS 20000 /* a program may have much to load before its first constructor */
#define READ_BYTES 65536

/* CHILDREN is looked at first: if a run has ended by then, what it printed is seen behind it. */
enum { CHILDREN, SERVER, OUT, ERR, STOP, NPOLLED = STOP + 2 };

static void close_all(struct server *server)
{
	cleanup_close(&server->socket);
	cleanup_close(&server->note_fd);
	if (server->note)
		munmap(server->note, SERVER_NOTE_SIZE);
	for (int i = 0; i < 2; i++) {
		cleanup_close(&server->out[i]);
		cleanup_close(&server->err[i]);
	}
	*server = SERVER_NONE;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The run that goes on, 0 = none. Another process cannot have its number before it is reaped here. */
static pid_t run_of(const struct server *server)
{
	pid_t pid = server->note ? __atomic_load_n(&server->note->pid, __ATOMIC_ACQUIRE) : 0;

	return pid > 1 ? pid : 0;
}

void server_stop(struct server *server)
{
	if (server->pid > 0)
		end(server->pid);
	if (run_of(server))
		end(run_of(server));
	close_all(server);
}

static struct error *make_note(struct server *server)
{
	server->note_fd = memfd_create("unsnarl-note", MFD_CLOEXEC);
	if (server->note_fd < 0 || ftruncate(server->note_fd, SERVER_NOTE_SIZE) < 0)
		return error_errno(errno, "cannot make a page to share with the program");
	void *at = mmap(NULL, SERVER_NOTE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, server->note_fd, 0);

	if (at == MAP_FAILED)
		return error_errno(errno, "cannot map a page to share with the program");
	server->note = at;
	return NULL;
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
	TRY(make_note(server));
	spawn_server_entry(start->environment[0], theirs);
	start->area = theirs;
	start->out = server->out[1];
	start->err = server->err[1];
	TRY(spawn(start, &server->pid));
	if (clock_getcpuclockid(server->pid, &server->clock) != 0)
		server->clock = CLOCK_MONOTONIC; /* never so: the process is ours to reap */
	return NULL;
}

double server_cpu_s(const struct server *server)
{
	struct timespec now;

	if (server->pid <= 0 || clock_gettime(server->clock, &now) != 0)
		return 0;
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A byte with descriptors beside it. */
static bool send_descriptors(const struct server *server, const int *fds, size_t n)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(SERVER_DESCRIPTORS * sizeof(int))];
	} beside = { .bytes = { 0 } };
	char byte = 1;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (n) {
		beside.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n * sizeof *fds),
						  .cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&beside.header), fds, n * sizeof *fds);
		message.msg_control = &beside;
		message.msg_controllen = CMSG_SPACE(n * sizeof *fds);
	}
	do {
		sent = sendmsg(server->socket, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent == 1;
}

/* What it needs for the orders to come. */
static bool tell_area(const struct server *server, int area)
{
	const int fds[SERVER_DESCRIPTORS] = { area, server->out[1], server->err[1], server->note_fd };

	return send_descriptors(server, fds, SERVER_DESCRIPTORS);
}

static bool tell_order(const struct server *server, int folder)
{
	return send_descriptors(server, &folder, folder >= 0);
}

static bool hear(const struct server *server)
{
	char byte;
	ssize_t n;

	do {
		n = recv(server->socket, &byte, 1, 0);
	} while (n < 0 && errno == EINTR);
	return n == 1;
}

static void drain(int fd, struct output *output)
{
	char bytes[READ_BYTES];
	ssize_t n;

	/* A pipe that gives less than it could is empty. */
	do {
		n = read(fd, bytes, sizeof bytes);
		if (n > 0)
			output_take(output, bytes, (size_t)n);
	} while (n == (ssize_t)sizeof bytes);
}

static int left_ms(double deadline)
{
	return deadline > 0 ? (int)fmin(fmax(ceil((deadline - watch_now()) * 1000), 0), 1e9) : -1;
}

/* Has the run ended? Reaps it, and orphans that have ended. */
static bool has_ended(const struct server *server, int children, pid_t run, struct ending *ending)
{
	struct signalfd_siginfo news[8];

	/* Read first: what ends from here on makes the descriptor readable again. */
	while (read(children, news, sizeof news) == (ssize_t)sizeof news)
		;
	if (run && wait4(run, &ending->status, WNOHANG | __WALL, &ending->usage) == run)
		return true;
	for (;;) {
		siginfo_t ended = { 0 };

		if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 || !ended.si_pid ||
		    ended.si_pid == server->pid || ended.si_pid == run)
			return false;
		waitpid(ended.si_pid, NULL, WNOHANG | __WALL);
	}
}

enum heard { ENDED, SPOKE, STOPPED, LATE };

/* Until the run ends, the server speaks, the run is to be stopped, or the deadline. */
static enum heard listen_to(struct server *server, const struct watch *watch, double deadline,
			    struct ending *ending)
{
	struct pollfd polled[NPOLLED] = {
		[CHILDREN] = { .fd = watch->children, .events = POLLIN },
		[SERVER] = { .fd = server->socket, .events = POLLIN },
		[OUT] = { .fd = server->out[0], .events = POLLIN },
		[ERR] = { .fd = server->err[0], .events = POLLIN },
		[STOP] = { .fd = watch->stop[0], .events = POLLRDHUP },
		[STOP + 1] = { .fd = watch->stop[1], .events = POLLIN },
	};

	for (;;) {
		if (poll(polled, NPOLLED, left_ms(deadline)) < 0)
			continue;
		if (polled[STOP].revents || polled[STOP + 1].revents)
			return STOPPED;
		if (polled[OUT].revents)
			drain(server->out[0], watch->outputs[0]);
		if (polled[ERR].revents)
			drain(server->err[0], watch->outputs[1]);
		if (polled[CHILDREN].revents && has_ended(server, watch->children, run_of(server), ending))
			return ENDED;
		if (polled[SERVER].revents)
			return SPOKE;
		if (deadline > 0 && watch_now() >= deadline)
			return LATE;
	}
}

/* Follows the run to its end and kills it at the time-out. False: the server is lost. */
static bool follow(struct server *server, struct watch *watch, struct ending *ending)
{
	double deadline = watch->timeout_s > 0 ? watch->start + watch->timeout_s : 0;
	enum heard heard = listen_to(server, watch, deadline, ending);

	while (heard == LATE && run_of(server)) {
		double later = watch_later(watch, run_of(server), deadline);
		if (later <= deadline)
			break;
		deadline = later;
		heard = listen_to(server, watch, deadline, ending);
	}
	if (heard == LATE && run_of(server)) {
		ending->timed_out = true;
		kill(run_of(server), SIGKILL);
		/* The killed process may have gigabytes to give back. */
		heard = listen_to(server, watch, watch_now() + START_MS / 1e3, ending);
	}
	ending->stopped = heard == STOPPED;
	if (ending->stopped && run_of(server))
		kill(run_of(server), SIGKILL);
	if (heard == ENDED) {
		server->note->pid = 0;
		server->note->controlled =
			WIFEXITED(ending->status) && WEXITSTATUS(ending->status) == CONTROL_STATUS;
	}
	ending->wall_s = watch_now() - watch->start;
	return heard == ENDED || heard == STOPPED;
}

/* Gives it the area; a new server may take long to come so far. */
static bool introduce(struct server *server, int area, struct watch *watch, struct ending *ending)
{
	if (!tell_area(server, area))
		return false;
	enum heard heard = listen_to(server, watch, watch_now() + START_MS / 1e3, ending);

	watch->start = watch_now();
	ending->stopped = heard == STOPPED;
	return heard == STOPPED || (heard == SPOKE && hear(server));
}

struct error *server_run(struct server *server, int area, uint64_t number, int folder, struct watch *watch,
			 struct ending *ending, bool *lost)
{
	*ending = (struct ending){ 0 };
	*lost = true;
	server->note->pid = 0;
	if (server->area != number && !introduce(server, area, watch, ending))
		return NULL;
	server->area = number;
	*lost = !ending->stopped && (!tell_order(server, folder) || !follow(server, watch, ending));
	if (*lost && server->note->pid < 0 && hear(server)) {
		*lost = false;
		return error_errno(-server->note->pid, "the program cannot be forked");
	}
	return NULL;
}
