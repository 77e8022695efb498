/* One variable, updated at several places: a counter that one function raises and another
 * lowers. Made one step, a single one of these updates does not mend the program, since the
 * others go on losing what is written meanwhile. So all of them are: whoever reads the
 * variable to write it again keeps others out until then. Which places these are is seen
 * in the traced runs, by the name of the variable, or by its address where it has none.
 */
#include <string.h>

#include "base/hash.h"
#include "diagnose/proposals.h"

#define MERGED_MOST 8u /* variables that are tried */

/* The last access of each thread to each address, while a run is walked. */
struct updates {
	const struct atlas *atlas;
	const struct claim_part *like;
	struct claim_step *reads, *writes;
};

static void add_site(struct claim_step *step, uint64_t id)
{
	if (!claim_has_site(step, id) && step->nsites < CLAIM_SITES)
		step->sites[step->nsites++] = id;
}

static bool is_alike(const struct site *site, const struct event *event, const struct claim_part *like)
{
	return *like->site->variable ? !strcmp(site->variable, like->site->variable)
				     : event->address < like->address + like->size &&
					       like->address < event->address + event->size;
}

static void walk(const struct updates *updates, const struct observations *run)
{
	struct map last = { 0 }; /* address and thread: event and one, of a read; 0 of a write */

	for (size_t i = 0; run && i < run->nevents; i++) {
		const struct event *event = &run->events[i];
		const struct site *site = atlas_number(updates->atlas, event->site);

		if (!site || !is_alike(site, event, updates->like))
			continue;
		uint64_t *before = map_put(&last, event->address ^ (uint64_t)(event->thread + 1) << 48, NULL);

		if (event->write && *before)
			add_site(updates->reads,
				 atlas_number(updates->atlas, run->events[*before - 1].site)->id);
		if (event->write)
			add_site(updates->writes, site->id);
		*before = event->write ? 0 : i + 1;
	}
	map_free(&last);
}

/* Read, written by another, written: with all places at which the variable is updated. */
static bool merge(const struct evidence *evidence, const struct proposal *proposal, struct claim *out)
{
	const struct claim_part *parts = proposal->parts.items;

	if (proposal->claim.kind != CLAIM_ATOMIC || proposal->parts.n != 3 || parts[0].write ||
	    !parts[1].write || !parts[2].write || parts[0].thread != parts[2].thread ||
	    strcmp(parts[0].site->variable, parts[2].site->variable))
		return false;
	*out = proposal->claim;
	struct updates updates = { evidence->atlas, &parts[0], &out->steps[0], &out->steps[2] };

	walk(&updates, evidence->run);
	for (size_t i = 0; i < evidence->npassed; i++)
		walk(&updates, evidence->passed[i].story.traced);
	out->steps[1] = out->steps[2];
	out->steps[1].role = 1;
	out->roles[0].nexits = 0; /* they are those of one place */
	return out->steps[0].nsites > proposal->claim.steps[0].nsites;
}

void propose_merged(const struct evidence *evidence, struct proposals *list)
{
	size_t n = list->n;

	for (size_t i = 0, tried = 0; i < n && tried < MERGED_MOST; i++) {
		const struct proposal proposal = list->items[i];
		struct claim claim;

		if (!proposal.proof.tried || proposal.proof.mended || !merge(evidence, &proposal, &claim))
			continue;
		size_t at = proposals_add_claim(list, evidence, &claim, &proposal.parts);

		list->items[at].methods |= at >= n ? proposal.methods : 0;
		tried++;
	}
}
