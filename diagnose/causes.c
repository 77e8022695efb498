/* The order of causes. No weights: comparisons in the order that causes.h states.
 */
#include "diagnose/causes.h"

#include <stdlib.h>
#include <string.h>

static bool same_place(const struct finding_access *a, const struct finding_access *b)
{
	return a->line == b->line && a->line && !strcmp(a->file, b->file);
}

bool causes_same(const struct finding *a, const struct finding *b)
{
	if (a->accesses.n != b->accesses.n || a->class != b->class)
		return false;
	for (size_t i = 0; i < a->accesses.n; i++)
		if (!same_place(&a->accesses.items[i], &b->accesses.items[i]) ||
		    a->accesses.items[i].kind != b->accesses.items[i].kind)
			return false;
	return true;
}

bool causes_touch(const struct finding *a, const struct finding *b)
{
	for (size_t i = 0; i < a->accesses.n; i++)
		for (size_t j = 0; j < b->accesses.n; j++)
			if (same_place(&a->accesses.items[i], &b->accesses.items[j]))
				return true;
	return false;
}

/* ---- the order ---- */

/* A group of which the others were only ever seen on one side. */
static bool is_sided(const struct proposal *proposal)
{
	return proposal->claim.kind == CLAIM_ATOMIC &&
	       (proposal->sides == CLAIM_BEFORE || proposal->sides == CLAIM_AFTER);
}

static bool is_group(const struct proposal *proposal)
{
	return !claim_is_order(&proposal->claim) && !is_sided(proposal);
}

/* A group at one location. */
static bool is_single(const struct proposal *proposal)
{
	return proposal->claim.kind == CLAIM_ATOMIC && claim_parts_meet(&proposal->parts);
}

static uint32_t reach_of(const struct proposal *proposal)
{
	uint32_t reach = 0;

	for (uint32_t i = 0; i < proposal->claim.nroles; i++)
		reach += proposal->claim.roles[i].reach;
	return reach;
}

/* Did no run fail with it made one step, whole experiments and all, and could that be kept up? */
static bool mends_always(const struct proof *proof)
{
	return proof->verdict >= VERDICT_LIKELY && proof->any.runs && trials_are_kept(&proof->near) &&
	       trials_are_kept(&proof->any) && !trials_failed(&proof->near) && !trials_failed(&proof->any);
}

/* Is less enough: does a group within it mend the program as well, and has been shown as well? What had its whole
 * experiment is held against those alone that had theirs. */
static bool is_excessive(const struct evidence *evidence, const struct proposals *list, size_t at)
{
	const struct proposal *outer = &list->items[at];

	for (size_t i = 0; i < list->n && outer->proof.mended; i++) {
		const struct proof *proof = &list->items[i].proof;

		bool shown = mends_always(proof) && proof->verdict >= outer->proof.verdict;

		if (i != at && proof->mended && (shown || !outer->proof.any.runs) &&
		    group_is_within(evidence, &list->items[i], outer) &&
		    !group_is_within(evidence, outer, &list->items[i]) &&
		    !group_is_same_stretch(evidence, &list->items[i], outer))
			return true;
	}
	return false;
}

/* What is more than enough is not better for being proven. Nor is a group of which the others may come on one side
 * only: that it has to be one step was not shown, since an order forbids as much. */
static enum verdict standing(const struct proposal *proposal)
{
	enum verdict verdict = proposal->shown;
	bool unproven = proposal->excessive || is_sided(proposal);

	if (verdict == VERDICT_LIKELY && proposal->proof.harmless)
		return VERDICT_GUESS;
	return verdict == VERDICT_PROVEN && unproven ? VERDICT_LIKELY : verdict;
}

