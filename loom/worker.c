/* Inside a worker process: waits for a job, makes the area, starts the program,
 * watches it, has its output checked, reports. The worker stands in a session of
 * its own, so that Ctrl-C on the terminal reaches neither it nor the program.
 */
#include "loom/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "loom/spawn.h"
#include "loom/sweep.h"
#include "loom/verdict.h"
#include "loom/watch.h"

struct worker {
	const struct worker_setup *setup;
	int children; /* from sweep_prepare */
	int null;
	bool still;
	char entry[SPAWN_ENTRY_SIZE];
	char **environment;
	struct output out, err, check;
};

/* What one run leaves besides the report's numbers. */
struct result {
	int area;
	char *reason, *output;
};

static void free_result(struct result *result)
{
	cleanup_close(&result->area);
	free(result->reason);
	free(result->output);
}

/* Handlers of the tool's own are nothing to a worker; what is ignored stays so,
 * for the program to inherit. */
static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			signal(number, SIG_DFL);
	}
	/* Too large an area is an errno here; spawn undoes it for the program. */
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static struct error *prepare(struct worker *worker)
{
	setsid();
	reset_signals();
	/* Above 2, so that no descriptor made later is in the way of the program's
	 * three, even when the tool was started with these closed. */
	do {
		worker->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (worker->null >= 0 && worker->null <= STDERR_FILENO);
	if (worker->null < 0)
		return error_errno(errno, "cannot open /dev/null");
	worker->still = spawn_must_be_still();
	worker->environment = spawn_environment(worker->entry);
	return sweep_prepare(&worker->children);
}

/* Starts a process and follows it to its end. `err` NULL = together with `out`. */
static struct error *run_process(struct worker *worker, struct spawn *start, struct output *out,
				 struct output *err, struct ending *ending)
{
	_cleanup_close_ int out_end = -1, err_end = -1;
	const struct worker_setup *setup = worker->setup;
	struct watch watch = {
		.start = watch_now(),
		.timeout_s = setup->options->timeout_s,
		.children = worker->children,
		.stop = { setup->socket, setup->parent },
		.streams = { -1, -1 },
		.outputs = { out, err },
	};
	struct error *error = watch_pipe(&watch.streams[0], &out_end);

	if (!error && err)
		error = watch_pipe(&watch.streams[1], &err_end);
	start->out = out_end;
	start->err = err ? err_end : out_end;
	if (!error)
		error = spawn(start, &watch.pid);
	/* The read ends are watch_end's to close once there is a process. */
	if (error) {
		cleanup_close(&watch.streams[0]);
		cleanup_close(&watch.streams[1]);
		return error;
	}
	/* Else the pipes would never report that the program closed them. */
	cleanup_close(&out_end);
	cleanup_close(&err_end);
	out_end = err_end = -1;
	TRY(watch_end(&watch, ending));
	if (ending->stopped)
		_exit(0);
	return NULL;
}

static struct error *run_check(struct worker *worker, int spool, struct ending *ending)
{
	const char *command = worker->setup->options->check;
	char *const argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)command, NULL };
	struct spawn start = {
		.argv = argv, .environment = worker->environment + 1, .in = spool, .area = -1
	};

	if (worker->out.spool_error)
		return error_errno(worker->out.spool_error, "cannot keep the program's output for %s",
				   command);
	lseek(spool, 0, SEEK_SET);
	return run_process(worker, &start, &worker->check, NULL, ending);
}

static int64_t microseconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static double cpu_seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

static struct error *run_program(struct worker *worker, struct worker_report *report, struct result *result)
{
	const struct launch_options *options = worker->setup->options;
	_cleanup_close_ int spool = -1;
	struct ending ending, check;
	bool checked = false;

	if (options->check)
		TRY(output_spool(&spool));
	TRY(spawn_area(&options->area, options->area.seed + report->index, &result->area));
	spawn_entry(worker->entry, result->area);
	output_start(&worker->out, worker->setup->expect, spool);
	output_start(&worker->err, NULL, -1);
	output_start(&worker->check, NULL, -1);
	struct spawn start = {
		.path = options->path,
		.argv = options->argv,
		.environment = worker->environment,
		.in = worker->null,
		.area = result->area,
		.still = worker->still,
	};

	report->started = microseconds_now();
	TRY(run_process(worker, &start, &worker->out, &worker->err, &ending));
	uint64_t differs = output_differs(&worker->out);

	if (options->check && verdict_open(options, &ending) && !differs) {
		TRY(run_check(worker, spool, &check));
		checked = true;
	}
	verdict_outcome(&ending, &report->outcome, &report->code);
	report->label = verdict(options, &ending, differs, checked ? &check : NULL, &result->reason);
	report->wall_s = ending.wall_s;
	report->cpu_s = cpu_seconds(&ending.usage);
	report->peak_kib = (uint64_t)ending.usage.ru_maxrss;
	if (report->label == LABEL_FAIL) {
		const struct output *const all[] = { &worker->err, &worker->out, &worker->check };

		result->output = output_join(all, 3);
	}
	return NULL;
}

static uint32_t text_size(const char *text, size_t limit)
{
	return text ? (uint32_t)(strnlen(text, limit - 1) + 1) : 0;
}

static void send_report(const struct worker *worker, struct worker_report *report,
			const struct result *result)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec parts[] = {
		{ report, sizeof *report },
		{ result->reason, report->reason_size = text_size(result->reason, WORKER_REASON_SIZE) },
		{ result->output, report->output_size = text_size(result->output, WORKER_OUTPUT_SIZE) },
	};
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };

	if (result->area >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof control;
		control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
						   .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &result->area, sizeof(int));
	}
	ssize_t sent;

	do {
		sent = sendmsg(worker->setup->socket, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	/* The parent is gone or has lost interest; anything else it cannot be told. */
	if (sent < 0)
		_exit(0);
}

/* The next job; ends the worker when there will be none. */
static uint64_t next_job(const struct worker *worker)
{
	struct pollfd polled[] = {
		{ .fd = worker->setup->socket, .events = POLLIN },
		{ .fd = worker->setup->parent, .events = POLLIN },
	};
	uint64_t index;

	while (poll(polled, 2, -1) < 0)
		;
	if (polled[1].revents)
		_exit(0);
	if (recv(worker->setup->socket, &index, sizeof index, 0) != (ssize_t)sizeof index)
		_exit(0);
	return index;
}

_Noreturn void worker_main(const struct worker_setup *setup)
{
	struct worker *worker = memory_alloc(sizeof *worker);

	worker->setup = setup;
	struct error *unprepared = prepare(worker);

	for (;;) {
		struct worker_report report = { .index = next_job(worker) };
		_cleanup_(free_result) struct result result = { .area = -1 };
		struct error *error = unprepared ? unprepared : run_program(worker, &report, &result);

		if (error) {
			report.is_error = true;
			free(result.reason);
			result.reason = memory_string(error->message);
		}
		send_report(worker, &report, &result);
		if (error != unprepared)
			error_free(error);
	}
}
