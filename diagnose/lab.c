/* Trials and the rule that is stated in lab.h.
 */
#include "diagnose/lab.h"

#include "diagnose/statistics.h"
#include "loom/watch.h"

#define RUNS 48         /* of a whole experiment: near failing schedules, and as many of any kind */
#define RARE_MOST 384   /* of any kind, where failures are rare */
#define FAILURES 8      /* that have to be seen, so that none of as many runs shows something */
#define FORCED_RUNS 32  /* forced ones */
#define SIDE_RUNS 16    /* of each side, beside the failing schedules themselves */
#define ENOUGH_LEAST 12 /* of the quick test */
#define ENOUGH_MOST 256
#define QUICK_ROUND 16u /* runs of the quick test after which it may be decided */

bool lab_is_over(const struct lab *lab)
{
	return trials_are_over(&lab->trials);
}

bool lab_is_half_over(const struct lab *lab)
{
	const struct trials *trials = &lab->trials;

	return (trials->most && trials->runs >= trials->most / 2) ||
	       (trials->deadline > 0 && watch_now() > (lab->opened + trials->deadline) / 2);
}

struct error *lab_open(struct lab *lab)
{
	struct trials_counts along = { 0 };

	lab->opened = watch_now();

	TRY(trials_run(&lab->trials, NULL, CLAIM_UNUSED, TRIALS_ALONG, 0, lab->trials.nschedules, false,
		       &along));
	lab->ready = along.failed > 0;
	if (!lab->ready)
		return NULL;
	TRY(trials_run(&lab->trials, NULL, CLAIM_UNUSED, TRIALS_NEAR, 0, RUNS, false, &lab->near));
	do
		TRY(trials_run(&lab->trials, NULL, CLAIM_UNUSED, TRIALS_ANY, lab->any.runs, RUNS, false,
			       &lab->any));
	while (lab->near.failed + lab->any.failed < FAILURES && lab->any.runs < RARE_MOST && !lab->any.cut);
	lab->enough = statistics_needed(lab->near.failed, lab->near.runs);
	lab->enough = lab->enough < ENOUGH_LEAST  ? ENOUGH_LEAST
		      : lab->enough > ENOUGH_MOST ? ENOUGH_MOST
						  : lab->enough;
	return NULL;
}

/* Failures that count against a claim: those that are meant, and new kinds. Where somebody had to be let go the
 * claim was not forbidden, and a failure says nothing of it. */
static uint64_t bad(const struct trials_counts *counts, const struct trials_counts *usual)
{
	return trials_failed(counts) + (usual->other ? 0 : counts->other);
}

/* Does it fail in another way instead, more often than it did anyway? */
static bool is_spoilt(const struct trials_counts *counts, const struct trials_counts *usual)
{
	return statistics_is_less(usual->other, usual->runs, counts->other, counts->runs);
}

/* The quick test ends with the first failure, since most claims do not get further, and when somebody had to be let go
 * so often that it will be in more than half of all runs. */
struct error *lab_try(struct lab *lab, const struct claim *claim, struct proof *out)
{
	struct trials_counts *counts = &out->along;

	*out = (struct proof){ .tried = true };
	TRY(trials_run(&lab->trials, claim, CLAIM_FORBID, TRIALS_ALONG, 0, lab->trials.nschedules, true,
		       counts));
	out->clean = !counts->cut && !trials_failed(counts) && counts->given_up * 2 <= counts->runs;
	for (uint64_t first = 0; first < lab->enough && !trials_failed(counts) && !counts->cut &&
				 counts->given_up * 2 <= lab->trials.nschedules + lab->enough;
	     first += QUICK_ROUND) {
		uint64_t left = lab->enough - first;

		TRY(trials_run(&lab->trials, claim, CLAIM_FORBID, TRIALS_NEAR, first,
			       left < QUICK_ROUND ? left : QUICK_ROUND, true, counts));
	}
	out->mended = !counts->cut && !bad(counts, &lab->near) && !is_spoilt(counts, &lab->near) &&
		      counts->given_up * 2 <= counts->runs;
	out->verdict = VERDICT_GUESS;
	return NULL;
}

bool lab_is_harmless(const struct lab *lab, const struct claim *claim, const struct proof *proof)
{
	return !claim_is_waiting(claim) &&
	       statistics_is_less(proof->forced.failed_occurred, proof->forced.occurred,
				  lab->any.failed + lab->any.other, lab->any.runs);
}

