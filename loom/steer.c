/* The parent's side of steered runs: a queue of orders in front of the workers.
 * A plan travels as a small file, whatever its length.
 */
#include "loom/steer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "loom/member.h"
#include "loom/spawn.h"

/* In a worker's socket, the one it works on included: it has some left when its reports come. */
#define JOBS_AHEAD (WORKER_HELD_MOST + 4)

struct waiting {
	struct worker_order order;
	int plan, file; /* of the sites, which are held meanwhile */
	struct point_sites *sites;
};

struct steer {
	struct members members;
	struct launch_options options;
	struct waiting *queue; /* a ring */
	size_t head, n, room;
	size_t out;                    /* in the hands of workers */
	VEC(struct steer_report) kept; /* that came while steer_run waited */
	uint64_t nown;                 /* runs of steer_run */
};

#define OWN_INDEX (UINT64_C(1) << 63) /* and above: of runs of steer_run */
#define AS_LONG_AS_IT_TAKES 1e8

void steer_order_free(struct steer_order *order)
{
	free(order->plan);
	point_sites_drop(order->sites);
	*order = (struct steer_order){ 0 };
}

void steer_report_free(struct steer_report *report)
{
	run_free(&report->run);
	*report = (struct steer_report){ 0 };
}

struct error *steer_start(const struct launch_options *options, unsigned jobs, struct steer **out)
{
	_cleanup_(expect_free) struct expect expect = { 0 };
	struct steer *steer;

	if (options->expect)
		TRY(expect_read(options->expect, &expect));
	steer = memory_alloc(sizeof *steer);
	steer->options = *options;
	struct worker_setup setup = { .options = options,
				      .expect = options->expect ? &expect : NULL,
				      .served = true };
	struct error *error = members_start(&steer->members, &setup, jobs ? jobs : 1);

	if (error) {
		steer_stop(steer);
		return error;
	}
	*out = steer;
	return NULL;
}

static void make_room(struct steer *steer)
{
	if (steer->n == steer->room) {
		size_t room = steer->room ? steer->room * 2 : 64;
		struct waiting *queue = memory_alloc(room * sizeof *queue);

		for (size_t i = 0; i < steer->n; i++)
			queue[i] = steer->queue[(steer->head + i) % steer->room];
		free(steer->queue);
		steer->queue = queue;
		steer->room = room;
		steer->head = 0;
	}
}

static void push(struct steer *steer, const struct waiting *waiting)
{
	make_room(steer);
	steer->queue[(steer->head + steer->n++) % steer->room] = *waiting;
}

static void push_first(struct steer *steer, const struct waiting *waiting)
{
	make_room(steer);
	steer->head = (steer->head + steer->room - 1) % steer->room;
	steer->queue[steer->head] = *waiting;
	steer->n++;
}

static struct member *idlest(const struct steer *steer)
{
	struct member *idle = NULL;

	for (size_t i = 0; i < steer->members.n; i++)
		if (!idle || steer->members.items[i].jobs < idle->jobs)
			idle = &steer->members.items[i];
	return idle;
}

static void send_first(struct steer *steer, struct member *member)
{
	struct waiting *next = &steer->queue[steer->head];

	member_give(member, &next->order, next->plan, next->file);
	cleanup_close(&next->plan);
	point_sites_drop(next->sites);
	steer->head = (steer->head + 1) % steer->room;
	steer->n--;
	steer->out++;
}

/* Fills the workers' sockets, the emptiest first. */
static void feed(struct steer *steer)
{
	struct member *idle;

	while (steer->n && (idle = idlest(steer)) && idle->jobs < JOBS_AHEAD)
		send_first(steer, idle);
}

/* A file that holds the turns as they stand in an area. */
static struct error *plan_file(const struct schedule_turn *turns, size_t n, int *fd)
{
	*fd = memfd_create("unsnarl-plan", MFD_CLOEXEC);
	if (*fd < 0)
		return error_errno(errno, "cannot make a file for a schedule");
	struct error *error = spawn_write_turns(*fd, 0, turns, n);

	if (error)
		close(*fd);
	return error;
}

struct error *steer_give(struct steer *steer, struct steer_order *order)
{
	struct waiting waiting = {
		.order = { .index = order->index,
			   .seed = order->seed,
			   .keep = order->keep,
			   .spare = order->spare,
			   .area = steer->options.area,
			   .timeout_s = steer->options.timeout_s,
			   .force = steer->options.force,
			   .control = { .policy = (uint32_t)order->policy,
					.depth = order->depth,
					.nplan = (uint32_t)order->nplan,
					.strict = order->strict,
					.carry = !order->strict,
					.light = order->light,
					.points = order->points,
					.slow_points = order->most_points,
					.still_points = order->still_points,
					.early = order->early,
					.claim = order->claim } },
		.plan = -1,
		.file = -1,
	};

