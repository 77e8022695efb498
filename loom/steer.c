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
	size_t out; /* in the hands of workers */
};

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

static void push(struct steer *steer, const struct waiting *waiting)
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
	steer->queue[(steer->head + steer->n++) % steer->room] = *waiting;
}

/* Fills the workers' sockets, the emptiest first. */
static void feed(struct steer *steer)
{
	while (steer->n) {
		struct member *idle = NULL;

		for (size_t i = 0; i < steer->members.n; i++)
			if (!idle || steer->members.items[i].jobs < idle->jobs)
				idle = &steer->members.items[i];
		if (!idle || idle->jobs >= JOBS_AHEAD)
			return;
		struct waiting *next = &steer->queue[steer->head];

		member_give(idle, &next->order, next->plan, next->file);
		cleanup_close(&next->plan);
		point_sites_drop(next->sites);
		steer->head = (steer->head + 1) % steer->room;
		steer->n--;
		steer->out++;
	}
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
	return steer->n + steer->out;
}

struct error *steer_take(struct steer *steer, double wait_s, struct steer_report *report, bool *got)
{
	_cleanup_(member_report_free) struct member_report from = { .area = -1 };
	struct member *member = steer->out ? members_wait(&steer->members, wait_s) : NULL;

	*got = false;
	if (!member)
		return NULL;
	TRY(member_take(member, &from));
	steer->out--;
	feed(steer);
	*report = (struct steer_report){
		.index = from.report.index,
		.label = from.report.label,
		.outcome = from.report.outcome,
		.code = from.report.code,
		.points = from.report.points,
		.contested = from.report.contested,
		.turns = from.report.turns,
		.hash = from.report.hash,
		.harvested = from.area >= 0,
		.light = from.report.light,
		.claim = from.report.claim,
		.cpu_s = from.report.cpu_s + from.report.beside_s,
	};
	TRY(member_run(&from, &steer->options, &report->run));
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

void steer_stop(struct steer *steer)
{
	if (!steer)
		return;
	members_stop(&steer->members);
	for (size_t i = 0; i < steer->n; i++) {
		cleanup_close(&steer->queue[(steer->head + i) % steer->room].plan);
		point_sites_drop(steer->queue[(steer->head + i) % steer->room].sites);
	}
	free(steer->queue);
	free(steer);
}
