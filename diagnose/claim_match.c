/* The accesses of a finding, found again in a traced run. Only events at the places of the
 * finding are walked; in a loop that computes they are still many, so the search has limits.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "diagnose/claim_build.h"

#define LOOKS_EACH 100000u /* candidates that are looked at for the steps behind a first one, */
#define LOOKS_ALL 4000000u /* and in all */

static bool is_place_of(const struct site *site, const struct finding_access *access)
{
	if (!site || site->line != access->line || (access->column && site->column != access->column) ||
	    strcmp(site->file, access->file))
		return false;
	if (access->role || access->kind == SITE_SYNC)
		return site->kind == SITE_SYNC;
	return site->kind == access->kind || (site->kind == SITE_UPDATE && access->kind != SITE_SYNC);
}

static const struct site *find_site(const struct atlas *atlas, const struct finding_access *access)
{
	for (size_t i = 0; i < atlas->nunits; i++)
		for (uint32_t j = 0; j < atlas->units[i].nsites; j++)
			if (is_place_of(&atlas->units[i].sites[j], access))
				return &atlas->units[i].sites[j];
	return NULL;
}

/* An event at a place of the finding. */
struct candidate {
	size_t event;
	unsigned steps; /* whose it could be, as bits */
};

struct matching {
	const struct observations *run;
	const struct atlas *atlas;
	const struct finding *finding;
	struct claim_parts *parts;
	bool one;                     /* all at one place in memory */
	VEC(struct candidate) events; /* in their order */
	size_t looks, looks_all;      /* that may still be taken */
};

static bool is_untraced(const struct claim_part *part)
{
	return part->site->kind == SITE_SYNC || part->missing;
}

static void gather_candidates(struct matching *matching)
{
	const struct atlas *atlas = matching->atlas;
	const struct observations *run = matching->run;
	_cleanup_free_ unsigned *steps = memory_alloc((atlas->nnumbered + 1) * sizeof *steps);

	for (size_t i = 0; i < atlas->nnumbered; i++)
		for (size_t j = 0; j < matching->parts->n; j++)
			if (is_place_of(atlas->numbered[i], &matching->finding->accesses.items[j]))
				steps[i] |= 1u << j;
	for (size_t i = 0; i < run->nevents; i++) {
		uint32_t site = run->events[i].site;

		if (site < atlas->nnumbered && steps[site])
			*VEC_PUSH(&matching->events) = (struct candidate){ i, steps[site] };
	}
}

static bool fits_step(const struct matching *matching, size_t step, const struct candidate *candidate)
{
	const struct finding_access *access = &matching->finding->accesses.items[step];
	const struct event *at = &matching->run->events[candidate->event];

	if (!(candidate->steps & 1u << step))
		return false;
	/* The same faults come in other threads, but one thread stays one. */
	for (size_t i = 0; i < step; i++)
		if (matching->parts->items[i].at != CLAIM_NOT_TRACED &&
		    (matching->finding->accesses.items[i].thread == access->thread) !=
			    (matching->parts->items[i].thread == at->thread))
			return false;
	for (size_t i = 0; i < step; i++) {
		const struct claim_part *part = &matching->parts->items[i];
		const char *name = part->site->variable;

		if (!matching->one && (!*name || strcmp(name, access->variable)))
			continue;
		if (part->size &&
		    !(part->address < at->address + at->size && at->address < part->address + part->size))
			return false;
	}
	return true;
}

static void take_step(struct matching *matching, size_t step, const struct candidate *candidate)
{
	matching->parts->items[step] = claim_part_of(matching->run, matching->atlas, candidate->event);
}

static void leave_step(struct matching *matching, size_t step)
{
	struct claim_part *part = &matching->parts->items[step];

	part->size = 0;
	part->at = CLAIM_NOT_TRACED;
	part->thread = matching->finding->accesses.items[step].thread;
}

/* Steps from `step` on, from candidate `from` on. Calls are in no trace, nor is what never happened. */
static bool match_steps(struct matching *matching, size_t step, size_t from)
{
	if (step == matching->parts->n)
		return true;
	if (is_untraced(&matching->parts->items[step]))
		return match_steps(matching, step + 1, from);
	for (size_t i = from; i < matching->events.n && matching->looks; i++) {
		matching->looks--;
		if (!fits_step(matching, step, &matching->events.items[i]))
			continue;
		take_step(matching, step, &matching->events.items[i]);
		if (match_steps(matching, step + 1, i + 1))
			return true;
		leave_step(matching, step);
	}
	return false;
}

