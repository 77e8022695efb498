/* The smallest virtual fix. A switch that the shortest failing schedule needs stops a
 * thread between two of its accesses. The largest group around it, from far before to far
 * behind, is made one step against all that the others did meanwhile. If that mends the
 * program, the group is made smaller from both ends, and the others' part too, as long as
 * it still does (delta debugging): what is left is the fault.
 */
#include <string.h>

#include "diagnose/locations.h"
#include "diagnose/proposals.h"
#include "diagnose/switches.h"

#define GAPS_MOST 4u /* switches that are looked at, the last ones first */
#define SMALL 6u     /* accesses before and after a switch, together, in groups that are tried first */
#define OWN_MOST 16u /* accesses on either side of a switch */
#define WINDOW 2000u /* accesses of the thread in which these are looked for */
#define OTHERS_MOST CLAIM_SITES

/* An access of the stopped thread that conflicts with the others' part. */
struct own {
	struct claim_part part;
	struct event event;
};

struct around {
	struct gap gap;
	struct own before[OWN_MOST], after[OWN_MOST]; /* nearest to the switch first */
	size_t nbefore, nafter;
	size_t others[OTHERS_MOST]; /* events, each place once */
	size_t nothers;
};

struct search {
	const struct evidence *evidence;
	struct lab *lab;
	struct around around;
	struct claim_parts parts; /* of the group at hand */
	struct claim claim;
};

/* ---- what there is around a switch ---- */

static bool meets_gap(const struct evidence *evidence, const struct gap *gap, const struct event *own)
{
	return locations_find(evidence->locations, evidence->run, own, gap->from, gap->to, false) != SIZE_MAX;
}

static void add_own(struct own *list, size_t *n, const struct claim_part *part, const struct event *event)
{
	/* Another turn of a loop is nothing new. */
	for (size_t i = 0; i < *n; i++)
		if (list[i].event.site == event->site && list[i].event.address == event->address)
			return;
	if (*n < OWN_MOST)
		list[(*n)++] = (struct own){ *part, *event };
}

static void find_own(const struct evidence *evidence, struct around *around)
{
	const struct observations *run = evidence->run;
	const struct gap *gap = &around->gap;
	size_t seen = 0;

	for (size_t i = gap->from; i-- > 0 && seen < WINDOW && around->nbefore < OWN_MOST;) {
		struct claim_part part = claim_part_of(run, evidence->atlas, i);

		if (run->events[i].thread != gap->thread)
			continue;
		seen++;
		if (meets_gap(evidence, gap, &run->events[i]))
			add_own(around->before, &around->nbefore, &part, &run->events[i]);
	}
	seen = 0;
	for (size_t i = gap->to; i < run->nevents && seen < WINDOW && around->nafter < OWN_MOST; i++) {
		struct claim_part part = claim_part_of(run, evidence->atlas, i);

		if (run->events[i].thread != gap->thread)
			continue;
		seen++;
		if (meets_gap(evidence, gap, &run->events[i]))
			add_own(around->after, &around->nafter, &part, &run->events[i]);
	}
}

/* What a thread of a passing run did behind one of its accesses, as what the stopped thread was about to do. */
static void add_awaited(const struct evidence *evidence, const struct observations *passed, size_t last,
			struct around *around)
{
	uint32_t thread = passed->events[last].thread;
	size_t seen = 0;

	for (size_t i = last + 1; i < passed->nevents && seen < WINDOW && around->nafter < OWN_MOST; i++) {
		const struct event *event = &passed->events[i];

		if (event->thread != thread)
			continue;
		struct claim_part part = claim_part_of(passed, evidence->atlas, i);

		seen++;
		part.thread = around->gap.thread;
		part.at = CLAIM_NOT_TRACED;
		part.missing = true;
		if (meets_gap(evidence, &around->gap, event))
			add_own(around->after, &around->nafter, &part, event);
	}
}

/* The last access of the same thread that comes before the switch by its number; SIZE_MAX: it has not made so many. */
static size_t find_by_number(const struct observations *passed, const struct gap *gap)
{
	size_t own = 0;

	for (size_t i = 0; i < passed->nevents; i++)
		if (passed->events[i].thread == gap->thread && ++own == gap->own)
			return i;
	return SIZE_MAX;
}

/* An access of any thread that is as the last one before the switch that matters. */
static size_t find_by_place(const struct observations *passed, const struct event *last)
{
	for (size_t i = 0; i < passed->nevents; i++)
		if (passed->events[i].site == last->site && passed->events[i].address == last->address &&
		    passed->events[i].write == last->write)
			return i;
	return SIZE_MAX;
}

/* The run ended before the thread went on: a passing run shows what it was about to do. */
static void find_awaited(const struct evidence *evidence, struct around *around)
{
	for (unsigned way = 0; way < 2; way++)
		for (size_t p = 0; p < evidence->npassed && !around->nafter && around->nbefore; p++) {
			const struct observations *passed = evidence->passed[p].story.traced;
			size_t at = !passed ? SIZE_MAX
				    : way   ? find_by_number(passed, &around->gap)
					    : find_by_place(passed, &around->before[0].event);

			if (at != SIZE_MAX)
				add_awaited(evidence, passed, at, around);
		}
}