static int compare(const struct proposal *a, const struct proposal *b)
{
	if (a->proof.mended != b->proof.mended)
		return a->proof.mended ? -1 : 1;
	if (a->proof.clean != b->proof.clean)
		return a->proof.clean ? -1 : 1;
	if (claim_is_waiting(&a->claim) != claim_is_waiting(&b->claim))
		return claim_is_waiting(&a->claim) ? -1 : 1;
	if (standing(a) != standing(b))
		return standing(a) > standing(b) ? -1 : 1;
	/* What keeps out almost everything mends for little: unless it is proven others say more. */
	if (standing(a) < VERDICT_PROVEN && proposal_is_wide(a) != proposal_is_wide(b))
		return proposal_is_wide(a) ? 1 : -1;
	if (order_is_required(a) != order_is_required(b))
		return order_is_required(a) ? -1 : 1;
	if (is_group(a) != is_group(b))
		return is_group(a) ? -1 : 1;
	/* A group that always comes first, or always last, is an order told in a long way. */
	if (claim_is_order(&a->claim) != claim_is_order(&b->claim))
		return claim_is_order(&a->claim) ? -1 : 1;
	if (mends_always(&a->proof) != mends_always(&b->proof))
		return mends_always(&a->proof) ? -1 : 1;
	if (a->excessive != b->excessive)
		return a->excessive ? 1 : -1;
	/* Seen on both sides of the others without a failure: then to be one step is what matters. */
	bool one_step = is_group(a) && a->sides == (CLAIM_BEFORE | CLAIM_AFTER);
	bool other_step = is_group(b) && b->sides == (CLAIM_BEFORE | CLAIM_AFTER);

	if (one_step != other_step)
		return one_step ? -1 : 1;
	/* Where one location is enough, several are not needed. */
	if (is_single(a) != is_single(b))
		return is_single(a) ? -1 : 1;
	if (a->stretch == b->stretch && a->tight != b->tight)
		return a->tight ? -1 : 1;
	if (proof_is_forced_better(&a->proof, &b->proof))
		return -1;
	if (proof_is_forced_better(&b->proof, &a->proof))
		return 1;
	if (a->last != b->last)
		return a->last < b->last ? -1 : 1;
	if (a->claim.nsteps != b->claim.nsteps)
		return a->claim.nsteps < b->claim.nsteps ? -1 : 1;
	uint32_t one = reach_of(a), other = reach_of(b);

	if (one != other)
		return one < other ? -1 : 1;
	if (a->claim.kind != b->claim.kind)
		return a->claim.kind < b->claim.kind ? -1 : 1;
	/* The same group with another access between: what has to be let go more often needs something else to come first. */
	const struct trials_counts *mine = &a->proof.forced, *others = &b->proof.forced;

	return mine->runs != others->runs || mine->given_up == others->given_up ? 0
	       : mine->given_up < others->given_up                              ? -1
										: 1;
}

/* Groups of one stretch forbid the same, so what was shown of one was shown of all that, forced, fail no less often. */
static void share_proofs(const struct evidence *evidence, struct proposals *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct proposal *one = &list->items[i];

		one->stretch = i;
		one->shown = one->proof.verdict;
		one->sides = proof_sides(&one->proof);
		for (size_t j = 0; j < i && one->stretch == i; j++)
			if (group_is_same_stretch(evidence, one, &list->items[j]))
				one->stretch = list->items[j].stretch;
	}
	for (size_t i = 0; i < list->n; i++)
		for (size_t j = 0; j < list->n; j++) {
			struct proposal *one = &list->items[i];
			const struct proposal *other = &list->items[j];

			if (i == j || one->stretch != other->stretch || !mends_always(&one->proof) ||
			    !mends_always(&other->proof) || !one->proof.forced.occurred ||
			    proof_is_forced_better(&other->proof, &one->proof))
				continue;
			one->sides |= proof_sides(&other->proof);
			if (other->proof.verdict > one->shown)
				one->shown = other->proof.verdict;
		}
}

/* By insertion: what 'clearly more often' orders is no strict order, and the list is short. */
void causes_sort(const struct evidence *evidence, struct proposals *proposals)
{
	share_proofs(evidence, proposals);
	for (size_t i = 0; i < proposals->n; i++)
		proposals->items[i].excessive = is_excessive(evidence, proposals, i);
	for (size_t i = 1; i < proposals->n; i++)
		for (size_t j = i; j > 0 && compare(&proposals->items[j], &proposals->items[j - 1]) < 0;
		     j--) {
			struct proposal swap = proposals->items[j];

			proposals->items[j] = proposals->items[j - 1];
			proposals->items[j - 1] = swap;
		}
}