static enum verdict verdict_of(const struct lab *lab, const struct claim *claim, const struct proof *proof)
{
	uint64_t failed = bad(&proof->near, &lab->near) + bad(&proof->any, &lab->any);
	uint64_t runs = trials_kept(&proof->near) + trials_kept(&proof->any);
	uint64_t usual = lab->near.failed + lab->any.failed, all = lab->near.runs + lab->any.runs;
	bool less = statistics_is_less(failed, runs, usual, all);
	/* Forced, a fault may show in other ways than it did in the failure at hand. Runs in which it did not come about
	 * say nothing of it. */
	uint64_t forced_failed = proof->forced.failed_occurred, came = proof->forced.occurred;
	uint64_t as_it_is = lab->any.failed + lab->any.other;
	/* Where it fails so often as it is that even failing always would not be clearly more, most of them will do. */
	bool showable = statistics_is_less(as_it_is, lab->any.runs, came, came);
	bool forced = showable ? statistics_is_less(as_it_is, lab->any.runs, forced_failed, came)
			       : statistics_lower(forced_failed, came) > 0.5;

	if (!less || is_spoilt(&proof->near, &lab->near) || is_spoilt(&proof->any, &lab->any) ||
	    (proof->near.given_up + proof->any.given_up) * 2 > proof->near.runs + proof->any.runs)
		return VERDICT_GUESS;
	/* What is meant can be kept: hardly anybody who waits has to be let go. */
	bool kept = trials_are_kept(&proof->near) && trials_are_kept(&proof->any);

	/* What was seen need not be brought about to be shown. */
	if (failed == 0 && (forced || claim_is_waiting(claim)) && kept)
		return VERDICT_PROVEN;
	/* Waiting until all others are done is much more than an order: alone it shows nothing. */
	return claim->kind == CLAIM_ORDER_LAST ? VERDICT_GUESS : VERDICT_LIKELY;
}

struct error *lab_prove(struct lab *lab, const struct claim *claim, struct proof *proof)
{
	struct trials *trials = &lab->trials;

	TRY(trials_run(trials, claim, CLAIM_FORBID, TRIALS_NEAR, 0, RUNS, false, &proof->near));
	TRY(trials_run(trials, claim, CLAIM_FORBID, TRIALS_ANY, 0, lab->any.runs, false, &proof->any));
	TRY(trials_run(trials, claim, CLAIM_FORCE, TRIALS_ANY, 0, FORCED_RUNS, false, &proof->forced));
	proof->verdict = verdict_of(lab, claim, proof);
	proof->harmless = lab_is_harmless(lab, claim, proof);
	return NULL;
}

struct error *lab_sides(struct lab *lab, const struct claim *claim, struct proof *proof)
{
	struct trials *trials = &lab->trials;

	for (int others = 0; others < 2; others++) {
		enum claim_use use = others ? CLAIM_OTHERS_FIRST : CLAIM_GROUP_FIRST;
		struct trials_counts *counts = others ? &proof->others_first : &proof->group_first;

		TRY(trials_run(trials, claim, use, TRIALS_ALONG, 0, trials->nschedules, false, counts));
		TRY(trials_run(trials, claim, use, TRIALS_NEAR, 0, SIDE_RUNS, false, counts));
	}
	return NULL;
}

/* May others come on this side? `seen`: runs in which they did so by themselves; `asked`: those in which they had to.
 * Where that could not be kept up nothing was shown by asking. */
static bool may_come(const struct proof *proof, uint64_t seen, const struct trials_counts *asked)
{
	bool kept = asked->runs && asked->given_up * 2 <= asked->runs;
	bool usual = proof->along.other + proof->near.other + proof->any.other > 0;

	return kept ? asked->failed == asked->failed_given_up && (usual || !asked->other) : seen > 0;
}

unsigned proof_sides(const struct proof *proof)
{
	uint64_t before = proof->along.before + proof->near.before + proof->any.before;
	uint64_t after = proof->along.after + proof->near.after + proof->any.after;

	return (may_come(proof, before, &proof->others_first) ? CLAIM_BEFORE : 0) |
	       (may_come(proof, after, &proof->group_first) ? CLAIM_AFTER : 0);
}

bool proof_is_forced_better(const struct proof *a, const struct proof *b)
{
	if (a->forced.occurred && b->forced.occurred)
		return statistics_is_less(b->forced.failed_occurred, b->forced.occurred,
					  a->forced.failed_occurred, a->forced.occurred);
	return statistics_is_less(b->forced.failed + b->forced.other, b->forced.runs,
				  a->forced.failed + a->forced.other, a->forced.runs);
}
