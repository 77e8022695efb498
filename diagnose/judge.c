/* The experiments: proposals are collected, the quick test throws most of them out, the
 * rest is proven or not. Groups are tried before orders; when a group is proven to mend the
 * program whichever side comes first, no order can be meant and none is tried.
 */
#include "diagnose/judging.h"

#include <stdlib.h>
#include <string.h>

#include "diagnose/variants.h"

#define PROVEN_MOST 4u  /* claims that get the whole experiment */
#define TIGHTER_MOST 4u /* ends of a group that are tried, the nearest first */

/* ---- what there is ---- */

bool judging_is_alike(const struct run *run, const struct run *failure)
{
	return run->outcome == failure->outcome && run->code == failure->code;
}

/* Runs that fail alike, and the passing ones that were recorded last: they came from shortening. */
static struct error *gather(struct judging *judging)
{
	struct diagnosis *diagnosis = judging->diagnosis;
	const struct run *failure = judging->failure;
	struct run *runs = NULL;
	size_t n = 0;
	struct error *error = store_runs(diagnosis->store, diagnosis->tally.campaign, &runs, &n);

	for (size_t i = n; i-- > 0 && !error;) {
		bool alike = runs[i].label == LABEL_FAIL && judging_is_alike(&runs[i], failure) &&
			     runs[i].number != diagnosis->shortest;

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

struct error *judging_prepare(struct judging *judging, struct chase *chase, double deadline, uint64_t most)
{
	struct diagnosis *diagnosis = judging->diagnosis;
	const struct run *failure = judging->failure;
	struct trials *trials = &judging->lab.trials;
	struct launch_options launch = diagnosis->launch;
	size_t n = 0;

	launch.server = chase_server(chase);
	judging->evidence = (struct evidence){
		.run = judging->retold->story.traced,
		.atlas = &judging->retold->atlas,
		.schedule = judging->shortest,
		.passed = judging->passed,
		.locations = &judging->locations,
		.deadline = deadline,
	};
	locations_read(&judging->locations, judging->evidence.run);
	TRY(gather(judging));
	for (size_t i = 0; i < judging->npasses; i++, judging->evidence.npassed++) {
		TRY(retell(&launch, &judging->passes[i].schedule, &judging->passed[i]));
		atlas_number_alike(&judging->retold->atlas, &judging->passed[i].run.observations,
				   &judging->passed[i].atlas);
	}
	if (judging->shortest != &failure->schedule)
		judging->schedules[n++] = judging->shortest;
	judging->schedules[n++] = &failure->schedule;
	for (size_t i = 0; i < judging->nothers; i++)
		if (judging->others[i].schedule.nturns)
			judging->schedules[n++] = &judging->others[i].schedule;
	*trials = (struct trials){ .failed = failure,
				   .schedules = judging->schedules,
				   .nschedules = n,
				   .seed = diagnosis->options->seed,
				   .stop = diagnosis->options->stop,
				   .deadline = deadline,
				   .most = most };
	return chase_steer(chase, &trials->steer);
}

/* ---- proposals ---- */

/* The two accesses in the middle of a couple, in the order of the run. */
static void tell_as_it_came(struct finding *finding, const struct claim_parts *parts)
{
	struct finding_access first = finding->accesses.items[1];

	finding->accesses.items[1] = finding->accesses.items[2];
	finding->accesses.items[2] = first;
	finding->scenario = causes_scenario(CLAIM_ATOMIC, parts);
}

/* One finding of the opinion `number`, as each kind of claim that it can mean. */
static void propose_finding(struct judging *judging, struct finding *finding, size_t number)
{
	const struct evidence *evidence = &judging->evidence;
	struct proposals *proposals = &judging->proposals;
	struct claim_parts parts;
	struct claim claim;
	/* A block that is used after it was freed: the free was to wait. */
	bool order = finding->class == FINDING_ORDER || finding->class == FINDING_MEMORY;

	if (!claim_parts_of_finding(evidence->run, evidence->atlas, finding, &parts))
		return;
	if (parts.turned)
		tell_as_it_came(finding, &parts);
	bool waits = claim_of_waits(evidence, finding, &parts, &claim);

	for (unsigned kind = order ? CLAIM_ORDER : CLAIM_ATOMIC;
	     kind <= (order ? CLAIM_ORDER_LAST : CLAIM_ATOMIC); kind++) {
		size_t at = waits ? proposals_add_claim(proposals, evidence, &claim, &parts)
				  : proposals_add(proposals, evidence, (enum claim_kind)kind, &parts);

		if (at == SIZE_MAX)
			continue;
		proposals->items[at].methods |= 1u << number;
		/* What a heap block tells is how it failed; the order is why. */
		if (!proposals->items[at].told && finding->class != FINDING_MEMORY)
			proposals->items[at].told = finding;
	}
}

static void propose_opinions(struct judging *judging)
{
	const struct opinions *opinions = &judging->diagnosis->opinions;

	for (size_t i = 0; i < opinions->n && i < OPINIONS_MOST; i++)
		for (size_t j = 0; j < opinions->items[i].findings.n; j++)
			propose_finding(judging, &opinions->items[i].findings.items[j], i);
}

static bool is_mended(const struct proposals *proposals)
{
	for (size_t i = 0; i < proposals->n; i++)
		if (proposals->items[i].proof.mended)
			return true;
	return false;
}

/* Does something mend the program that leaves most of it as it is? */
static bool mends_narrowly(const struct proposals *proposals, bool group)
{
	for (size_t i = 0; i < proposals->n; i++)
		if (proposals->items[i].proof.mended && !proposal_is_wide(&proposals->items[i]) &&
		    (!group || proposals->items[i].claim.kind == CLAIM_ATOMIC))
			return true;
	return false;
}

/* Behind a lock that both take, to wait until the others are done is to wait for their end. That says nothing beside a group
 * that is proven. */
static bool only_waits(const struct judging *judging, const struct claim *claim)
{
	bool group = false;

	for (size_t i = 0; i < judging->proposals.n; i++)
		group |= judging->proposals.items[i].claim.kind == CLAIM_ATOMIC &&
			 judging->proposals.items[i].proof.verdict == VERDICT_PROVEN;
	return group && claim->kind == CLAIM_ORDER_LAST && claim->roles[0].ndoors > 0;
}

/* Once something mends the program, what is left of the time belongs to its proof. */
static struct error *try_all(struct judging *judging, bool orders)
{
	struct proposals *proposals = &judging->proposals;

	for (size_t i = 0; i < proposals->n && !lab_is_over(&judging->lab); i++) {
		struct proposal *proposal = &proposals->items[i];

		if (proposal->proof.tried || claim_is_order(&proposal->claim) != orders ||
		    only_waits(judging, &proposal->claim))
			continue;
		if (lab_is_half_over(&judging->lab) && mends_narrowly(proposals, false))
			return NULL;
		TRY(variants_try(&judging->lab, proposal));
	}
	return NULL;
}

/* An order that mends the program either way round is none that is meant. */
static struct error *try_turned(struct judging *judging)
{
	for (size_t i = 0, n = 0; i < judging->proposals.n && n < PROVEN_MOST && !lab_is_over(&judging->lab);
	     i++) {
		struct proposal *proposal = &judging->proposals.items[i];

		if (!claim_is_order(&proposal->claim) || !proposal->proof.mended || proposal->proof.turned)
			continue;
		TRY(variants_try_turned(&judging->evidence, &judging->lab, proposal));
		n += proposal->proof.mended;
	}
	return NULL;
}

/* Is it proven, and no order can be meant instead? A group was seen on both sides of the others then. */
static bool settles(const struct proposal *proposal)
{
	return proposal->proof.verdict == VERDICT_PROVEN &&
	       (proposal->claim.kind == CLAIM_ATOMIC
			? proof_sides(&proposal->proof) == (CLAIM_BEFORE | CLAIM_AFTER)
			: !claim_is_order(&proposal->claim));
}

/* Whole experiments, for the first few that had none. A group that is proven needs no rival. */
static struct error *prove_best(struct judging *judging)
{
	bool some;

	causes_sort(&judging->evidence, &judging->proposals);
	some = is_mended(&judging->proposals);
	for (size_t i = 0, n = 0; i < judging->proposals.n && n < PROVEN_MOST && !lab_is_over(&judging->lab);
	     i++) {
		struct proposal *proposal = &judging->proposals.items[i];

		if ((some ? !proposal->proof.mended : !proposal->proof.clean) || proposal->proof.any.runs)
			continue;
		n++;
		TRY(lab_prove(&judging->lab, &proposal->claim, &proposal->proof));
		if (proposal->claim.kind == CLAIM_ATOMIC && proposal->proof.verdict > VERDICT_GUESS)
			TRY(lab_sides(&judging->lab, &proposal->claim, &proposal->proof));
		if (settles(proposal))
			return NULL;
	}
	return NULL;
}

/* A group of which the others may come on one side only means an order: of its accesses and theirs at one place,
 * those of the other side come too early. */
static bool propose_sided(struct judging *judging)
{
	size_t n = judging->proposals.n;
	bool some = false;

	for (size_t i = 0; i < n; i++) {
		const struct claim_parts parts = judging->proposals.items[i].parts;
		unsigned sides = proof_sides(&judging->proposals.items[i].proof);

		if (judging->proposals.items[i].claim.kind != CLAIM_ATOMIC ||
		    judging->proposals.items[i].proof.verdict < VERDICT_PROVEN ||
		    (sides != CLAIM_BEFORE && sides != CLAIM_AFTER))
			continue;
		some = true;
		for (size_t early = 0; early < parts.n; early++)
			for (size_t late = 0; late < parts.n; late++)
				if ((parts.items[early].thread == parts.items[0].thread) ==
				    (sides == CLAIM_BEFORE))
					propose_order(&judging->evidence, &parts.items[early],
						      &parts.items[late], &judging->proposals);
	}
	return some;
}

static bool is_group_proven(const struct judging *judging)
{
	for (size_t i = 0; i < judging->proposals.n; i++)
		if (settles(&judging->proposals.items[i]))
			return true;
	return false;
}

static bool is_order_proven(const struct judging *judging)
{
	for (size_t i = 0; i < judging->proposals.n; i++)
		if (claim_is_order(&judging->proposals.items[i].claim) &&
		    judging->proposals.items[i].proof.verdict == VERDICT_PROVEN)
			return true;
	return false;
}

/* Where orders come from, in the order in which they are tried. */
enum order_source { CLAIMED_ORDERS, TORN_DOWN, TRACED_ORDERS };

static struct error *propose_from(struct judging *judging, enum order_source source)
{
	const struct evidence *evidence = &judging->evidence;
	struct proposals *proposals = &judging->proposals;

	if (source == TORN_DOWN && judging->failure->outcome == OUTCOME_MEMORY)
		return virtual_teardown(evidence, &judging->lab, proposals);
	if (source == TRACED_ORDERS) {
		propose_awaited(evidence, proposals);
		propose_orders(evidence, proposals);
	}
	return NULL;
}

/* An order that is proven is not looked for any further. */
static struct error *try_orders(struct judging *judging, enum order_source first, enum order_source last)
{
	for (unsigned source = first; source <= last && !lab_is_over(&judging->lab); source++) {
		TRY(propose_from(judging, (enum order_source)source));
		TRY(try_all(judging, true));
		causes_sort(&judging->evidence, &judging->proposals);
		TRY(try_turned(judging));
		if (is_mended(&judging->proposals))
			TRY(prove_best(judging));
		if (is_order_proven(judging))
			return NULL;
	}
	return NULL;
}

static struct error *try_merged(struct judging *judging)
{
	if (is_mended(&judging->proposals))
		return NULL;
	propose_merged(&judging->evidence, &judging->proposals);
	return try_all(judging, false);
}

/* A group that mends the program may be an order, told in a long way. Not where both sides of the order are in sections
 * of one lock: the program keeps them apart by that, and its sections are too short. */
static struct error *try_inner_orders(struct judging *judging)
{
	struct proposals *proposals = &judging->proposals;

	causes_sort(&judging->evidence, proposals);
	if (!proposals->n || proposals->items[0].claim.kind != CLAIM_ATOMIC ||
	    proposals->items[0].proof.verdict < VERDICT_LIKELY)
		return NULL;
	const struct claim_parts group = proposals->items[0].parts;
	size_t known = proposals->n;

	propose_inner_orders(&judging->evidence, &group, proposals);
	for (size_t i = known; i < proposals->n && !lab_is_over(&judging->lab); i++) {
		struct proposal *order = &proposals->items[i];

		if (order->claim.roles[0].ndoors)
			continue;
		TRY(lab_try(&judging->lab, &order->claim, &order->proof));
		if (order->proof.mended)
			TRY(lab_prove(&judging->lab, &order->claim, &order->proof));
		if (order_is_required(order))
			return NULL;
	}
	return NULL;
}

/* Of a group that is shown, the way in which it is told best; that has to be shown, too. */
static struct error *try_tighter(struct judging *judging)
{
	struct proposals *proposals = &judging->proposals;

	causes_sort(&judging->evidence, proposals);
	if (!proposals->n || proposals->items[0].claim.kind != CLAIM_ATOMIC ||
	    proposals->items[0].proof.verdict < VERDICT_LIKELY || lab_is_over(&judging->lab))
		return NULL;
	const struct claim_parts wide = proposals->items[0].parts;
	uint32_t methods = proposals->items[0].methods;
	size_t from = 0;

	for (unsigned tries = 0; tries < TIGHTER_MOST && !lab_is_over(&judging->lab); tries++) {
		size_t at = propose_tighter(&judging->evidence, &wide, &from, proposals);

		if (at == SIZE_MAX)
			return NULL;
		struct proposal *tighter = &proposals->items[at];

		/* It has these ends already; which access comes between is not for this to say. */
		if (tighter->parts.items[0].at == wide.items[0].at &&
		    group_end(&tighter->parts)->at == group_end(&wide)->at) {
			proposals->items[0].tight = true;
			return NULL;
		}
		if (!tighter->proof.tried)
			TRY(lab_try(&judging->lab, &tighter->claim, &tighter->proof));
		if (!tighter->proof.mended)
			continue;
		tighter->methods |= methods;
		tighter->tight = true;
		if (tighter->proof.any.runs)
			return NULL;
		TRY(lab_prove(&judging->lab, &tighter->claim, &tighter->proof));
		return lab_sides(&judging->lab, &tighter->claim, &tighter->proof);
	}
	return NULL;
}

/* Couples with a group on either side keep out so much that they mend for little: they are the last. */
static struct error *try_couples(struct judging *judging)
{
	if (mends_narrowly(&judging->proposals, true))
		return NULL;
	for (size_t i = 0; i < judging->couples.n; i++) {
		const struct proposal *couple = &judging->couples.items[i];
		size_t at = proposals_add_claim(&judging->proposals, &judging->evidence, &couple->claim,
						&couple->parts);

		judging->proposals.items[at].gaps |= couple->gaps;
		judging->proposals.items[at].wide = true;
	}
	return try_all(judging, false);
}

/* What methods claim and what the switches show, groups first, then every triple of the trace, then its orders. What
 * few orders are claimed comes before the many triples, and so does, where a heap block was misused, what was freed
 * too early. */
static struct error *try_in_turn(struct judging *judging)
{
	struct proposals *proposals = &judging->proposals;
	bool heap = judging->failure->outcome == OUTCOME_MEMORY;

	TRY(lab_open(&judging->lab));
	if (!judging->lab.ready)
		return NULL;
	TRY(virtual_fix(&judging->evidence, &judging->lab, proposals, &judging->couples));
	TRY(try_all(judging, false));
	TRY(try_merged(judging));
	if (is_mended(proposals))
		TRY(prove_best(judging));
	if (!is_group_proven(judging) && propose_sided(judging)) {
		TRY(try_orders(judging, CLAIMED_ORDERS, CLAIMED_ORDERS));
		if (is_order_proven(judging))
			return NULL;
	}
	if (!is_group_proven(judging))
		TRY(try_orders(judging, CLAIMED_ORDERS, heap ? TORN_DOWN : CLAIMED_ORDERS));
	if (is_group_proven(judging) || (heap && is_order_proven(judging)))
		return NULL;
	propose_triples(&judging->evidence, proposals);
	TRY(try_all(judging, false));
	TRY(try_merged(judging));
	TRY(try_couples(judging));
	TRY(prove_best(judging));
	if (is_group_proven(judging))
		return NULL;
	TRY(try_orders(judging, TRACED_ORDERS, TRACED_ORDERS));
	return prove_best(judging);
}

struct error *judging_experiment(struct judging *judging)
{
	TRY(try_in_turn(judging));
	if (!judging->lab.ready)
		return NULL;
	TRY(try_inner_orders(judging));
	return try_tighter(judging);
}

void judging_free(struct judging *judging)
{
	for (size_t i = 0; i < judging->nothers; i++)
		run_free(&judging->others[i]);
	for (size_t i = 0; i < judging->npasses; i++)
		run_free(&judging->passes[i]);
	for (size_t i = 0; i < judging->evidence.npassed; i++)
		retold_free(&judging->passed[i]);
	locations_free(&judging->locations);
	trials_free(&judging->lab.trials);
	VEC_FREE(&judging->proposals);
	VEC_FREE(&judging->couples);
	free(judging);
}

struct judging *judging_new(struct diagnosis *diagnosis, const struct run *failure,
			    const struct schedule *shortest, struct retold *retold)
{
	struct judging *judging = memory_alloc(sizeof *judging);

	judging->diagnosis = diagnosis;
	judging->failure = failure;
	judging->shortest = shortest;
	judging->retold = retold;
	return judging;
}

struct error *judge(struct diagnosis *diagnosis, struct chase *chase, double deadline, uint64_t most)
{
	const struct run *failure = &diagnosis->tally.failure;
	struct judging *judging = judging_new(
		diagnosis, failure, failure->reduced.nturns ? &failure->reduced : &failure->schedule,
		&diagnosis->retold);
	bool possible = chase && diagnosis->trace.run && diagnosis->trace.run->nevents && !diagnosis->always;
	struct error *error = NULL;

	if (possible) {
		error = judging_prepare(judging, chase, deadline, most);
		if (!error)
			propose_opinions(judging);
		if (!error)
			error = judging_experiment(judging);
	}
	causes_order(&judging->evidence, &diagnosis->opinions, &judging->proposals, diagnosis->always,
		     &diagnosis->causes);
	diagnosis->causes.any = judging->lab.any;
	diagnosis->causes.near = judging->lab.near;
	diagnosis->causes.runs = judging->lab.trials.runs;
	for (size_t i = 0; i < judging->proposals.n; i++)
		diagnosis->causes.tried += judging->proposals.items[i].proof.tried;
	judging_free(judging);
	return error || !possible ? error : judge_second(diagnosis, chase, deadline, most);
}
