/* The life of a worker process: waits for an order, has it run (worker_run.c), reports. The worker
 * stands in a session of its own, so that Ctrl-C on the terminal reaches neither it nor the program.
 */
#include "loom/worker.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "loom/sweep.h"
#include "loom/worker_run.h"

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

/* Threads that take turns hand over fastest on one core. The program is given back what it would have had, so
 * that it can see it; its runtime then comes to this core by itself. */
static void take_core(struct worker *worker)
{
	cpu_set_t *allowed = &worker->processors, mine;

	if (sched_getaffinity(0, sizeof *allowed, allowed) < 0 || !CPU_COUNT(allowed))
		return;
	size_t skip = worker->setup->number % (size_t)CPU_COUNT(allowed);

	CPU_ZERO(&mine);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, allowed) && skip-- == 0) {
			CPU_SET(cpu, &mine);
			break;
		}
	worker->has_core = sched_setaffinity(0, sizeof mine, &mine) == 0;
}

/* A leak is no failure of a run: its report at the end would be one. Who asks for it in the variable gets it. */
static void expect_no_leak_report(const char *variable)
{
	const char *asked = getenv(variable);
	_cleanup_free_ char *value = NULL;

	if (asprintf(&value, "detect_leaks=0:%s", asked ? asked : "") > 0)
		setenv(variable, value, 1);
}

static struct error *prepare(struct worker *worker)
{
	worker->served = worker->setup->served;
	worker->reuse.fd = -1;
	worker->server = SERVER_NONE;
	if (worker->setup->served)
		take_core(worker);
	setsid();
	reset_signals();
	TRY(view_open(worker->setup->options->world, &worker->view));
	worker->still = worker->setup->options->still || spawn_must_be_still();
	const char *leak_options = launch_leak_options(worker->setup->options->path);
	if (leak_options)
		expect_no_leak_report(leak_options);
	worker->environment = spawn_environment(worker->entry);
	TRY(binary_prepare(worker->setup->options, &worker->binary));
	return sweep_prepare(&worker->children);
}

static void close_files(struct worker_files *files)
{
	cleanup_close(&files->plan);
	cleanup_close(&files->sites);
}

static double clock_s(clockid_t clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) == 0 ? (double)now.tv_sec + (double)now.tv_nsec * 1e-9 : 0;
}

/* What a run costs besides its own time. A new server begins at 0. */
static double beside_s(struct worker *worker)
{
	double own = clock_s(CLOCK_PROCESS_CPUTIME_ID), server = server_cpu_s(&worker->server);
	double passed =
		own - worker->own_s + (server < worker->server_s ? server : server - worker->server_s);

	worker->own_s = own;
	worker->server_s = server;
	return passed;
}

static void deliver(struct worker *worker, struct worker_report *report, const struct worker_result *result,
		    bool spare)
{
	bool waited_for = report->is_error || (report->label == LABEL_FAIL && !spare);

	post_put(&worker->post, report, result->reason, result->output, result->area);
	if (waited_for)
		post_send(&worker->post);
}

/* Until an order is there; ends the worker when there will be none. */
static void await_order(struct worker *worker)
{
	struct pollfd polled[] = {
		{ .fd = worker->setup->socket, .events = POLLIN },
		{ .fd = worker->setup->parent, .events = POLLIN },
	};

	post_send(&worker->post);
	while (!worker->post.broken && poll(polled, 2, -1) < 0)
		;
	if (polled[1].revents || worker->post.broken)
		worker_leave(worker);
}

static void next_order(struct worker *worker, struct worker_order *order, struct worker_files *files)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} beside;
	struct iovec part = { order, sizeof *order };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &beside, .msg_controllen = sizeof beside
	};
	const int how = MSG_CMSG_CLOEXEC | MSG_DONTWAIT;
	ssize_t n;

	while ((n = recvmsg(worker->setup->socket, &message, how)) < 0 && (errno == EAGAIN || errno == EINTR))
		await_order(worker);
	if (n != (ssize_t)sizeof *order || worker->post.broken)
		worker_leave(worker);
	if (!CMSG_FIRSTHDR(&message) || beside.header.cmsg_type != SCM_RIGHTS)
		return;
	const unsigned char *at = CMSG_DATA(&beside.header);

	if (order->plan)
		memcpy(&files->plan, at, sizeof files->plan);
	if (order->sites)
		memcpy(&files->sites, at + (order->plan ? sizeof files->plan : 0), sizeof files->sites);
}

_Noreturn void worker_main(const struct worker_setup *setup)
{
	struct worker *worker = memory_alloc(sizeof *worker);

	worker->setup = setup;
	post_open(&worker->post, setup->socket);
	struct error *unprepared = prepare(worker);

	for (;;) {
		_cleanup_(worker_free_result) struct worker_result result = { .area = -1 };
		_cleanup_(close_files) struct worker_files files = { -1, -1 };
		struct worker_order order;

		next_order(worker, &order, &files);
		struct worker_report report = { .index = order.index,
						.seed = order.seed,
						.light = order.control.light };
		struct error *error =
			unprepared ? unprepared : worker_run(worker, &order, &files, &report, &result);

		if (error) {
			report.is_error = true;
			free(result.reason);
			result.reason = memory_string(error->message);
		}
		report.beside_s = beside_s(worker);
		deliver(worker, &report, &result, order.spare);
		if (error != unprepared)
			error_free(error);
	}
}
