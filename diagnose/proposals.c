/* The list of proposals.
 */
#include "diagnose/proposals.h"

bool proposal_is_wide(const struct proposal *proposal)
{
	bool wide = proposal->wide;

	for (uint32_t i = 0; i < proposal->claim.nroles; i++)
		wide |= proposal->claim.roles[i].many_locks;
	return wide;
}

size_t proposals_add_claim(struct proposals *list, const struct evidence *evidence, const struct claim *claim,
			   const struct claim_parts *parts)
{
	size_t last = 0;

	for (size_t i = 0; i < list->n; i++)
		if (claim_is_same(&list->items[i].claim, claim) &&
		    list->items[i].claim.steps[0].nsites >= claim->steps[0].nsites)
			return i;
	for (size_t i = 0; i < parts->n; i++) {
		size_t at =
			parts->items[i].at == CLAIM_NOT_TRACED ? evidence->run->nevents : parts->items[i].at;

		last = at > last ? at : last;
	}
	*VEC_PUSH(list) = (struct proposal){ .claim = *claim, .parts = *parts, .last = last };
	return list->n - 1;
}

/* Can the others only come after the group's first access, because their thread is made behind it? Then being one
 * step means no more than that they wait for its last access, and that is an order. */
static bool begins_before_all(const struct evidence *evidence, const struct claim_parts *parts)
{
	const struct claim_part *first = &parts->items[0];

	for (size_t i = 1; i < parts->n; i++)
		if (parts->items[i].thread != first->thread &&
		    (first->at == CLAIM_NOT_TRACED || parts->items[i].at == CLAIM_NOT_TRACED ||
		     first->at >= parts->items[i].at ||
		     !claim_is_ordered(evidence->run, first->at, parts->items[i].at)))
			return false;
	return true;
}

/* Is it an order that the program keeps by itself, in all runs that show it? Whatever it mends, it does by making the one
 * thread wait for all that the others do. */
static bool is_kept_anyway(const struct evidence *evidence, const struct claim *claim)
{
	if (claim_settled(evidence->run, evidence->atlas, claim) != CLAIM_SETTLED)
		return false;
	for (size_t i = 0; i < evidence->npassed; i++)
		if (evidence->passed[i].story.traced &&
		    claim_settled(evidence->passed[i].story.traced, evidence->atlas, claim) == CLAIM_OPEN)
			return false;
	return true;
}

size_t proposals_add(struct proposals *list, const struct evidence *evidence, enum claim_kind kind,
		     const struct claim_parts *parts)
{
	struct claim claim;

	if (!claim_build(evidence->run, evidence->atlas, kind, parts, &claim) ||
	    (kind == CLAIM_ATOMIC && begins_before_all(evidence, parts)))
		return SIZE_MAX;
	if (kind != CLAIM_ATOMIC &&
	    (claim_is_mutual(evidence->run, evidence->atlas, &claim) || is_kept_anyway(evidence, &claim)))
		return SIZE_MAX;
	for (size_t i = 0; i < evidence->npassed && kind != CLAIM_ATOMIC; i++)
		if (evidence->passed[i].story.traced &&
		    claim_is_mutual(evidence->passed[i].story.traced, evidence->atlas, &claim))
			return SIZE_MAX;
	claim_find_later_doors(evidence, parts, &claim);
	uint64_t gaps = kind == CLAIM_ATOMIC ? claim_find_exits(evidence, &claim) : 0;
	size_t at = proposals_add_claim(list, evidence, &claim, parts);

	list->items[at].gaps |= gaps;
	return at;
}
