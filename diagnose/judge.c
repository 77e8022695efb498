/* The experiments: proposals are collected, the quick test throws most of them out, the
 * rest is proven or not. Groups are tried before orders; when a group is found that mends
 * the program whichever side comes first, no order can be meant and none is tried.
 */
#include "diagnose/judge.h"

#include <stdlib.h>

#include "diagnose/causes.h"
#include "loom/watch.h"

#define SCHEDULES_MOST 6u /* failing ones that are followed, the shortest first */
#define PASSED_MOST 2u    /* passing runs that are traced */
#define PROVEN_MOST 4u    /* claims that get the whole experiment */

struct judging {
	struct diagnosis *diagnosis;
	struct evidence evidence;
	struct lab lab;
	struct run others[SCHEDULES_MOST]; /* failing runs */
	size_t nothers;
	const struct schedule *schedules[SCHEDULES_MOST];
	struct run passes[PASSED_MOST];
	size_t npasses;
	struct retold passed[PASSED_MOST];
	struct proposals proposals;
};

/* ---- what there is ---- */

/* Runs that fail alike, and the passing ones that were recorded last: they came from shortening. */
static struct error *gather(struct judging *judging)
{
	struct diagnosis *diagnosis = judging->diagnosis;
	const struct run *failure = &diagnosis->tally.failure;
	struct run *runs = NULL;
	size_t n = 0;
	struct error *error = store_runs(diagnosis->store, diagnosis->tally.campaign, &runs, &n);

	for (size_t i = n; i-- > 0 && !error;) {
		bool alike = runs[i].label == LABEL_FAIL && runs[i].outcome == failure->outcome &&
			     runs[i].code == failure->code && runs[i].number != diagnosis->shortest;

		if (alike && judging->nothers < SCHEDULES_MOST - 2 && runs[i].number != failure->number)
			error = store_run(diagnosis->store, runs[i].number,
					  &judging->others[judging->nothers++], NULL);
		else if (runs[i].label == LABEL_PASS && judging->npasses < PASSED_MOST)
			error = store_run(diagnosis->store, runs[i].number,
					  &judging->passes[judging->npasses++], NULL);
	}
	for (size_t i = 0; i < n; i++)
		run_free(&runs[i]);
	free(runs);
	return error;
}

static struct error *prepare(struct judging *judging, struct chase *chase, double deadline)
{
	struct diagnosis *diagnosis = judging->diagnosis;
	const struct run *failure = &diagnosis->tally.failure;
	struct trials *trials = &judging->lab.trials;
	size_t n = 0;

	judging->evidence = (struct evidence){
		.run = diagnosis->trace.run,
		.atlas = &diagnosis->retold.atlas,
		.schedule = failure->reduced.nturns ? &failure->reduced : &failure->schedule,
		.passed = judging->passed,
	};
	TRY(gather(judging));
	for (size_t i = 0; i < judging->npasses; i++, judging->evidence.npassed++)
		TRY(retell(&diagnosis->launch, &judging->passes[i].schedule, &judging->passed[i]));
	if (failure->reduced.nturns)
		judging->schedules[n++] = &failure->reduced;
	judging->schedules[n++] = &failure->schedule;
	for (size_t i = 0; i < judging->nothers; i++)
		if (judging->others[i].schedule.nturns)
			judging->schedules[n++] = &judging->others[i].schedule;
	*trials = (struct trials){ .failed = failure,
				   .schedules = judging->schedules,
				   .nschedules = n,
				   .seed = diagnosis->options->seed,
				   .stop = diagnosis->options->stop,
				   .deadline = deadline };
	return chase_steer(chase, &trials->steer);
}

/* ---- proposals ---- */

static void propose_opinions(struct judging *judging)
{
	struct opinions *opinions = &judging->diagnosis->opinions;
	const struct evidence *evidence = &judging->evidence;

	for (size_t i = 0; i < opinions->n && i < OPINIONS_MOST; i++)
		for (size_t j = 0; j < opinions->items[i].findings.n; j++) {
			const struct finding *finding = &opinions->items[i].findings.items[j];
			struct claim_parts parts;
			enum claim_kind kind = finding->class == FINDING_ORDER ? CLAIM_ORDER : CLAIM_ATOMIC;

			if (!claim_parts_of_finding(evidence->run, evidence->atlas, finding, &parts))
				continue;
			for (int last = 0; last <= (kind == CLAIM_ORDER); last++) {
				size_t at = proposals_add(&judging->proposals, evidence,
							  last ? CLAIM_ORDER_LAST : kind, &parts);

				if (at == SIZE_MAX)
					continue;
				judging->proposals.items[at].methods |= 1u << i;
				if (!judging->proposals.items[at].told)
					judging->proposals.items[at].told = finding;
			}
		}
}

