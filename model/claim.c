/* What makes a claim sound. */
#include "model/claim.h"

bool claim_has_site(const struct claim_step *step, uint64_t id)
{
	for (uint32_t i = 0; i < step->nsites && i < CLAIM_SITES; i++)
		if (step->sites[i] == id)
			return true;
	return false;
}

static bool step_is_sound(const struct claim *claim, const struct claim_step *step)
{
	return step->nsites > 0 && step->nsites <= CLAIM_SITES && step->role < claim->nroles &&
	       step->location <= CLAIM_STEPS && step->write <= 1;
}

bool claim_is_sound(const struct claim *claim)
{
	bool taken[CLAIM_ROLES] = { false };

	if (claim->kind == CLAIM_NONE || claim->kind >= CLAIM_KINDS || claim->use >= CLAIM_USES ||
	    (claim->use > CLAIM_FORCE && claim->kind != CLAIM_ATOMIC) || claim->nsteps < 2 ||
	    claim->nsteps > CLAIM_STEPS || claim->nroles < (claim->kind == CLAIM_LOOK_AGAIN ? 1u : 2u) ||
	    claim->nroles > CLAIM_ROLES || claim->steps[0].role != 0 ||
	    (claim_is_order(claim) && (claim->nsteps != 2 || claim->nroles != 2)) ||
	    (claim->kind == CLAIM_LOOK_AGAIN && (claim->nsteps != 2 || claim->nroles != 1)) ||
	    ((claim->kind == CLAIM_MISSED || claim->kind == CLAIM_TAKEN) && claim->nroles != 2))
		return false;
	for (uint32_t i = 0; i < claim->nsteps; i++) {
		if (!step_is_sound(claim, &claim->steps[i]))
			return false;
		taken[claim->steps[i].role] = true;
	}
	for (uint32_t i = 0; i < claim->nroles; i++)
		if (!taken[i] || claim->roles[i].ndoors > CLAIM_DOORS || claim->roles[i].nexits > CLAIM_EXITS)
			return false;
	return true;
}
