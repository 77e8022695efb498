/* From claims to findings: the sites are looked up by their ids. */
#include "analysis/locon/forced.h"

#include <stdlib.h>

#define HALF_FAR 16.0 /* accesses away from the switch at which a claim counts half */

/* Whether the run can speak for `self`: it ended the same way. */
static const struct run *find(const struct run *runs, size_t n, uint64_t number)
{
	for (size_t i = 0; i < n; i++)
		if (runs[i].number == number)
			return &runs[i];
	return NULL;
}

static struct error *choose(struct store *store, uint64_t campaign, uint64_t *run, struct hints *out)
{
	_cleanup_free_ uint64_t *claimed = NULL;
	struct run *runs = NULL;
	size_t nclaimed = 0, nruns = 0;

	TRY(store_claims(store, *run, out));
	if (out->n)
		return NULL;
	TRY(store_claimed(store, campaign, &claimed, &nclaimed));
	if (!nclaimed)
		return NULL;
	TRY(store_runs(store, campaign, &runs, &nruns));
	const struct run *self = find(runs, nruns, *run);
	struct error *error = NULL;

	for (size_t i = 0; i < nclaimed && self && !out->n && !error; i++) {
		const struct run *other = find(runs, nruns, claimed[i]);

		if (!other || other->label != LABEL_FAIL || other->outcome != self->outcome ||
		    other->code != self->code)
			continue;
		error = store_claims(store, claimed[i], out);
		*run = claimed[i];
	}
	for (size_t i = 0; i < nruns; i++)
		run_free(&runs[i]);
	free(runs);
	return error;
}

static struct error *tell(struct store *store, uint64_t campaign, uint64_t run, const struct hint *claim,
			  struct locon_answer *out)
{
	struct finding *finding = VEC_PUSH(&out->findings);

	finding->rank = (unsigned)out->findings.n;
	finding->class = claim->class;
	finding->scenario = claim->scenario;
	finding->method = memory_string("switches");
	finding->score = HALF_FAR / (HALF_FAR + (double)claim->cost);
	finding->run = run;
	finding->runs.failed = 1;
	for (size_t i = 0; i < claim->n; i++) {
		const struct hint_step *step = &claim->steps[i];
		const struct site *site;

		TRY(store_site_by_id(store, campaign, step->site, &site));
		struct finding_access *access = finding_add_access(&finding->accesses, FINDING_NO_SITE, site);

		access->thread = step->thread;
		access->kind = step->write ? SITE_WRITE : SITE_READ;
		access->missing = step->missing;
		finding_add_variable(finding, access->variable);
	}
	*VEC_PUSH(&out->reasons) =
		(struct locon_reason){ .ground = claim->exact ? LOCON_SWITCH_EXACT : LOCON_SWITCH };
	finding_settle(finding);
	return NULL;
}

struct error *locon_forced(struct store *store, uint64_t campaign, uint64_t *run,
			   const struct locon_request *request, struct locon_answer *out)
{
	struct hints claims = { 0 };
	uint64_t chosen = *run;
	struct error *error = choose(store, campaign, &chosen, &claims);

	for (size_t i = 0; i < claims.n && !error && (!request->top || i < request->top); i++)
		if (claims.items[i].measured)
			error = tell(store, campaign, chosen, &claims.items[i], out);
	if (!error && out->findings.n) {
		*run = chosen;
		out->procedure = LOCON_SWITCHES;
		out->suspects = claims.n;
	}
	VEC_FREE(&claims);
	return error;
}