/* The last time that the accesses came in this order. */
static bool match_last(struct matching *matching)
{
	size_t first = 0;

	while (first < matching->parts->n && is_untraced(&matching->parts->items[first]))
		first++;
	for (size_t i = matching->events.n; i-- > 0 && first < matching->parts->n && matching->looks_all;) {
		size_t looks = matching->looks_all < LOOKS_EACH ? matching->looks_all : LOOKS_EACH;

		if (!fits_step(matching, first, &matching->events.items[i]))
			continue;
		matching->looks = looks;
		take_step(matching, first, &matching->events.items[i]);
		if (match_steps(matching, first + 1, i + 1))
			return true;
		leave_step(matching, first);
		matching->looks_all -= looks - matching->looks;
	}
	return false;
}

/* "srv.board.in_use" and "board.in_use": one member, by its variable and by its type or a part of the way. */
static bool same_variable(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	const char *longer = n > m ? a : b, *shorter = n > m ? b : a;
	size_t more = n > m ? n - m : m - n;

	return *shorter && !strcmp(longer + more, shorter) &&
	       (!more || (longer[more - 1] == '.' && strchr(shorter, '.')));
}

/* What is called alike is one place in memory, for whoever meets there. */
static void set_addresses(const struct matching *matching)
{
	struct claim_parts *parts = matching->parts;

	for (size_t i = 0; i < parts->n; i++) {
		struct claim_part *part = &parts->items[i];
		size_t like = i;

		if (part->site->kind == SITE_SYNC || part->size)
			continue;
		for (size_t j = 0; j < parts->n; j++)
			if (j != i && parts->items[j].size &&
			    (matching->one ||
			     same_variable(part->site->variable, parts->items[j].site->variable)))
				like = j;
		part->address = like == i ? 16 * (i + 1) : parts->items[like].address;
		part->size = like == i ? matching->one || *part->site->variable : parts->items[like].size;
	}
}

/* The accesses as the finding has them, in none of the run's places yet. False when one of them has no site. */
static bool list_parts(const struct atlas *atlas, const struct finding *finding, struct claim_parts *out)
{
	*out = (struct claim_parts){ 0 };
	for (size_t i = 0; i < finding->accesses.n; i++) {
		const struct finding_access *access = &finding->accesses.items[i];
		struct claim_part *part = &out->items[out->n++];

		*part = (struct claim_part){ .site = find_site(atlas, access),
					     .thread = access->thread,
					     .write = access->kind == SITE_WRITE,
					     .missing = access->missing,
					     .at = CLAIM_NOT_TRACED };
		if (!part->site || access->thread == FINDING_NO_THREAD)
			return false;
	}
	return true;
}

/* A couple's two accesses in the middle, if they are one thread's. */
static bool is_couple(const struct finding *finding)
{
	const struct finding_access *accesses = finding->accesses.items;

	return finding->class == FINDING_MULTI_ATOMICITY && finding->accesses.n == 4 &&
	       accesses[1].thread == accesses[2].thread && accesses[0].thread == accesses[3].thread;
}

static bool match(const struct observations *run, const struct atlas *atlas, const struct finding *finding,
		  struct claim_parts *out)
{
	struct matching matching = { .run = run,
				     .atlas = atlas,
				     .finding = finding,
				     .parts = out,
				     .one = finding->class == FINDING_ATOMICITY ||
					    finding->class == FINDING_ORDER,
				     .looks_all = LOOKS_ALL };

	gather_candidates(&matching);
	bool matched = match_last(&matching);

	VEC_FREE(&matching.events);
	set_addresses(&matching);
	return matched;
}

/* The same with the two accesses in the middle the other way round. */
static bool match_turned(const struct observations *run, const struct atlas *atlas,
			 const struct finding *finding, struct claim_parts *out)
{
	struct finding_access accesses[4];
	struct finding turned = *finding;

	memcpy(accesses, finding->accesses.items, sizeof accesses);
	accesses[1] = finding->accesses.items[2];
	accesses[2] = finding->accesses.items[1];
	turned.accesses.items = accesses;
	bool matched = list_parts(atlas, &turned, out) && match(run, atlas, &turned, out);

	out->turned = true;
	return matched;
}

static size_t between(const struct claim_parts *parts)
{
	return parts->items[2].at - parts->items[1].at;
}

bool claim_parts_of_finding(const struct observations *run, const struct atlas *atlas,
			    const struct finding *finding, struct claim_parts *out)
{
	struct claim_parts turned;

	*out = (struct claim_parts){ 0 };
	if (finding->accesses.n < 2 || finding->accesses.n > CLAIM_STEPS || !list_parts(atlas, finding, out))
		return false;
	bool matched = match(run, atlas, finding, out);

	/* Where the run has both, what the thread does in one go is nearer together. */
	if (is_couple(finding) && match_turned(run, atlas, finding, &turned) &&
	    (!matched || between(&turned) < between(out)))
		*out = turned;
	return true;
}
