/* Series of like runs: hands them out to workers one by one and harvests what
 * comes back. Each worker has one job more in its socket than it works on, so
 * that it never waits for the parent; more would let areas pile up when the
 * parent is slow.
 */
#include "loom/launch.h"

#include <stdlib.h>

#include "base/memory.h"
#include "loom/member.h"

#define JOBS_AHEAD 2

struct launch_pool {
	struct members members;
	uint64_t runs, given, delivered;
	struct launch_options copy; /* what runs are made with */
};

static void give_job(struct launch_pool *pool, struct member *member)
{
	if (pool->given == pool->runs)
		return;
	struct worker_order order = { .index = pool->given,
				      .seed = pool->copy.area.seed + pool->given,
				      .area = pool->copy.area,
				      .control = pool->copy.control,
				      .timeout_s = pool->copy.timeout_s,
				      .force = pool->copy.force,
				      .keep = true };

	pool->given++;
	member_give(member, &order, -1, -1);
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
	pool->copy = *options;
	struct worker_setup setup = { .options = options, .expect = options->expect ? &expect : NULL };
	struct error *error = members_start(&pool->members, &setup, n);

	if (error) {
		launch_pool_stop(pool);
		return error;
	}
	for (int ahead = 0; ahead < JOBS_AHEAD; ahead++)
		for (size_t i = 0; i < n; i++)
			give_job(pool, &pool->members.items[i]);
	*out = pool;
	return NULL;
}

static struct error *deliver(struct launch_pool *pool, struct member *member, struct run *run)
{
	_cleanup_(member_report_free) struct member_report report;

	struct error *error = member_take(member, &report);

	pool->delivered++;
	give_job(pool, member);
	return error ? error : member_run(&report, &pool->copy, run);
}

struct error *launch_pool_next(struct launch_pool *pool, double wait_s, struct run *run, bool *got,
			       bool *done)
{
	struct error *error = NULL;

	*got = false;
	if (pool->delivered < pool->runs) {
		struct member *member = members_wait(&pool->members, wait_s);

		if (member)
			error = deliver(pool, member, run);
		*got = member && !error;
	}
	*done = pool->delivered == pool->runs;
	return error;
}

void launch_pool_stop(struct launch_pool *pool)
{
	if (!pool)
		return;
	members_stop(&pool->members);
	free(pool);
}
