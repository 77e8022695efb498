/* Claims of findings about threads that wait: for each other's locks, for a signal that
 * came before or woke another, or not again although they should have.
 */
#include <string.h>

#include "diagnose/proposals.h"

/* All that is read on the line of a test: it may look at several variables. */
static void collect_reads(const struct atlas *atlas, const struct site *test, struct claim_step *step)
{
	step->nsites = 0;
	step->sites[step->nsites++] = test->id;
	for (size_t i = 0; i < atlas->nunits; i++)
		for (uint32_t j = 0; j < atlas->units[i].nsites && step->nsites < CLAIM_SITES; j++) {
			const struct site *site = &atlas->units[i].sites[j];

			if (site->id != test->id && site->line == test->line &&
			    !strcmp(site->file, test->file) && site->kind == SITE_READ)
				step->sites[step->nsites++] = site->id;
		}
}

static bool is_call(const struct finding_access *access, const char *role)
{
	return access->role && !strcmp(access->role, role);
}

/* Forcing has to pass over earlier times: how often anybody had taken a first lock of that side by the last time
 * that its thread did. */
static uint32_t times_taken(const struct observations *run, const struct atlas *atlas,
			    const struct claim_step *step)
{
	uint32_t all = 0, last = 0;

	for (size_t i = 0; i < run->ncalls; i++) {
		const struct site *site = atlas_number(atlas, run->calls[i].site);

		if (run->calls[i].kind != CALL_ACQUIRE || !site || !claim_has_site(step, site->id))
			continue;
		all++;
		last = run->calls[i].thread == step->thread ? all : last;
	}
	return last;
}

static bool claims_circle(const struct evidence *evidence, const struct finding *finding,
			  const struct claim_parts *parts, struct claim *out)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (!is_call(&finding->accesses.items[i], "lock"))
			return false;
	if (!claim_build(evidence->run, evidence->atlas, CLAIM_LOCKS, parts, out))
		return false;
	claim_add_nested(evidence->run, evidence->atlas, out);
	for (size_t i = 0; i < evidence->npassed; i++)
		if (evidence->passed[i].story.traced)
			claim_add_nested(evidence->passed[i].story.traced, &evidence->passed[i].atlas, out);
	out->steps[0].occurrence = times_taken(evidence->run, evidence->atlas, &out->steps[0]);
	return true;
}

static bool claims_look_again(const struct atlas *atlas, const struct claim_parts *parts, struct claim *out)
{
	const struct claim_part *test = &parts->items[0], *wait = &parts->items[1];

	if (parts->n < 3 || test->site->kind != SITE_READ || test->thread != wait->thread)
		return false;
	*out = (struct claim){ .kind = CLAIM_LOOK_AGAIN, .nsteps = 2, .nroles = 1 };
	collect_reads(atlas, test->site, &out->steps[0]);
	out->steps[1].nsites = claim_collect_sites(atlas, wait->site, out->steps[1].sites, CLAIM_SITES);
	out->steps[0].thread = out->steps[1].thread = wait->thread;
	out->steps[1].write = 1;
	return claim_is_sound(out);
}

/* The look, if it is known, the signal, the wait. */
static bool claims_missed(const struct observations *run, const struct atlas *atlas,
			  const struct claim_parts *parts, struct claim *out)
{
	struct claim_parts chosen = { 0 };

	for (size_t i = 0; i < parts->n; i++)
		if (i == 0 || i + 2 >= parts->n)
			chosen.items[chosen.n++] = parts->items[i];
	if (!claim_build(run, atlas, CLAIM_MISSED, &chosen, out))
		return false;
	if (chosen.n == 3)
		collect_reads(atlas, chosen.items[0].site, &out->steps[0]);
	return true;
}

/* The signals, who was woken, the wait. */
static bool claims_taken(const struct atlas *atlas, const struct claim_parts *parts, struct claim *out)
{
	*out = (struct claim){ .kind = CLAIM_TAKEN, .nroles = 2 };
	for (size_t i = 0; i < parts->n; i++) {
		const struct claim_part *part = &parts->items[i];
		bool last = i + 1 == parts->n;

		if (i + 2 == parts->n)
			continue;
		out->steps[out->nsteps++] =
			(struct claim_step){ .role = last, .thread = part->thread, .write = 1 };
		struct claim_step *step = &out->steps[out->nsteps - 1];

		step->nsites = claim_collect_sites(atlas, part->site, step->sites, CLAIM_SITES);
	}
	return claim_is_sound(out);
}

bool claim_of_waits(const struct evidence *evidence, const struct finding *finding,
		    const struct claim_parts *parts, struct claim *out)
{
	const struct finding_access *accesses = finding->accesses.items;
	size_t n = finding->accesses.n;

	if (finding->class == FINDING_DEADLOCK)
		return claims_circle(evidence, finding, parts, out);
	if (finding_taken_signal(finding))
		return claims_taken(evidence->atlas, parts, out);
	if (finding->class == FINDING_LOST_WAKEUP)
		return n >= 2 && is_call(&accesses[n - 2], "signal") && is_call(&accesses[n - 1], "wait") &&
		       claims_missed(evidence->run, evidence->atlas, parts, out);
	return n > 1 && is_call(&accesses[1], "wait") && claims_look_again(evidence->atlas, parts, out);
}
