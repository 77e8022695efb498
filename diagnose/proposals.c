/* The list of proposals.
 */
#include "diagnose/proposals.h"

size_t proposals_add(struct proposals *list, const struct evidence *evidence, enum claim_kind kind,
		     const struct claim_parts *parts)
{
	struct claim claim;
	size_t last = 0;

	if (!claim_build(evidence->run, evidence->atlas, kind, parts, &claim))
		return SIZE_MAX;
	if (kind != CLAIM_ATOMIC && claim_is_mutual(evidence->run, evidence->atlas, &claim))
		return SIZE_MAX;
	for (size_t i = 0; i < evidence->npassed && kind != CLAIM_ATOMIC; i++)
		if (evidence->passed[i].story.traced &&
		    claim_is_mutual(evidence->passed[i].story.traced, evidence->atlas, &claim))
			return SIZE_MAX;
	if (kind == CLAIM_ATOMIC)
		claim_find_exits(evidence, &claim);
	for (size_t i = 0; i < list->n; i++)
		if (claim_is_same(&list->items[i].claim, &claim))
			return i;
	for (size_t i = 0; i < parts->n; i++) {
		size_t at =
			parts->items[i].at == CLAIM_NOT_TRACED ? evidence->run->nevents : parts->items[i].at;

		last = at > last ? at : last;
	}
	*VEC_PUSH(list) = (struct proposal){ .claim = claim, .parts = *parts, .last = last };
	return list->n - 1;
}