static void add_other(const struct evidence *evidence, struct around *around, size_t event)
{
	const struct event *events = evidence->run->events;

	for (size_t i = 0; i < around->nothers; i++)
		if (events[around->others[i]].site == events[event].site)
			return;
	if (around->nothers < OTHERS_MOST)
		around->others[around->nothers++] = event;
}

/* What others did meanwhile that conflicts with these accesses of the thread's own, nearest first. */
static void find_others(const struct evidence *evidence, struct around *around)
{
	const struct gap *gap = &around->gap;

	around->nothers = 0;
	for (size_t i = 0; i < around->nbefore + around->nafter; i++) {
		const struct own *own =
			i < around->nbefore ? &around->before[i] : &around->after[i - around->nbefore];

		for (size_t at = gap->from; around->nothers < OTHERS_MOST;) {
			at = locations_find(evidence->locations, evidence->run, &own->event, at, gap->to,
					    false);
			if (at == SIZE_MAX)
				break;
			add_other(evidence, around, at++);
		}
	}
}

/* ---- groups ---- */

/* The group from before[begin] to after[end], against all others' places, wherever they are in memory. */
static bool make_group(struct search *search, size_t begin, size_t end)
{
	const struct evidence *evidence = search->evidence;
	const struct around *around = &search->around;

	search->parts = (struct claim_parts){ .items = { around->before[begin].part,
							 claim_part_of(evidence->run, evidence->atlas,
								       around->others[0]),
							 around->after[end].part },
					      .n = 3 };
	for (size_t i = 0; i < 3; i++)
		search->parts.items[i].size = 0;
	if (!claim_build(evidence->run, evidence->atlas, CLAIM_ATOMIC, &search->parts, &search->claim))
		return false;
	claim_find_later_doors(evidence, &search->parts, &search->claim);
	claim_find_exits(evidence, &search->claim);
	struct claim_step *others = &search->claim.steps[1];

	for (size_t i = 1; i < around->nothers && others->nsites < CLAIM_SITES; i++) {
		const struct site *site =
			atlas_number(evidence->atlas, evidence->run->events[around->others[i]].site);

		if (site && !claim_has_site(others, site->id))
			others->sites[others->nsites++] = site->id;
	}
	for (size_t i = 0; i < 3; i++)
		search->claim.steps[i].write = 1;
	return true;
}

static struct error *mends(struct search *search, size_t begin, size_t end, bool *yes)
{
	struct proof proof = { 0 };

	*yes = false;
	if (!search->around.nothers || !make_group(search, begin, end))
		return NULL;
	TRY(lab_try(search->lab, &search->claim, &proof));
	*yes = proof.mended;
	return NULL;
}

/* The nearest of `n` ends that still mends; the last one does. `which` is the end that moves. */
static struct error *shrink_end(struct search *search, bool first, size_t n, size_t *begin, size_t *end)
{
	size_t fails = 0, good = n - 1, step = 1; /* all below `fails` do not mend */

	for (size_t at = 0; at < good && !lab_is_over(search->lab); at += step, step *= 2) {
		bool yes;

		TRY(mends(search, first ? at : *begin, first ? *end : at, &yes));
		if (yes) {
			good = at;
			break;
		}
		fails = at + 1;
	}
	while (fails < good && !lab_is_over(search->lab)) {
		size_t middle = (fails + good) / 2;
		bool yes;

		TRY(mends(search, first ? middle : *begin, first ? *end : middle, &yes));
		if (yes)
			good = middle;
		else
			fails = middle + 1;
	}
	*(first ? begin : end) = good;
	return NULL;
}

/* Leaves out others' places, half of them at a time, then fewer. */
static struct error *shrink_others(struct search *search, size_t begin, size_t end)
{
	struct around *around = &search->around;

	for (size_t size = around->nothers / 2; size; size = size > 1 ? (size + 1) / 2 : 0)
		for (size_t at = 0;
		     at < around->nothers && around->nothers > size && !lab_is_over(search->lab);) {
			size_t kept[OTHERS_MOST], n = around->nothers;
			size_t take = at + size < n ? size : n - at;
			bool yes;

			memcpy(kept, around->others, sizeof kept);
			memmove(around->others + at, around->others + at + take,
				(n - at - take) * sizeof *around->others);
			around->nothers -= take;
			TRY(mends(search, begin, end, &yes));
			if (!yes) {
				memcpy(around->others, kept, sizeof kept);
				around->nothers = n;
				at += take;
			}
		}
	return NULL;
}

/* ---- what is left ---- */

/* The first or last of the others' accesses that conflicts with `own`: of those that are left, else of all. */
static size_t find_met(const struct search *search, const struct event *own, bool last)
{
	const struct observations *run = search->evidence->run;
	const struct around *around = &search->around;
	size_t found = SIZE_MAX;

	for (int any = 0; any < 2 && found == SIZE_MAX; any++)
		for (size_t i = around->gap.from; i < around->gap.to && (last || found == SIZE_MAX); i++) {
			bool left = any;

			for (size_t j = 0; j < around->nothers; j++)
				left |= run->events[around->others[j]].site == run->events[i].site;
			if (left && locations_conflict(&run->events[i], own))
				found = i;
		}
	return found;
}

