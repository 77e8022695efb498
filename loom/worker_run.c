/* The run of one order: makes the area ready, starts the program or has it forked by its server,
 * watches it, has its output checked. Between runs the files are made as they were (loom/world).
 */
#include "loom/worker_run.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/memory.h"
#include "loom/harvest.h"
#include "loom/sweep.h"
#include "loom/verdict.h"
#include "loom/watch.h"

#define LOOK_EVERY 64  /* runs between two looks for processes that were left behind */
#define SERVERS_MOST 3 /* servers in a row that may die without a run */

void worker_free_result(struct worker_result *result)
{
	cleanup_close(&result->area);
	free(result->reason);
	free(result->output);
}

/* Starts a process and follows it to its end. `err` NULL = together with `out`. */
static struct error *run_process(struct worker *worker, struct spawn *start, struct output *out,
				 struct output *err, struct ending *ending)
{
	_cleanup_close_ int out_end = -1, err_end = -1;
	const struct worker_setup *setup = worker->setup;
	struct watch watch = {
		.start = watch_now(),
		.timeout_s = worker->options.timeout_s,
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
	start->processors = worker->has_core ? &worker->processors : NULL;
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
	if (ending->stopped) {
		view_close(worker->view);
		_exit(0);
	}
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

/* What the run is to follow, from the order's files or the options. */
static struct error *write_orders(int area, const struct launch_options *options,
				  const struct area_control *control, const struct worker_files *files)
{
	if (files->plan < 0)
		TRY(spawn_plan(area, options->plan, control->nplan));
	else
		TRY(spawn_copy_plan(area, files->plan, control->nplan));
	return files->sites < 0 ? spawn_sites(area, options->sites, control->nsites)
				: spawn_copy_sites(area, files->sites, control->nsites);
}

/* A program that was started for this run alone. */
static struct error *run_alone(struct worker *worker, const struct worker_order *order,
			       const struct worker_files *files, struct worker_result *result,
			       struct ending *ending)
{
	const struct launch_options *options = &worker->options;

	TRY(spawn_area(&options->area, &order->control, order->seed, &result->area));
	TRY(write_orders(result->area, options, &order->control, files));
	spawn_entry(worker->entry, result->area);
	const struct binary *binary = &worker->binary;
	_cleanup_free_ char **environment = binary_environment(binary, worker->environment);
	struct spawn start = {
		.path = binary->path ? binary->path : options->path,
		.argv = binary->path ? binary->argv : options->argv,
		.environment = environment,
		.in = view_input(worker->view),
		.area = result->area,
		.still = worker->still,
	};

	TRY(run_process(worker, &start, &worker->out, &worker->err, ending));
	uint32_t bound;

	TRY(harvest_read(result->area, offsetof(struct area_head, bound), &bound, sizeof bound));
	result->bound = bound != 0;
	TRY(harvest_read(result->area, AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, end),
			 &ending->end, sizeof ending->end));
	return harvest_read(result->area, AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, fault.kind),
			    &ending->fault, sizeof ending->fault);
}

static struct error *start_server(struct worker *worker)
{
	const struct launch_options *options = worker->setup->options;
	const struct binary *binary = &worker->binary;
	_cleanup_free_ char **environment = binary->path ? binary_environment(binary, worker->environment)
							 : spawn_bound_environment(worker->environment);
	struct spawn start = {
		.path = binary->path ? binary->path : options->path,
		.argv = binary->path ? binary->argv : options->argv,
		.environment = worker->lost && !binary->path ? worker->environment : environment,
		.in = view_input(worker->view),
		.still = worker->still,
		.processors = worker->has_core && !binary->path ? &worker->processors : NULL,
		.small_pages = true,
	};
	unsigned folder;

	view_folder(worker->view, &folder);
	TRY(server_start(&worker->server, &start));
	worker->server.folder = folder;
	return NULL;
}

/* What a run has left behind becomes this process's child when its parent ends. The
 * server is one as well and goes with the rest; the next run starts another. */
static struct error *tidy(struct worker *worker, uint32_t processes)
{
	struct rusage usage;
	int status;

	if (processes <= 1 && ++worker->nserved % LOOK_EVERY)
		return NULL;
	if (!sweep_others(worker->server.pid))
		return NULL;
	TRY(sweep(worker->server.pid, &status, &usage));
	worker->server.pid = 0;
	server_stop(&worker->server);
	return NULL;
}

/* The end of a worker with a server. What a run has left behind may not have been noticed yet: it would
 * outlive this process, whose child it is. */
_Noreturn void worker_leave(struct worker *worker)
{
	struct rusage usage;
	int status;

	if (worker->server.pid > 0)
		error_free(sweep(worker->server.pid, &status, &usage));
	view_close(worker->view);
	_exit(0);
}