/* ---- causes ---- */

/* Each proposal is told once: there is room for no more. */
static struct finding *finding_of(const struct evidence *evidence, struct proposal *proposal,
				  struct causes *out)
{
	struct finding *finding = (struct finding *)(uintptr_t)proposal->told;

	if (finding) {
		causes_name(&proposal->parts, finding);
		return finding;
	}
	finding = VEC_PUSH(&out->told);

	causes_tell(evidence, proposal, finding);
	proposal->told = finding;
	return finding;
}

static bool is_listed(const struct causes *causes, const struct finding *finding)
{
	for (size_t i = 0; i < causes->n; i++)
		if (causes->items[i].finding == finding || causes_same(causes->items[i].finding, finding))
			return true;
	return false;
}

static void add_tried(const struct evidence *evidence, struct proposal *proposal, struct causes *out)
{
	struct finding *finding = finding_of(evidence, proposal, out);

	if (is_listed(out, finding))
		return;
	*VEC_PUSH(out) = (struct cause){ .finding = finding,
					 .verdict = standing(proposal),
					 .tried = true,
					 .consequence = !proposal->proof.mended && !proposal->proof.clean,
					 .claim = proposal->claim,
					 .proof = proposal->proof,
					 .claimed = proposal->methods };
}

/* Threads that wait for each other, or for a signal that came before, are the failure itself; so is the use of a
 * block that is none any more, but what let it happen comes before it. */
static bool is_fact(const struct finding *finding, bool memory)
{
	return finding->score >= 1 &&
	       (memory ? finding->class == FINDING_MEMORY
		       : finding->class == FINDING_DEADLOCK || finding->class == FINDING_LOST_WAKEUP);
}

static struct proposal *proposal_of(const struct proposals *proposals, const struct finding *finding)
{
	for (size_t i = 0; i < proposals->n; i++)
		if (proposals->items[i].told == finding)
			return &proposals->items[i];
	return NULL;
}

/* Is it proven of some threads how they came to wait? */
static bool is_waiting_proven(const struct proposals *proposals)
{
	for (size_t i = 0; i < proposals->n; i++)
		if (claim_is_waiting(&proposals->items[i].claim) &&
		    standing(&proposals->items[i]) == VERDICT_PROVEN)
			return true;
	return false;
}

/* A signal that came before, where keeping it was tried and does not end the failures. */
static bool is_doubted(const struct finding *finding, const struct proposal *proposal)
{
	return finding->class == FINDING_LOST_WAKEUP && proposal && proposal->proof.tried &&
	       proposal->proof.verdict == VERDICT_GUESS;
}

/* A signal that, kept, does not help, or after which it hangs in another way, was not what it lacked; nor, where it
 * helps in part, when it was proven how others came to wait. */
static bool is_refuted(const struct proposals *proposals, const struct finding *finding,
		       const struct proposal *proposal)
{
	return is_doubted(finding, proposal) &&
	       (!proposal->proof.clean || proposal->proof.any.runs || is_waiting_proven(proposals));
}

/* Which of the facts: about heap blocks or how threads wait; and those that an experiment left in doubt, which come
 * last, or all others. */
struct facts {
	bool memory, doubted;
};

/* What was seen needs no experiment to be likely; `always`: it is seen in every schedule, so that nothing else is
 * needed for it. */
static void add_facts(const struct evidence *evidence, struct opinions *opinions,
		      const struct proposals *proposals, struct facts which, bool always, struct causes *out)
{
	for (size_t i = 0; i < opinions->n && i < OPINIONS_MOST; i++)
		for (size_t j = 0; j < opinions->items[i].findings.n; j++) {
			struct finding *finding = &opinions->items[i].findings.items[j];
			struct proposal *proposal = proposal_of(proposals, finding);

			if (!is_fact(finding, which.memory) || is_listed(out, finding) ||
			    is_doubted(finding, proposal) != which.doubted ||
			    is_refuted(proposals, finding, proposal))
				continue;
			if (proposal && proposal->proof.verdict > VERDICT_GUESS)
				add_tried(evidence, proposal, out);
			else
				*VEC_PUSH(out) =
					(struct cause){ .finding = finding,
							.verdict = always ? VERDICT_PROVEN : VERDICT_LIKELY,
							.seen = true,
							.claimed = 1u << i };
		}
}

