/* What each form changes is little; whether it was right to change it the quick test says. */
#include "diagnose/variants.h"

/* Where the last step is one of a loop the group may have to last until the loop is over: as long as the step comes
 * again within so many accesses, few first. */
static struct error *try_lingering(struct lab *lab, struct proposal *proposal)
{
	struct claim claim = proposal->claim;

	for (uint64_t left = proposal->gaps; left && !proposal->proof.mended && !lab_is_over(lab);
	     left &= left - 1) {
		struct proof proof;

		for (uint32_t i = 0; i < claim.nroles; i++)
			claim.roles[i].linger = 1u << __builtin_ctzll(left);
		TRY(lab_try(lab, &claim, &proof));
		if (!proof.mended)
			continue;
		proposal->claim = claim;
		proposal->proof = proof;
	}
	return NULL;
}

/* Groups that only read let each other in. Where the threads do the same, one of them may come to the others' step
 * inside its own group, with a lock that the other one needs for the rest of its: then it takes a group that is one at a
 * time. */
static struct error *try_exclusive(struct lab *lab, struct proposal *proposal)
{
	struct claim claim = proposal->claim;
	bool writes = false;
	struct proof proof;

	for (uint32_t i = 0; i < claim.nsteps; i++)
		if (claim.steps[i].role == 0) {
			writes |= claim.steps[i].write;
			claim.steps[i].write = 1;
		}
	if (claim.kind != CLAIM_ATOMIC || writes || !proposal->proof.along.given_up || lab_is_over(lab))
		return NULL;
	TRY(lab_try(lab, &claim, &proof));
	if (proof.mended) {
		proposal->claim = claim;
		proposal->proof = proof;
	}
	return NULL;
}

struct error *variants_try(struct lab *lab, struct proposal *proposal)
{
	TRY(lab_try(lab, &proposal->claim, &proposal->proof));
	if (!proposal->proof.mended)
		TRY(try_exclusive(lab, proposal));
	return proposal->proof.mended ? NULL : try_lingering(lab, proposal);
}

/* The order turned round: the late step waits until the early one is not done any more. */
static struct claim turned(const struct evidence *evidence, const struct proposal *proposal)
{
	const struct claim *claim = &proposal->claim;
	const struct claim_parts parts = { .items = { proposal->parts.items[1], proposal->parts.items[0] },
					   .n = 2 };
	struct claim other = { .kind = CLAIM_ORDER_LAST, .nsteps = 2, .nroles = 2 };

	other.steps[0] = claim->steps[1];
	other.steps[1] = claim->steps[0];
	other.steps[0].role = 0;
	other.steps[1].role = 1;
	claim_find_doors(evidence->run, evidence->atlas, &parts, &other);
	return other;
}

/* SUPPRESS, the check of atomicity and order. */
struct error *variants_try_turned(const struct evidence *evidence, struct lab *lab, struct proposal *proposal)
{
	struct claim other = turned(evidence, proposal);
	struct proof proof;

	proposal->proof.turned = true;
	TRY(lab_try(lab, &other, &proof));
	if (proof.mended && !proof.along.given_up)
		proposal->proof.mended = proposal->proof.clean = false;
	return NULL;
}
