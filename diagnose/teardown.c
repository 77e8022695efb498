/* What was torn down too early. A heap block is used after it was freed, but often more
 * than that block was freed while a thread still needed it: a structure goes piece by
 * piece, and to keep one piece is not enough. All that others freed while the thread did
 * not run, and that it used afterwards or would have, waits until the others are done.
 */
#include "diagnose/locations.h"
#include "diagnose/proposals.h"
#include "diagnose/switches.h"

#define WINDOW 2000u /* accesses of the stopped thread that are looked at */
#define EARLY_MOST CLAIM_SITES

struct early {
	size_t event;           /* of the others, during the switch */
	struct claim_part late; /* that it should have waited for */
};

struct teardown {
	const struct evidence *evidence;
	struct lab *lab;
	struct gap gap;
	struct early early[EARLY_MOST]; /* each place once */
	size_t n;
	struct claim claim;
};

static bool is_known(const struct teardown *teardown, size_t event)
{
	const struct event *events = teardown->evidence->run->events;

	for (size_t i = 0; i < teardown->n; i++)
		if (events[teardown->early[i].event].site == events[event].site)
			return true;
	return false;
}

static bool frees(const struct evidence *evidence, size_t event)
{
	const struct site *site = atlas_number(evidence->atlas, evidence->run->events[event].site);

	return site && site_frees(site);
}

/* All that others freed while the thread did not run and that this access of the thread uses. */
static void add_late(struct teardown *teardown, const struct claim_part *late)
{
	const struct evidence *evidence = teardown->evidence;
	const struct event event = { .address = late->address, .size = late->size, .write = late->write };
	size_t at = teardown->gap.from;

	while (teardown->n < EARLY_MOST && late->site) {
		at = locations_find(evidence->locations, evidence->run, &event, at, teardown->gap.to, false);
		if (at == SIZE_MAX)
			return;
		bool fixed = late->at != CLAIM_NOT_TRACED && claim_is_ordered(evidence->run, at, late->at);

		if (!fixed && frees(evidence, at) && !is_known(teardown, at))
			teardown->early[teardown->n++] = (struct early){ at, *late };
		at++;
	}
}

static void find_done(struct teardown *teardown)
{
	const struct observations *run = teardown->evidence->run;

	for (size_t i = teardown->gap.to, own = 0; i < run->nevents && own < WINDOW; i++) {
		const struct claim_part part = claim_part_of(run, teardown->evidence->atlas, i);

		if (run->events[i].thread != teardown->gap.thread)
			continue;
		own++;
		add_late(teardown, &part);
	}
}

/* What the thread does from there on in a passing run; a lock is used by whoever takes it or gives it back. */
static void find_awaited(struct teardown *teardown, const struct observations *passed)
{
	const struct evidence *evidence = teardown->evidence;
	size_t own = 0, call = 0;

	for (size_t i = 0; i <= passed->nevents && own < teardown->gap.own + WINDOW; i++) {
		for (; call < passed->ncalls && passed->calls[call].before <= i; call++) {
			const struct call *at = &passed->calls[call];
			const struct claim_part part = { .site = atlas_number(evidence->atlas, at->site),
							 .thread = at->thread,
							 .address = at->object,
							 .size = 1,
							 .missing = true,
							 .at = CLAIM_NOT_TRACED };

			if (at->thread == teardown->gap.thread && own >= teardown->gap.own &&
			    (at->kind == CALL_ACQUIRE || at->kind == CALL_RELEASE))
				add_late(teardown, &part);
		}
		if (i == passed->nevents || passed->events[i].thread != teardown->gap.thread)
			continue;
		if (own++ < teardown->gap.own)
			continue;
		struct claim_part part = claim_part_of(passed, evidence->atlas, i);

		part.at = CLAIM_NOT_TRACED;
		part.missing = true;
		add_late(teardown, &part);
	}
}

/* ---- the claim ---- */

/* What is told of it: a conflict that was seen rather than one that would have come, the first of those. */
static size_t first_of(const struct teardown *teardown)
{
	size_t first = 0;

	for (size_t i = 1; i < teardown->n; i++) {
		const struct early *a = &teardown->early[i], *b = &teardown->early[first];

		if (a->late.missing != b->late.missing ? b->late.missing : a->event < b->event)
			first = i;
	}
	return first;
}

static struct claim_parts parts_of(const struct teardown *teardown)
{
	const struct evidence *evidence = teardown->evidence;
	const struct early *first = &teardown->early[first_of(teardown)];

	return (struct claim_parts){
		.items = { claim_part_of(evidence->run, evidence->atlas, first->event), first->late }, .n = 2
	};
}

static bool make_claim(struct teardown *teardown)
{
	const struct evidence *evidence = teardown->evidence;
	const struct claim_parts parts = parts_of(teardown);
	struct claim_step *early = &teardown->claim.steps[0], *late = &teardown->claim.steps[1];

	if (!claim_build(evidence->run, evidence->atlas, CLAIM_ORDER_LAST, &parts, &teardown->claim))
		return false;
	for (size_t i = 0; i < teardown->n; i++) {
		const struct site *one =
			atlas_number(evidence->atlas, evidence->run->events[teardown->early[i].event].site);
		const struct site *other = teardown->early[i].late.site;

		if (one && early->nsites < CLAIM_SITES && !claim_has_site(early, one->id))
			early->sites[early->nsites++] = one->id;
		if (other && late->nsites < CLAIM_SITES && !claim_has_site(late, other->id))
			late->sites[late->nsites++] = other->id;
	}
	if (teardown->n > 1)
		early->location = late->location = CLAIM_ANYWHERE;
	return true;
}

static struct error *mends(struct teardown *teardown, bool *yes)
{
	struct proof proof = { 0 };

	*yes = false;
	if (!teardown->n || !make_claim(teardown))
		return NULL;
	TRY(lab_try(teardown->lab, &teardown->claim, &proof));
	*yes = proof.mended;
	return NULL;
}

static void find_early(struct teardown *teardown)
{
	const struct evidence *evidence = teardown->evidence;

	find_done(teardown);
	for (size_t i = 0; i < evidence->npassed; i++)
		if (evidence->passed[i].story.traced)
			find_awaited(teardown, evidence->passed[i].story.traced);
}

/* The last time that the thread which failed had not run while others did. */
static bool find_gap(struct teardown *teardown)
{
	const struct evidence *evidence = teardown->evidence;
	const struct observations *run = evidence->run;
	const struct schedule *schedule = evidence->schedule;

	for (size_t i = schedule->nturns; run->nevents && i-- > 0;)
		if (schedule->turns[i].thread == run->events[run->nevents - 1].thread &&
		    switches_gap(run, schedule, i, &teardown->gap) && teardown->gap.from < teardown->gap.to)
			return true;
	return false;
}

struct error *virtual_teardown(const struct evidence *evidence, struct lab *lab, struct proposals *list)
{
	_cleanup_free_ struct teardown *teardown = memory_alloc(sizeof *teardown);
	bool yes = false;

	*teardown = (struct teardown){ .evidence = evidence, .lab = lab };
	if (!find_gap(teardown))
		return NULL;
	find_early(teardown);
	if (teardown->n < 2) /* one alone is a claim of the run itself */
		return NULL;
	TRY(mends(teardown, &yes));
	const struct claim_parts parts = parts_of(teardown);

	if (yes)
		proposals_add_claim(list, evidence, &teardown->claim, &parts);
	return NULL;
}