static struct error *try_all(struct judging *judging, enum claim_kind from, enum claim_kind to)
{
	for (size_t i = 0; i < judging->proposals.n && !lab_is_over(&judging->lab); i++) {
		struct proposal *proposal = &judging->proposals.items[i];

		if (proposal->proof.tried || proposal->claim.kind < from || proposal->claim.kind > to)
			continue;
		TRY(lab_try(&judging->lab, &proposal->claim, &proposal->proof));
		if (getenv("DEBUG_JUDGE")) {
			claim_write(stderr, &proposal->claim, atlas_find, judging->evidence.atlas);
			fprintf(stderr,
				"=> runs %lu failed %lu other %lu given %lu held %lu before %lu after %lu "
				"%s\n\n",
				proposal->proof.along.runs, proposal->proof.along.failed,
				proposal->proof.along.other, proposal->proof.along.given_up,
				proposal->proof.along.held, proposal->proof.along.before,
				proposal->proof.along.after, proposal->proof.mended ? "MENDED" : "");
		}
	}
	return NULL;
}

static bool has_group(const struct judging *judging)
{
	for (size_t i = 0; i < judging->proposals.n; i++) {
		const struct proposal *proposal = &judging->proposals.items[i];

		if (proposal->claim.kind == CLAIM_ATOMIC && proposal->proof.mended &&
		    proof_has_both_orders(&proposal->proof))
			return true;
	}
	return false;
}

static struct error *prove_best(struct judging *judging)
{
	causes_sort(&judging->proposals);
	for (size_t i = 0; i < judging->proposals.n && i < PROVEN_MOST && !lab_is_over(&judging->lab); i++) {
		struct proposal *proposal = &judging->proposals.items[i];

		if (proposal->proof.mended)
			TRY(lab_prove(&judging->lab, &proposal->claim, &proposal->proof));
	}
	return NULL;
}

static struct error *experiment(struct judging *judging)
{
	struct proposals *proposals = &judging->proposals;

	TRY(lab_open(&judging->lab));
	if (!judging->lab.ready)
		return NULL;
	TRY(virtual_fix(&judging->evidence, &judging->lab, proposals));
	propose_triples(&judging->evidence, proposals);
	TRY(try_all(judging, CLAIM_ATOMIC, CLAIM_ATOMIC));
	if (!has_group(judging)) {
		propose_awaited(&judging->evidence, proposals);
		propose_orders(&judging->evidence, proposals);
		TRY(try_all(judging, CLAIM_ORDER, CLAIM_ORDER_LAST));
	}
	return prove_best(judging);
}

static void judging_free(struct judging *judging)
{
	for (size_t i = 0; i < judging->nothers; i++)
		run_free(&judging->others[i]);
	for (size_t i = 0; i < judging->npasses; i++)
		run_free(&judging->passes[i]);
	for (size_t i = 0; i < judging->evidence.npassed; i++)
		retold_free(&judging->passed[i]);
	trials_free(&judging->lab.trials);
	VEC_FREE(&judging->proposals);
	free(judging);
}

struct error *judge(struct diagnosis *diagnosis, struct chase *chase, double deadline)
{
	struct judging *judging = memory_alloc(sizeof *judging);
	struct error *error = NULL;

	judging->diagnosis = diagnosis;
	judging->evidence.run = diagnosis->trace.run;
	if (chase && diagnosis->trace.run && diagnosis->trace.run->nevents && !diagnosis->always) {
		error = prepare(judging, chase, deadline);
		if (!error)
			propose_opinions(judging);
		if (!error)
			error = experiment(judging);
	}
	causes_order(&judging->evidence, &diagnosis->opinions, &judging->proposals, &diagnosis->causes);
	diagnosis->causes.any = judging->lab.any;
	diagnosis->causes.runs = judging->lab.trials.runs;
	judging_free(judging);
	return error;
}