/* A run that the server forks. *done is false when there is no server to do so. */
static struct error *run_served(struct worker *worker, const struct worker_order *order,
				const struct worker_files *files, struct worker_report *report,
				struct worker_result *result, struct ending *ending, bool *done)
{
	struct watch watch = {
		.start = watch_now(),
		.timeout_s = worker->options.timeout_s,
		.children = worker->children,
		.stop = { worker->setup->socket, worker->setup->parent },
		.outputs = { &worker->out, &worker->err },
	};
	bool lost;

	*done = false;
	if (!worker->server.pid)
		TRY(start_server(worker));
	TRY(reuse_arm(&worker->reuse, &worker->options.area, &order->control, order->seed, files->plan,
		      files->sites));
	unsigned number;
	int folder = view_folder(worker->view, &number);
	bool moved = number != worker->server.folder;

	worker->server.folder = number;
	TRY(server_run(&worker->server, worker->reuse.fd, worker->reuse.number, moved ? folder : -1, &watch,
		       ending, &lost));
	if (ending->stopped)
		worker_leave(worker);
	if (lost) {
		server_stop(&worker->server);
		reuse_drop(&worker->reuse);
		worker->served = ++worker->lost < SERVERS_MOST;
		return NULL;
	}
	struct reuse_look look = reuse_look(&worker->reuse);

	*done = true;
	worker->lost = 0;
	ending->end = look.end;
	ending->fault = look.fault;
	report->served = true;
	report->points = look.points;
	report->contested = look.contested;
	report->hash = look.hash;
	report->turns = look.turns;
	report->claim = look.claim;
	result->novel = look.novel || look.odd;
	result->bound = look.bound;
	return tidy(worker, look.processes);
}

static struct error *judge(struct worker *worker, const struct ending *ending, int spool,
			   struct worker_report *report, struct worker_result *result)
{
	const struct launch_options *options = &worker->options;
	uint64_t differs = output_differs(&worker->out);
	struct ending check;
	bool checked = false;

	if (options->check && verdict_open(options, ending) && !differs) {
		TRY(run_check(worker, spool, &check));
		checked = true;
	}
	verdict_outcome(ending, &report->outcome, &report->code);
	report->label = verdict(options, ending, differs, checked ? &check : NULL, &result->reason);
	report->wall_s = ending->wall_s;
	report->cpu_s = cpu_seconds(&ending->usage);
	report->peak_kib = (uint64_t)ending->usage.ru_maxrss;
	report->output_hash = output_hash(output_hash(HASH_START, &worker->out), &worker->err);
	if (report->label == LABEL_FAIL) {
		const struct output *const all[] = { &worker->err, &worker->out, &worker->check };

		result->output = output_join(all, 3);
	}
	return NULL;
}

/* One run and what is to be said of it, in whatever way it can be made. */
static struct error *run_once(struct worker *worker, const struct worker_order *order,
			      const struct worker_files *files, struct worker_report *report,
			      struct worker_result *result)
{
	_cleanup_close_ int spool = -1;
	struct ending ending;
	bool done = false;

	if (worker->setup->options->check)
		TRY(output_spool(&spool));
	report->started = microseconds_now();
	report->served = false;
	while (!done) {
		output_start(&worker->out, worker->setup->expect, spool);
		output_start(&worker->err, NULL, -1);
		output_start(&worker->check, NULL, -1);
		TRY(view_begin(worker->view));
		if (worker->served) {
			TRY(run_served(worker, order, files, report, result, &ending, &done));
		} else {
			TRY(run_alone(worker, order, files, result, &ending));
			done = true;
		}
	}
	ending.controlled = order->control.policy != POLICY_FREE;
	return judge(worker, &ending, spool, report, result);
}

/* Makes the view as it was before the run; *again when the run does not count, and nothing is left of it. */
static struct error *settle(struct worker *worker, const struct worker_report *report,
			    struct worker_result *result, bool *again)
{
	enum view_next next;

	TRY(view_end(worker->view, result->bound, &next));
	*again = next != VIEW_GO_ON;
	if (next == VIEW_REPEAT_AFRESH && worker->server.pid)
		server_stop(&worker->server);
	if (!*again)
		return NULL;
	if (report->served)
		reuse_clean(&worker->reuse);
	worker_free_result(result);
	*result = (struct worker_result){ .area = -1 };
	return NULL;
}

struct error *worker_run(struct worker *worker, const struct worker_order *order,
			 const struct worker_files *files, struct worker_report *report,
			 struct worker_result *result)
{
	bool again = true;

	worker->options = *worker->setup->options;
	worker->options.area = order->area;
	worker->options.timeout_s = order->timeout_s;
	worker->options.force = order->force;
	while (again) {
		TRY(run_once(worker, order, files, report, result));
		TRY(settle(worker, report, result, &again));
	}
	report->met = view_met(worker->view);
	report->binds = view_binds(worker->view);
	if (!report->served)
		return NULL;
	if (order->keep || result->novel || (report->label == LABEL_FAIL && !order->spare))
		result->area = reuse_give(&worker->reuse);
	else
		reuse_clean(&worker->reuse);
	return NULL;
}
