/* How long is too long follows the plain run, measured on the same machine in the same minute,
 * and what control costs; so nothing here depends on how fast or busy the machine is.
 */
#include "diagnose/doubt.h"

#include <stdlib.h>

#include "base/memory.h"
#include "diagnose/retell.h"

#define CONTROL_PRICE 100 /* a run under control may take so many times as long as the plain one, */
#define SCHEDULE_PRICE 20 /* a schedule as the first one */
#define LONGEST_S 600
#define STILL_TIMES 20 /* accesses of the plain run that a livelock passes without news */
#define TRIES 3        /* of a replay */

/* Under Valgrind a program may fail that passes without: it must not be blamed for that. */
static struct error *passes_alone(const struct launch_options *plain, bool *passes)
{
	struct launch_options alone = *plain;
	_cleanup_(run_free) struct run run = { 0 };

	alone.loom = LOOM_COMPILED; /* hooks or not: as it is */
	TRY(launch_run(&alone, &run));
	*passes = run.label == LABEL_PASS;
	return NULL;
}

void doubt_take_plain(struct doubt *doubt, const struct run *run)
{
	doubt->asked = true;
	doubt->passes = run->label == LABEL_PASS;
	doubt->wall_s = run->wall_s;
	doubt->accesses = run->observations.accesses;
}

struct error *doubt_plain(struct doubt *doubt, const struct launch_options *launch)
{
	struct launch_options plain = *launch;
	_cleanup_(run_free) struct run run = { 0 };

	if (doubt->asked)
		return NULL;
	plain.control = (struct area_control){ .policy = POLICY_FREE };
	plain.plan = NULL;
	TRY(launch_run(&plain, &run));
	doubt_take_plain(doubt, &run);
	if (!doubt->passes && plain.loom == LOOM_BINARY)
		TRY(passes_alone(&plain, &doubt->passes));
	return NULL;
}

static double longer(double limit, double wanted)
{
	double most = wanted < LONGEST_S ? wanted : LONGEST_S;

	return limit > 0 && most > limit ? most : limit; /* 0: for ever */
}

struct error *doubt_first(struct doubt *doubt, struct launch_options *launch, struct run *first)
{
	TRY(launch_run(launch, first));
	if (first->outcome == OUTCOME_SLOW) {
		TRY(doubt_plain(doubt, launch));
		double limit = longer(launch->timeout_s, doubt->wall_s * CONTROL_PRICE);

		if (!doubt->passes || !(limit > launch->timeout_s))
			return NULL;
		launch->timeout_s = limit;
		run_free(first);
		*first = (struct run){ 0 };
		TRY(launch_run(launch, first));
	}
	launch->timeout_s = longer(launch->timeout_s, first->wall_s * SCHEDULE_PRICE);
	return NULL;
}

static bool is_hang(enum outcome outcome)
{
	return outcome == OUTCOME_DEADLOCK || outcome == OUTCOME_LOST_WAKEUP || outcome == OUTCOME_LIVELOCK;
}

static struct error *happens_again(const struct launch_options *launch, const struct run *hang, bool *again)
{
	struct launch_options options = retell_strictly(launch, &hang->schedule);

	options.control.carry = 1;
	*again = false;
	for (int i = 0; i < TRIES && !*again; i++) {
		_cleanup_(run_free) struct run run = { 0 };

		TRY(launch_run(&options, &run));
		*again = run.outcome == hang->outcome;
	}
	return NULL;
}

/* Has it done nothing new for many times as long as the whole plain run? Less is no sign of a livelock. */
static struct error *is_long_enough(struct doubt *doubt, const struct launch_options *launch,
				    const struct run *hang, bool *enough)
{
	*enough = true;
	if (hang->outcome != OUTCOME_LIVELOCK)
		return NULL;
	TRY(doubt_plain(doubt, launch));
	if (!doubt->passes)
		return NULL;
	doubt->still_points = doubt->accesses * STILL_TIMES;
	*enough = hang->schedule.points >= doubt->still_points;
	return NULL;
}

struct error *doubt_hang(struct doubt *doubt, const struct launch_options *launch,
			 struct steer_report *report)
{
	bool enough, again;

	if (!is_hang(report->outcome) || launch->force)
		return NULL;
	TRY(is_long_enough(doubt, launch, &report->run, &enough));
	if (enough)
		TRY(happens_again(launch, &report->run, &again));
	if (enough && again)
		return NULL;
	report->outcome = report->run.outcome = OUTCOME_SLOW;
	report->label = report->run.label = LABEL_PASS;
	return NULL;
}
