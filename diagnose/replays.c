/* Replays on the pool, counted.
 */
#include "diagnose/replays.h"

#include "diagnose/retell.h"
#include "loom/watch.h"

#define WAIT_S 0.1

struct replays_same replays_compare(const struct schedule *recorded, const struct run *run)
{
	return (struct replays_same){
		.end = run->outcome == recorded->outcome && run->code == recorded->code,
		.output = !recorded->output || run->schedule.output == recorded->output,
		.schedule = schedule_hash(run->schedule.turns, run->schedule.nturns) ==
			    schedule_hash(recorded->turns, recorded->nturns),
	};
}

static struct error *follow(struct launch_pool *pool, const struct schedule *schedule, double deadline,
			    bool (*stop)(void), struct replays *out)
{
	bool done = false;

	while (!done && !(stop && stop()) && watch_now() < deadline) {
		struct run run = { 0 };
		bool got = false;

		TRY(launch_pool_next(pool, WAIT_S, &run, &got, &done));
		if (got) {
			struct replays_same same = replays_compare(schedule, &run);

			out->runs++;
			out->identical += same.end && same.output && same.schedule;
		}
		run_free(&run);
	}
	return NULL;
}

struct error *replays_do(const struct launch_options *launch, const struct schedule *schedule, unsigned jobs,
			 uint64_t n, double seconds, bool (*stop)(void), struct replays *out)
{
	struct launch_options options = retell_strictly(launch, schedule);
	struct launch_pool *pool = NULL;

	*out = (struct replays){ 0 };
	TRY(launch_pool_start(&options, jobs, n, &pool));
	struct error *error = follow(pool, schedule, watch_now() + seconds, stop, out);

	launch_pool_stop(pool);
	return error;
}
