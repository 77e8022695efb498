/* One more run of a schedule, for the sake of its story.
 */
#include "diagnose/retell.h"

struct launch_options retell_strictly(const struct launch_options *launch, const struct schedule *schedule)
{
	struct launch_options options = *launch;

	options.area.seed = schedule->seed;
	options.plan = schedule->turns;
	options.sites = schedule->sites;
	options.control = (struct area_control){ .policy = POLICY_STAY,
						 .nplan = (uint32_t)schedule->nturns,
						 .nsites = (uint32_t)schedule->nsites,
						 .everywhere = schedule->everywhere,
						 .strict = 1 };
	if (schedule->claim)
		options.control.claim = *schedule->claim;
	/* A livelock ends where somebody lost patience. */
	if (schedule->outcome == OUTCOME_LIVELOCK && schedule->points) {
		options.control.most_points = schedule->points - 1;
		options.control.still_points = schedule->points;
	}
	return options;
}

struct error *retell(const struct launch_options *launch, const struct schedule *schedule, struct retold *out)
{
	struct launch_options options = retell_strictly(launch, schedule);

	*out = (struct retold){ .story = { .schedule = schedule } };
	options.area.observe |= OBSERVE_TRACE;
	options.force = 0;
	TRY(launch_run(&options, &out->run));
	atlas_read(&out->atlas, &out->run.observations);
	out->story.atlas = &out->atlas;
	if (out->run.outcome == schedule->outcome && out->run.code == schedule->code)
		out->story.traced = &out->run.observations;
	return NULL;
}

void retold_free(struct retold *retold)
{
	run_free(&retold->run);
	atlas_free(&retold->atlas);
}
