/* A second, independent fault: failures that come also when the first cause is forbidden are
 * shortened, traced and put to the experiments on their own; the best cause of them is told
 * beside the first, unless it is about the same accesses.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/judging.h"
#include "loom/reduce.h"
#include "loom/watch.h"

#define SECOND_TRIES 1500u /* to make another failure short */

/* Recorded failures of any kind. */
struct failures {
	struct run runs[TRIALS_SCHEDULES];
	const struct schedule *schedules[TRIALS_SCHEDULES];
	size_t n;
};

/* Those that end in another way than the failure that was explained come first: another fault shows there. */
static struct error *read_failures(struct diagnosis *diagnosis, struct failures *out)
{
	struct run *runs = NULL;
	size_t n = 0;
	struct error *error = store_runs(diagnosis->store, diagnosis->tally.campaign, &runs, &n);

	for (int alike = 0; alike < 2; alike++)
		for (size_t i = 0; i < n && !error && out->n < TRIALS_SCHEDULES; i++) {
			if (runs[i].label != LABEL_FAIL || runs[i].number == diagnosis->shortest ||
			    judging_is_alike(&runs[i], &diagnosis->tally.failure) != alike)
				continue;
			error = store_run(diagnosis->store, runs[i].number, &out->runs[out->n], NULL);
			out->schedules[out->n] = &out->runs[out->n].schedule;
			out->n++;
		}
	for (size_t i = 0; i < n; i++)
		run_free(&runs[i]);
	free(runs);
	return error;
}

/* One that comes also when the first cause is forbidden; without turns when there is none. */
static struct error *find_left(struct diagnosis *diagnosis, const struct cause *first, struct steer *steer,
			       double deadline, struct run *out)
{
	struct failures *failures = memory_alloc(sizeof *failures);
	struct error *error = read_failures(diagnosis, failures);
	struct trials_counts counts = { 0 };
	struct trials trials = { .steer = steer,
				 .failed = &diagnosis->tally.failure,
				 .schedules = failures->schedules,
				 .nschedules = failures->n,
				 .seed = diagnosis->options->seed,
				 .stop = diagnosis->options->stop,
				 .deadline = deadline };

	if (!error && failures->n)
		error = trials_run(&trials, &first->claim, CLAIM_FORBID, TRIALS_ALONG, 0, failures->n, false,
				   &counts);
	trials_free(&trials);
	for (size_t i = 0; i < failures->n; i++) {
		bool wanted = !error && trials.left >> i & 1 && !out->schedule.nturns;

		if (wanted)
			*out = failures->runs[i];
		else
			run_free(&failures->runs[i]);
	}
	free(failures);
	return error;
}

/* Adds the best cause of another failure, if experiments show it and it is none of those that are known. */
static void add_second(struct judging *judging, struct causes *causes)
{
	struct causes second = { 0 };
	struct opinions none = { 0 };

	causes_order(&judging->evidence, &none, &judging->proposals, false, &second);
	if (second.n && !causes_touch(second.items[0].finding, causes->items[0].finding)) {
		struct cause cause = second.items[0];

		cause.finding = VEC_PUSH(&causes->second);
		*cause.finding = *second.items[0].finding;
		*second.items[0].finding = (struct finding){ 0 };
		cause.second = true;
		VEC_PUSH(causes);
		memmove(causes->items + 2, causes->items + 1, (causes->n - 2) * sizeof *causes->items);
		causes->items[1] = cause;
	}
	causes_free(&second);
}

struct error *judge_second(struct diagnosis *diagnosis, struct chase *chase, double deadline, uint64_t most)
{
	_cleanup_(run_free) struct run failure = { 0 };
	_cleanup_(retold_free) struct retold retold = { 0 };
	struct causes *causes = &diagnosis->causes;
	struct launch_options launch = diagnosis->launch;
	struct steer *steer;

	if (!causes->n || causes->items[0].verdict < VERDICT_LIKELY || watch_now() > deadline)
		return NULL;
	TRY(chase_steer(chase, &steer));
	TRY(find_left(diagnosis, &causes->items[0], steer, deadline, &failure));
	if (!failure.schedule.nturns)
		return NULL;
	TRY(reduce_steered(steer, &failure, SECOND_TRIES, deadline - watch_now(), NULL, &failure.reduced));
	const struct schedule *shortest = failure.reduced.nturns ? &failure.reduced : &failure.schedule;

	launch.server = chase_server(chase);
	TRY(retell(&launch, shortest, &retold));
	if (!retold.story.traced || !retold.story.traced->nevents)
		return NULL;
	struct judging *judging = judging_new(diagnosis, &failure, shortest, &retold);
	struct error *error = judging_prepare(judging, chase, deadline, most);

	if (!error)
		error = judging_experiment(judging);
	if (!error)
		add_second(judging, causes);
	causes->runs += judging->lab.trials.runs;
	judging_free(judging);
	return error;
}