	memcpy(waiting.order.control.thread_points, order->thread_points, sizeof order->thread_points);
	if (order->sites) {
		waiting.order.control.everywhere = order->sites->everywhere;
		waiting.order.control.nsites = (uint32_t)order->sites->n;
		TRY(point_sites_file(order->sites, &waiting.file));
	}
	if (order->nplan)
		TRY(plan_file(order->plan, order->nplan, &waiting.plan));
	waiting.sites = point_sites_hold(order->sites);
	steer_order_free(order);
	push(steer, &waiting);
	feed(steer);
	return NULL;
}

size_t steer_pending(const struct steer *steer)
{
	return steer->n + steer->out + steer->kept.n;
}

static void tell(struct member_report *from, struct steer_report *report)
{
	*report = (struct steer_report){
		.index = from->report.index,
		.label = from->report.label,
		.outcome = from->report.outcome,
		.code = from->report.code,
		.points = from->report.points,
		.contested = from->report.contested,
		.turns = from->report.turns,
		.hash = from->report.hash,
		.harvested = from->area >= 0,
		.light = from->report.light,
		.claim = from->report.claim,
		.cpu_s = from->report.cpu_s + from->report.beside_s,
	};
}

/* The next report from a worker; `options` are those of run `own`. */
static struct error *receive(struct steer *steer, double wait_s, const struct launch_options *options,
			     uint64_t own, struct steer_report *report, bool *got)
{
	_cleanup_(member_report_free) struct member_report from = { .area = -1 };
	struct member *member = steer->out ? members_wait(&steer->members, wait_s) : NULL;

	*got = false;
	if (!member)
		return NULL;
	TRY(member_take(member, &from));
	steer->out--;
	feed(steer);
	tell(&from, report);
	TRY(member_run(&from, report->index == own ? options : &steer->options, &report->run));
	if (report->harvested && !from.report.served) {
		report->points = report->run.schedule.points;
		report->contested = report->run.schedule.contested;
		report->turns = report->run.schedule.nturns;
		report->claim = report->run.schedule.counts;
		report->hash = schedule_hash(report->run.schedule.turns, report->run.schedule.nturns);
	}
	*got = true;
	return NULL;
}

struct error *steer_take(struct steer *steer, double wait_s, struct steer_report *report, bool *got)
{
	if (steer->kept.n) {
		*report = steer->kept.items[0];
		memmove(steer->kept.items, steer->kept.items + 1,
			--steer->kept.n * sizeof *steer->kept.items);
		*got = true;
		return NULL;
	}
	TRY(receive(steer, wait_s, &steer->options, 0, report, got));
	if (*got && report->index >= OWN_INDEX) { /* steer_run did not wait for it any more */
		steer_report_free(report);
		*got = false;
	}
	return NULL;
}

static struct error *await_own(struct steer *steer, const struct launch_options *options, uint64_t own,
			       struct run *run)
{
	struct steer_report report;
	bool got = true;

	while (got) {
		report = (struct steer_report){ 0 };
		TRY(receive(steer, AS_LONG_AS_IT_TAKES, options, own, &report, &got));
		if (got && report.index == own) {
			*run = report.run;
			return NULL;
		}
		if (got && report.index >= OWN_INDEX)
			steer_report_free(&report);
		else if (got)
			*VEC_PUSH(&steer->kept) = report;
	}
	return error_new("the run was interrupted");
}

struct error *steer_run(struct steer *steer, const struct launch_options *options, struct run *run)
{
	struct waiting waiting = {
		.order = { .index = OWN_INDEX + steer->nown++,
			   .seed = options->area.seed,
			   .keep = true,
			   .area = options->area,
			   .control = options->control,
			   .timeout_s = options->timeout_s,
			   .force = options->force },
		.plan = -1,
		.file = -1,
	};
	_cleanup_close_ int sites = -1;
	uint64_t own = waiting.order.index;

	if (options->control.nsites)
		TRY(spawn_sites_file(options->sites, options->control.nsites, &sites));
	if (options->control.nplan)
		TRY(plan_file(options->plan, options->control.nplan, &waiting.plan));
	waiting.file = sites;
	push_first(steer, &waiting);
	send_first(steer, idlest(steer));
	return await_own(steer, options, own, run);
}

void steer_stop(struct steer *steer)
{
	if (!steer)
		return;
	members_stop(&steer->members);
	for (size_t i = 0; i < steer->n; i++) {
		cleanup_close(&steer->queue[(steer->head + i) % steer->room].plan);
		point_sites_drop(steer->queue[(steer->head + i) % steer->room].sites);
	}
	for (size_t i = 0; i < steer->kept.n; i++)
		steer_report_free(&steer->kept.items[i]);
	VEC_FREE(&steer->kept);
	free(steer->queue);
	free(steer);
}
