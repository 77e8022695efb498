/* The methods that compare the failed run with passing ones: LOCON, on the run that was
 * found and on the shortest one, and BUGABOO.
 */
#include <stdlib.h>

#include "analysis/bugaboo/campaign.h"
#include "analysis/bugaboo/rank.h"
#include "analysis/locon/ask.h"
#include "analysis/locon/vote.h"
#include "diagnose/diagnosis.h"
#include "report/rank_answer.h"

#define FINDINGS_MOST 5

static void take_findings(struct findings *from, struct opinion *opinion)
{
	opinion->findings = *from;
	*from = (struct findings){ 0 };
}

static struct error *locate(struct diagnosis *diagnosis, uint64_t run, struct opinion *opinion)
{
	_cleanup_(locon_data_free) struct locon_data data = { 0 };
	_cleanup_(locon_answer_free) struct locon_answer answer = { 0 };

	if (!run || diagnosis->always)
		return NULL;
	TRY(locon_gather(diagnosis->store, run, &data));
	if (!data.input.npassed)
		return NULL;
	const struct locon_request request = {
		.procedure = LOCON_DEFAULT, .level = -1, .top = FINDINGS_MOST, .run = run, .sites = data.sites
	};

	TRY(locon_ask(diagnosis->store, &data, &request, &answer));
	take_findings(&answer.findings, opinion);
	return NULL;
}

static struct error *ask_locate(struct diagnosis *diagnosis, struct opinion *opinion)
{
	struct locon_vote vote = { 0 };

	if (!diagnosis->tally.failure.number || diagnosis->always)
		return NULL;
	TRY(locon_vote(diagnosis->store, diagnosis->tally.campaign, diagnosis->tally.failure.number, &vote));
	return locate(diagnosis, vote.run, opinion);
}

const struct method method_locate = {
	.head = { .method = "locate" },
	.ask = ask_locate,
};

static struct error *ask_locate_shortest(struct diagnosis *diagnosis, struct opinion *opinion)
{
	return locate(diagnosis, diagnosis->shortest, opinion);
}

const struct method method_locate_shortest = {
	.head = { .method = "locate-shortest" },
	.ask = ask_locate_shortest,
};

/* Passing runs, and those that failed in the same way: another failure may have another cause. */
static struct error *choose_runs(const struct diagnosis *diagnosis, uint64_t **out, size_t *n)
{
	const struct run *failure = &diagnosis->tally.failure;
	VEC(uint64_t) numbers = { 0 };
	struct run *runs = NULL;
	size_t nruns = 0;

	TRY(store_runs(diagnosis->store, diagnosis->tally.campaign, &runs, &nruns));
	for (size_t i = 0; i < nruns; i++) {
		if (runs[i].label == LABEL_PASS ||
		    (runs[i].outcome == failure->outcome && runs[i].code == failure->code))
			*VEC_PUSH(&numbers) = runs[i].number;
		run_free(&runs[i]);
	}
	free(runs);
	*out = numbers.items;
	*n = numbers.n;
	return NULL;
}

static struct error *ask_rank(struct diagnosis *diagnosis, struct opinion *opinion)
{
	_cleanup_(graphs_free) struct graphs graphs = { 0 };
	_cleanup_(rank_free) struct rank_result result = { 0 };
	_cleanup_free_ uint64_t *runs = NULL;
	size_t n;

	if (diagnosis->always)
		return NULL;
	TRY(choose_runs(diagnosis, &runs, &n));
	TRY(graphs_load(diagnosis->store, diagnosis->tally.campaign, runs, n, WAY_ANY, &graphs));
	TRY(graphs_add_untouched(diagnosis->store, &graphs));
	TRY(graphs_find_overwrites(diagnosis->store, &graphs));
	if (!graphs.passed.n || !graphs.failed.n || !graphs.interned.nedges)
		return NULL;
	const struct rank_input input = graphs_input(&graphs, RANK_NOVELTY);

	rank_labelled(&input, &result);
	const struct rank_view view = { .store = diagnosis->store,
					.graphs = &graphs,
					.result = &result,
					.passed = graphs.passed.n,
					.failed = graphs.failed.n,
					.what_failed = "failed runs" };

	for (size_t i = 0; i < result.points.n && opinion->findings.n < FINDINGS_MOST; i++)
		if (!result.points.items[i].aftermath) {
			struct finding *finding = VEC_PUSH(&opinion->findings);

			rank_finding(&view, i, finding);
			if (finding->scenario)
				trace_name_threads(&diagnosis->trace, finding);
		}
	return NULL;
}

const struct method method_rank = {
	.head = { .method = "rank" },
	.ask = ask_rank,
};
