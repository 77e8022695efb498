/* The parent's side of the workers: hands out runs, receives reports, harvests.
 * Each worker has one job more in its socket than it works on, so that it never
 * waits for the parent; more would let areas pile up when the parent is slow.
 */
#include "loom/launch.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "loom/harvest.h"
#include "loom/worker.h"

#define JOBS_AHEAD 2
#define PATIENCE_MS 45000 /* a worker itself gives up on unkillable processes earlier */

struct member {
	pid_t pid;
	int socket;
	unsigned jobs; /* given and not reported */
};

struct launch_pool {
	struct member *members;
	size_t nmembers, turn; /* whom to ask first */
	uint64_t runs, given, delivered;
	uint32_t jitter_us;
	struct pollfd *polled;
};

/* The worker's half of a fork. */
static _Noreturn void be_worker(const struct launch_pool *pool, struct worker_setup *setup)
{
	/* Or a worker would keep the others from noticing that the parent hung up. */
	for (size_t i = 0; i < pool->nmembers; i++)
		close(pool->members[i].socket);
	worker_main(setup);
}

static struct error *start_member(struct launch_pool *pool, struct worker_setup *setup)
{
	int ends[2];
	sigset_t all, before;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(errno, "cannot connect to a worker process");
	struct member *member = &pool->members[pool->nmembers++];

	member->socket = ends[0];
	setup->socket = ends[1];
	/* The worker must not run the caller's signal handlers: it resets them first. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	member->pid = fork();
	if (member->pid == 0)
		be_worker(pool, setup);
	int failure = errno;

	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	return member->pid < 0 ? error_errno(failure, "cannot start a worker process") : NULL;
}

/* A worker that cannot be reached any more is noticed when its answer is missed. */
static void give_job(struct launch_pool *pool, struct member *member)
{
	if (pool->given == pool->runs)
		return;
	(void)send(member->socket, &pool->given, sizeof pool->given, MSG_NOSIGNAL);
	pool->given++;
	member->jobs++;
}

static struct error *start_members(struct launch_pool *pool, struct worker_setup *setup, size_t n)
{
	_cleanup_close_ int parent = pidfd_open(getpid(), 0);

	if (parent < 0)
		return error_errno(errno, "cannot watch over processes (that takes Linux 5.3 or newer)");
	setup->parent = parent;
	for (size_t i = 0; i < n; i++)
		TRY(start_member(pool, setup));
	for (int ahead = 0; ahead < JOBS_AHEAD; ahead++)
		for (size_t i = 0; i < n; i++)
			give_job(pool, &pool->members[i]);
	return NULL;
}

struct error *launch_pool_start(const struct launch_options *options, unsigned jobs, uint64_t runs,
				struct launch_pool **out)
{
	_cleanup_(expect_free) struct expect expect = { 0 };
	size_t n = jobs ? jobs : 1;

	if (options->expect)
		TRY(expect_read(options->expect, &expect));
	if (n > runs)
		n = (size_t)runs;
	struct launch_pool *pool = memory_alloc(sizeof *pool);

	pool->runs = runs;
	pool->jitter_us = options->area.jitter_us;
	pool->members = memory_alloc(n * sizeof *pool->members);
	pool->polled = memory_alloc(n * sizeof *pool->polled);
	struct worker_setup setup = { .options = options, .expect = options->expect ? &expect : NULL };
	struct error *error = start_members(pool, &setup, n);

	if (error) {
		launch_pool_stop(pool);
		return error;
	}
	*out = pool;
	return NULL;
}

/* A text of the message as a fresh string; NULL when there is none. */
static char *text_of(const char *at, uint32_t size)
{
	return size ? memory_string(at) : NULL;
}

/* Receives a message of `member`; *area is -1 when it brought none. */
static ssize_t receive(const struct member *member, char *bytes, size_t size, int *area)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { bytes, size };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
	};
	ssize_t n;

	do {
		n = recvmsg(member->socket, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	*area = -1;
	if (n > 0 && CMSG_FIRSTHDR(&message) && control.header.cmsg_type == SCM_RIGHTS)
		memcpy(area, CMSG_DATA(&control.header), sizeof *area);
	return n;
}

static struct error *deliver(struct launch_pool *pool, struct member *member, struct run *run)
{
	char bytes[WORKER_MESSAGE_SIZE];
	_cleanup_close_ int area = -1;
	struct worker_report report;
	ssize_t n = receive(member, bytes, sizeof bytes, &area);

	if (n < (ssize_t)sizeof report)
		return error_new(
			"a worker process was killed; perhaps the machine has not enough memory for so "
			"many jobs");
	memcpy(&report, bytes, sizeof report);
	char *reason = text_of(bytes + sizeof report, report.reason_size);

	member->jobs--;
	pool->delivered++;
	give_job(pool, member);
	*run = (struct run){
		.outcome = report.outcome,
		.code = report.code,
		.label = report.label,
		.reason = reason,
		.wall_s = report.wall_s,
		.cpu_s = report.cpu_s,
		.peak_kib = report.peak_kib,
		.started = report.started,
		.jitter_us = pool->jitter_us,
		.output = text_of(bytes + sizeof report + report.reason_size, report.output_size),
	};
	struct error *error = report.is_error ? error_new("%s", reason)
			      : area < 0      ? error_new("too many open files to receive a run area")
					      : harvest(area, &run->observations);

	if (error)
		run_free(run);
	return error;
}

/* The next member that has something to say; NULL when none has in time. */
static struct member *wait_for_member(struct launch_pool *pool, double wait_s)
{
	double seconds = fmin(fmax(wait_s, 0), 1e8);
	struct timespec limit = { .tv_sec = (time_t)seconds };

	limit.tv_nsec = (long)((seconds - (double)limit.tv_sec) * 1e9);
	for (size_t i = 0; i < pool->nmembers; i++)
		pool->polled[i] = (struct pollfd){ .fd = pool->members[i].jobs ? pool->members[i].socket : -1,
						   .events = POLLIN };
	if (ppoll(pool->polled, pool->nmembers, &limit, NULL) <= 0)
		return NULL;
	while (!pool->polled[pool->turn].revents)
		pool->turn = (pool->turn + 1) % pool->nmembers;
	struct member *member = &pool->members[pool->turn];

	pool->turn = (pool->turn + 1) % pool->nmembers;
	return member;
}

struct error *launch_pool_next(struct launch_pool *pool, double wait_s, struct run *run, bool *got,
			       bool *done)
{
	struct error *error = NULL;

	*got = false;
	if (pool->delivered < pool->runs) {
		struct member *member = wait_for_member(pool, wait_s);

		if (member)
			error = deliver(pool, member, run);
		*got = member && !error;
	}
	*done = pool->delivered == pool->runs;
	return error;
}

static void reap(const struct member *member)
{
	struct pollfd ended = { .fd = pidfd_open(member->pid, 0), .events = POLLIN };

	if (ended.fd >= 0 && poll(&ended, 1, PATIENCE_MS) == 0)
		kill(member->pid, SIGKILL);
	cleanup_close(&ended.fd);
	while (waitpid(member->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void launch_pool_stop(struct launch_pool *pool)
{
	if (!pool)
		return;
	/* Hanging up makes a worker kill its run and end; all of them at once. */
	for (size_t i = 0; i < pool->nmembers; i++)
		close(pool->members[i].socket);
	for (size_t i = 0; i < pool->nmembers; i++)
		if (pool->members[i].pid > 0)
			reap(&pool->members[i]);
	free(pool->members);
	free(pool->polled);
	free(pool);
}
