/* Worker processes as their parent sees them. A fork without exec: the worker
 * knows the options of the launch because they are in its memory.
 */
#include "loom/member.h"

#include <errno.h>
#include <math.h>
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
#include "loom/world/world.h"

#define PATIENCE_MS 45000 /* a worker itself gives up on unkillable processes earlier */

/* The worker's half of a fork. */
static _Noreturn void be_worker(const struct members *members, struct worker_setup *setup)
{
	/* Or a worker would keep the others from noticing that the parent hung up. */
	for (size_t i = 0; i < members->n; i++)
		close(members->items[i].socket);
	worker_main(setup);
}

static struct error *start_member(struct members *members, struct worker_setup *setup)
{
	int ends[2];
	sigset_t all, before;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(errno, "cannot connect to a worker process");
	setup->number = members->n;
	struct member *member = &members->items[members->n++];

	member->socket = ends[0];
	member->area = -1;
	member->bytes = memory_alloc(WORKER_MESSAGE_SIZE);
	setup->socket = ends[1];
	/* The worker must not run the caller's signal handlers: it resets them first. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	member->pid = fork();
	if (member->pid == 0)
		be_worker(members, setup);
	int failure = errno;

	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	return member->pid < 0 ? error_errno(failure, "cannot start a worker process") : NULL;
}

struct error *members_start(struct members *members, struct worker_setup *setup, size_t n)
{
	_cleanup_close_ int parent = pidfd_open(getpid(), 0);

	members->items = memory_alloc(n * sizeof *members->items);
	members->polled = memory_alloc(n * sizeof *members->polled);
	if (parent < 0)
		return error_errno(errno, "cannot watch over processes (that takes Linux 5.3 or newer)");
	setup->parent = parent;
	for (size_t i = 0; i < n; i++)
		TRY(start_member(members, setup));
	return NULL;
}

struct member *members_wait(struct members *members, double wait_s)
{
	double seconds = fmin(fmax(wait_s, 0), 1e8);
	struct timespec limit = { .tv_sec = (time_t)seconds };

	for (size_t i = 0; i < members->n; i++)
		if (members->items[i].at < members->items[i].size)
			return &members->items[i];
	limit.tv_nsec = (long)((seconds - (double)limit.tv_sec) * 1e9);
	for (size_t i = 0; i < members->n; i++)
		members->polled[i] =
			(struct pollfd){ .fd = members->items[i].jobs ? members->items[i].socket : -1,
					 .events = POLLIN };
	if (ppoll(members->polled, members->n, &limit, NULL) <= 0)
		return NULL;
	while (!members->polled[members->turn].revents)
		members->turn = (members->turn + 1) % members->n;
	struct member *member = &members->items[members->turn];

	members->turn = (members->turn + 1) % members->n;
	return member;
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

void members_stop(struct members *members)
{
	/* Hanging up makes a worker kill its run and end; all of them at once. */
	for (size_t i = 0; i < members->n; i++)
		close(members->items[i].socket);
	for (size_t i = 0; i < members->n; i++)
		if (members->items[i].pid > 0)
			reap(&members->items[i]);
	for (size_t i = 0; i < members->n; i++) {
		cleanup_close(&members->items[i].area);
		free(members->items[i].bytes);
	}
	free(members->items);
	free(members->polled);
	*members = (struct members){ 0 };
}

/* Room for two descriptors beside a message. */
union beside {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(2 * sizeof(int))];
};