static bool is_unserialisable(bool a, bool b, bool c)
{
	return b ? !(a && c) : a && c;
}

static void add_part(struct claim_parts *parts, const struct evidence *evidence, size_t event)
{
	if (event != SIZE_MAX && (!parts->n || parts->items[parts->n - 1].at != event))
		parts->items[parts->n++] = claim_part_of(evidence->run, evidence->atlas, event);
}

/* The group as a claim with its locations: on one location a triple, on two a couple. */
static void tell_group(const struct search *search, size_t begin, size_t end, struct proposals *list)
{
	const struct evidence *evidence = search->evidence;
	const struct own *a = &search->around.before[begin], *c = &search->around.after[end];
	size_t first = find_met(search, &a->event, false), second = find_met(search, &c->event, true);
	struct claim_parts parts = { .items = { a->part }, .n = 1 };
	bool one = a->event.address < c->event.address + c->event.size &&
		   c->event.address < a->event.address + a->event.size;

	if (one) {
		size_t middle = first;

		for (size_t i = search->around.gap.from; i < search->around.gap.to; i++) {
			const struct event *b = &evidence->run->events[i];
			bool left = false;

			for (size_t j = 0; j < search->around.nothers; j++)
				left |= evidence->run->events[search->around.others[j]].site == b->site;
			if (left && locations_conflict(b, b->write ? &c->event : &a->event) &&
			    is_unserialisable(a->event.write, b->write, c->event.write))
				middle = i;
		}
		add_part(&parts, evidence, middle);
	} else if (first <= second) {
		add_part(&parts, evidence, first);
		add_part(&parts, evidence, second);
	} else {
		add_part(&parts, evidence, second);
		add_part(&parts, evidence, first);
	}
	parts.items[parts.n++] = c->part;
	if (parts.n >= 3)
		proposals_add(list, evidence, CLAIM_ATOMIC, &parts);
}

/* Small groups around the switch, the smallest first. */
static struct error *grow(struct search *search, size_t *begin, size_t *end, bool *yes)
{
	*yes = false;
	for (size_t size = 0; size < SMALL && !*yes; size++)
		for (*begin = 0; *begin <= size && !*yes && !lab_is_over(search->lab); ++*begin) {
			*end = size - *begin;
			if (*begin < search->around.nbefore && *end < search->around.nafter)
				TRY(mends(search, *begin, *end, yes));
			if (*yes)
				return NULL;
		}
	return NULL;
}

/* No group mends alone: what the others did may have to be one step, too. A couple on two locations has a group on either
 * side; the smallest are told. */
static void tell_couples(const struct search *search, struct proposals *couples)
{
	const struct around *around = &search->around;

	for (size_t size = 0; size < SMALL; size++)
		for (size_t begin = 0; begin <= size; begin++) {
			size_t end = size - begin;

			if (begin < around->nbefore && end < around->nafter &&
			    around->before[begin].event.address != around->after[end].event.address)
				tell_group(search, begin, end, couples);
		}
	for (size_t i = 0; i < couples->n; i++)
		couples->items[i].wide = true;
}

static struct error *look_at_switch(struct search *search, struct proposals *list, struct proposals *couples)
{
	struct around *around = &search->around;
	bool yes;

	find_own(search->evidence, around);
	if (around->gap.to == search->evidence->run->nevents)
		find_awaited(search->evidence, around);
	if (!around->nbefore || !around->nafter)
		return NULL;
	find_others(search->evidence, around);
	size_t begin, end;

	TRY(grow(search, &begin, &end, &yes));
	if (!yes) {
		begin = around->nbefore - 1;
		end = around->nafter - 1;
		TRY(mends(search, begin, end, &yes));
		if (!yes) {
			tell_couples(search, couples);
			return NULL;
		}
		TRY(shrink_end(search, true, around->nbefore, &begin, &end));
		TRY(shrink_end(search, false, around->nafter, &begin, &end));
	}
	TRY(shrink_others(search, begin, end));
	tell_group(search, begin, end, list);
	return NULL;
}

struct error *virtual_fix(const struct evidence *evidence, struct lab *lab, struct proposals *list,
			  struct proposals *couples)
{
	const struct schedule *schedule = evidence->schedule;
	size_t looked = 0;
	bool forced = schedule_preemptions(schedule->turns, schedule->nturns) > 0;

	for (size_t i = schedule->nturns; i-- > 0 && looked < GAPS_MOST && !lab_is_over(lab);) {
		_cleanup_free_ struct search *search = memory_alloc(sizeof *search);

		*search = (struct search){ .evidence = evidence, .lab = lab };
		if ((forced && schedule->turns[i].stop != STOP_PREEMPTED) ||
		    !switches_gap(evidence->run, schedule, i, &search->around.gap) ||
		    search->around.gap.from == search->around.gap.to)
			continue;
		looked++;
		TRY(look_at_switch(search, list, couples));
	}
	return NULL;
}