/* Findings of opinions that no experiment speaks for, by what became of them. Absent: the failing run that was followed
 * again fails without them. Fixed: the program itself brings the accesses of an order about so, by making or joining
 * threads; that cannot be turned round, and is no fault. */
enum claimed { CLAIMED_UNTRIED, CLAIMED_ABSENT, CLAIMED_TRIED, CLAIMED_FIXED };

static bool is_absent(const struct evidence *evidence, const struct claim_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->items[i].site->kind == SITE_SYNC || parts->items[i].missing ||
		    parts->items[i].at != CLAIM_NOT_TRACED)
			return false;
	return !evidence->run->dropped;
}

static enum claimed claimed_as(const struct evidence *evidence, const struct proposal *proposal,
			       const struct finding *finding)
{
	struct claim_parts parts;

	if (proposal && proposal->proof.tried)
		return CLAIMED_TRIED;
	if (!evidence->run || !claim_parts_of_finding(evidence->run, evidence->atlas, finding, &parts))
		return CLAIMED_UNTRIED;
	if (is_absent(evidence, &parts))
		return CLAIMED_ABSENT;
	return finding->class == FINDING_ORDER && parts.n == 2 && parts.items[0].at != CLAIM_NOT_TRACED &&
			       parts.items[1].at != CLAIM_NOT_TRACED &&
			       claim_is_ordered(evidence->run, parts.items[0].at, parts.items[1].at)
		       ? CLAIMED_FIXED
		       : CLAIMED_UNTRIED;
}

static void add_claimed(const struct evidence *evidence, struct opinions *opinions,
			const struct proposals *proposals, enum claimed wanted, struct causes *out)
{
	for (size_t i = 0; i < opinions->n && i < OPINIONS_MOST; i++)
		for (size_t j = 0; j < opinions->items[i].findings.n; j++) {
			struct finding *finding = &opinions->items[i].findings.items[j];
			struct proposal *proposal = proposal_of(proposals, finding);

			if (claimed_as(evidence, proposal, finding) != wanted)
				continue;
			if (wanted == CLAIMED_TRIED)
				add_tried(evidence, proposal, out);
			else if (!is_listed(out, finding))
				*VEC_PUSH(out) = (struct cause){ .finding = finding,
								 .verdict = VERDICT_GUESS,
								 .claimed = 1u << i };
		}
}

void causes_order(const struct evidence *evidence, struct opinions *opinions, struct proposals *proposals,
		  bool always, struct causes *out)
{
	/* Pointers to what is told must last. */
	out->told.items = memory_alloc((proposals->n + 1) * sizeof *out->told.items);
	out->told.room = proposals->n + 1;
	causes_sort(evidence, proposals);
	add_facts(evidence, opinions, proposals, (struct facts){ 0 }, always, out);
	add_facts(evidence, opinions, proposals, (struct facts){ .doubted = true }, always, out);
	for (size_t i = 0; i < proposals->n; i++)
		if (proposals->items[i].proof.verdict > VERDICT_GUESS)
			add_tried(evidence, &proposals->items[i], out);
	add_facts(evidence, opinions, proposals, (struct facts){ .memory = true }, always, out);
	/* What the quick test speaks for comes before what was not tried, and that before what fails all the same. */
	for (size_t i = 0; i < proposals->n; i++)
		if (proposals->items[i].proof.mended || proposals->items[i].proof.clean)
			add_tried(evidence, &proposals->items[i], out);
	add_claimed(evidence, opinions, proposals, CLAIMED_UNTRIED, out);
	add_claimed(evidence, opinions, proposals, CLAIMED_ABSENT, out);
	add_claimed(evidence, opinions, proposals, CLAIMED_TRIED, out);
	add_claimed(evidence, opinions, proposals, CLAIMED_FIXED, out);
}