void member_give(struct member *member, struct worker_order *order, int plan, int sites)
{
	union beside beside = { .bytes = { 0 } };
	struct iovec part = { order, sizeof *order };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int files[2];
	size_t n = 0;

	order->plan = plan >= 0;
	order->sites = sites >= 0;
	if (order->plan)
		files[n++] = plan;
	if (order->sites)
		files[n++] = sites;
	if (n) {
		beside.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n * sizeof *files),
						  .cmsg_level = SOL_SOCKET,
						  .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&beside.header), files, n * sizeof *files);
		message.msg_control = &beside;
		message.msg_controllen = CMSG_SPACE(n * sizeof *files);
	}
	while (sendmsg(member->socket, &message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
	member->jobs++;
}

/* The next message of the worker; nothing of the last one is left. */
static void receive(struct member *member)
{
	union beside beside;
	struct iovec part = { member->bytes, WORKER_MESSAGE_SIZE };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &beside, .msg_controllen = sizeof beside
	};
	ssize_t n;

	cleanup_close(&member->area);
	member->area = -1;
	do {
		n = recvmsg(member->socket, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n > 0 && CMSG_FIRSTHDR(&message) && beside.header.cmsg_type == SCM_RIGHTS)
		memcpy(&member->area, CMSG_DATA(&beside.header), sizeof member->area);
	member->at = 0;
	member->size = n > 0 ? (size_t)n : 0;
}

/* The next bytes of the message; NULL when it has not so many. */
static const char *next_bytes(struct member *member, size_t size)
{
	if (member->size - member->at < size)
		return NULL;
	member->at += size;
	return member->bytes + member->at - size;
}

/* The next text as a fresh string; NULL when there is none. */
static char *next_text(struct member *member, uint32_t size)
{
	const char *text = size ? next_bytes(member, size) : NULL;

	return text && !text[size - 1] ? memory_string(text) : NULL;
}

struct error *member_take(struct member *member, struct member_report *out)
{
	*out = (struct member_report){ .area = -1 };
	if (member->at == member->size)
		receive(member);
	const char *report = next_bytes(member, sizeof out->report);

	if (!report) {
		member->at = member->size = 0;
		return error_new(
			"a worker process was killed; perhaps the machine has not enough memory for so "
			"many jobs");
	}
	memcpy(&out->report, report, sizeof out->report);
	out->reason = next_text(member, out->report.reason_size);
	out->output = next_text(member, out->report.output_size);
	if (out->report.sent) {
		out->area = member->area;
		member->area = -1;
	}
	member->jobs--;
	if (out->report.is_error)
		return error_new("%s", out->reason ? out->reason : "a worker failed");
	if (out->report.sent && out->area < 0)
		return error_new("too many open files to receive a run area");
	return NULL;
}

void member_report_free(struct member_report *report)
{
	cleanup_close(&report->area);
	free(report->reason);
	free(report->output);
	*report = (struct member_report){ .area = -1 };
}

/* A failure after a wait that need not have run out is told as what it is. */
static void name_experiment(struct run *run)
{
	char *reason = memory_format("%s, if a wait of T%u ran out %.3g s before its time",
				     run->reason ? run->reason : "failed", run->schedule.early_thread,
				     (double)run->schedule.early_ns * 1e-9);

	free(run->reason);
	run->reason = reason;
}

struct error *member_run(struct member_report *from, const struct launch_options *options, struct run *run)
{
	const struct worker_report *report = &from->report;
	struct error *error = NULL;
	uint32_t end;

	if (options->world) {
		options->world->met |= report->met;
		options->world->binds |= report->binds;
	}
	*run = (struct run){
		.outcome = report->outcome,
		.code = report->code,
		.label = report->label,
		.reason = from->reason,
		.wall_s = report->wall_s,
		.cpu_s = report->cpu_s,
		.peak_kib = report->peak_kib,
		.started = report->started,
		.jitter_us = options->area.jitter_us,
		.settings = { .known = true,
			      .observe = options->area.observe,
			      .context = options->area.context,
			      .line = options->area.line != 0,
			      .machine = (options->area.line & AREA_MACHINE) != 0,
			      .seed = report->seed },
		.output = from->output,
	};
	from->reason = from->output = NULL;
	if (from->area >= 0)
		error = harvest(from->area, &run->observations);
	if (!error && from->area >= 0)
		error = harvest_schedule(from->area, &run->schedule, &end);
	if (!error && run->label == LABEL_FAIL && run->schedule.early_ns)
		name_experiment(run);
	run->schedule.outcome = run->outcome;
	run->schedule.code = run->code;
	run->schedule.output = report->output_hash;
	if (error)
		run_free(run);
	return error;
}
