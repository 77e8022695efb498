/* The switches that the failure needs, as a method: what they point at (switches.c).
 * Compares no runs: good for company, when there is nothing to compare with, and when
 * passing runs show the same accesses in the same order.
 */
#include "diagnose/diagnosis.h"

#define HALF_FAR 16.0 /* accesses away from the switch at which a claim counts half */

static void tell(const struct diagnosis *diagnosis, const struct hint *claim, struct opinion *opinion)
{
	struct finding *finding = VEC_PUSH(&opinion->findings);

	finding->rank = (unsigned)opinion->findings.n;
	finding->class = claim->class;
	finding->scenario = claim->scenario;
	finding->method = memory_string(opinion->method);
	finding->score = HALF_FAR / (HALF_FAR + (double)claim->cost) - 0.001 * (double)opinion->findings.n;
	finding->run = diagnosis->tally.failure.number;
	finding->runs.failed = 1;
	for (size_t i = 0; i < claim->n; i++) {
		const struct hint_step *step = &claim->steps[i];
		struct finding_access *access =
			finding_add_access(&finding->accesses, FINDING_NO_SITE,
					   atlas_find((void *)(uintptr_t)diagnosis->trace.atlas, step->site));

		access->thread = step->thread;
		access->kind = step->write ? SITE_WRITE : SITE_READ;
		access->missing = step->missing;
		finding_add_variable(finding, access->variable);
	}
	diagnosis_tell(finding, TOLD_NEAR_SWITCH, 0, 0);
}

static struct error *ask_switches(struct diagnosis *diagnosis, struct opinion *opinion)
{
	for (size_t i = 0; i < diagnosis->claims.n; i++)
		tell(diagnosis, &diagnosis->claims.items[i], opinion);
	return NULL;
}

const struct method method_switches = {
	.head = { .method = "switches" },
	.ask = ask_switches,
};
