/* The finding when no order of threads is to blame: the definition at the end of the
 * chain, and the first failure that came of it.
 */
#include "isolate/isolate.h"

#include <string.h>

#include "base/memory.h"

/* Once is enough: a loop reads what it used at the line at which it failed. */
static bool is_told(const struct isolation *isolation, const struct site *site, bool write)
{
	const struct finding_accesses *list = &isolation->finding.accesses;

	for (size_t i = 0; i < list->n; i++)
		if (site->line && list->items[i].line == site->line &&
		    (list->items[i].kind == SITE_WRITE) == write && !strcmp(list->items[i].file, site->file))
			return true;
	return false;
}

enum done { READ, WRITTEN, FREED, ALLOCATED, CHECKED, GIVEN, CUT, DROPPED, CALLED, SIZED, SET_UP, RECURSED };
static void add(struct isolation *isolation, const struct isolate_place *place, uint32_t thread,
		enum done done)
{
	static const char *const roles[RECURSED + 1] = {
		[ALLOCATED] = "allocate", [CHECKED] = "check", [GIVEN] = "give", [CUT] = "cut",
		[DROPPED] = "drop",       [CALLED] = "call",   [SIZED] = "size", [SET_UP] = "set up",
		[RECURSED] = "recurse"
	};
	bool write = done != READ && done != CHECKED && done != CALLED && done != SIZED && done != RECURSED;
	struct unit unit = isolation_place(isolation, place, write ? SITE_WRITE : SITE_READ);

	if (unit.nsites && !is_told(isolation, &unit.sites[0], write)) {
		struct site site = unit.sites[0];

		if (done == FREED)
			site.through = "free";
		struct finding_access *access =
			finding_add_access(&isolation->finding.accesses, FINDING_NO_SITE, &site);

		access->thread = thread;
		access->role = roles[done];
		access->kind = write ? SITE_WRITE : SITE_READ;
		finding_add_variable(&isolation->finding, unit.sites[0].variable);
	}
	unit_free(&unit);
}

static enum done ending(const struct isolate_failure *failure)
{
	return failure->kind == FAILED_FREE ? FREED : failure->write ? WRITTEN : READ;
}

/* A free inside a header of the system, of a container say, stands at the program's call that led there. */
static struct isolate_place own_place(struct isolation *isolation,
				      const struct isolate_definition *definition)
{
	struct isolate_place place = definition->place;

	for (size_t i = 0; i < ISOLATE_CALLERS; i++) {
		struct unit unit = isolation_place(isolation, &place, SITE_WRITE);
		bool outside = unit.nsites && !strncmp(unit.sites[0].file, "/usr/", strlen("/usr/"));

		unit_free(&unit);
		if (!outside || !definition->callers[i].address)
			break;
		place = definition->callers[i];
	}
	return place;
}

static const struct isolate_hop *undefined_hop(struct isolation *isolation,
					       const struct isolate_failure *failure)
{
	for (size_t i = 0; i < failure->nuses; i++) {
		const struct isolate_use *use = &failure->uses[i];
		const struct isolate_hop *hop = &use->hops[isolation_origin(isolation, use)];

		if (hop->definition.definer == DEFINED_ALLOCATED || hop->definition.definer == DEFINED_FRAME)
			return hop;
	}
	return NULL;
}

/* Had anybody written what was used? Where nothing could be left out the first use is the one that is told. */
static bool was_written(const struct isolate_step *step)
{
	const struct isolate_failure *failure = &step->failure;

	return !failure->nuses || step->used < failure->nuses ||
	       (failure->uses[0].hops[0].definition.definer != DEFINED_NOT &&
		failure->uses[0].hops[0].definition.definer != DEFINED_CLEARED);
}

/* Where the program has lines, places without one (what runs before main, say) come last. */
static void nameless_last(struct finding_accesses *list)
{
	for (size_t i = 0, named = 0; i < list->n; i++) {
		struct finding_access access = list->items[i];

		if (!access.line)
			continue;
		for (size_t j = i; j > named; j--)
			list->items[j] = list->items[j - 1];
		list->items[named++] = access;
	}
}

/* Why a block could be used that had been freed: who had put the pointer there that was still kept, and where the other
 * one was read by which it was freed. */
static void add_pointers(struct isolation *isolation, const struct isolate_failure *failure)
{
	const struct isolate_hop *kept = &failure->kept, *freed_by = &failure->freed_by;

	if (kept->size)
		add(isolation, &kept->definition.place, kept->definition.thread, WRITTEN);
	if (freed_by->size && freed_by->address != kept->address)
		add(isolation, &freed_by->place, freed_by->thread, READ);
}

/* Where a value came into being that came from nothing in memory. */
static void add_given(struct isolation *isolation, const struct isolate_use *use, size_t hop)
{
	struct isolate_place given = isolation_given(isolation, use, hop);

	add(isolation, &given, use->hops[hop].definition.thread, GIVEN);
}

static uint32_t line_of(struct isolation *isolation, const struct isolate_place *place)
{
	struct unit unit = isolation_place(isolation, place, SITE_READ);
	uint32_t line = unit.nsites ? unit.sites[0].line : 0;

	unit_free(&unit);
	return line;
}

/* Of a value that a function computed and another one stored: what that had read. */
static void add_computed(struct isolation *isolation, const struct isolate_use *use, size_t hop)
{
	const struct isolate_hop *from = &use->hops[hop], *next = from + 1;

	if (hop + 1 < use->nhops && !from->copied && !from->placed && next->place.own &&
	    line_of(isolation, &next->place) != line_of(isolation, &from->definition.place))
		add(isolation, &next->place, next->thread, READ);
}

/* The definition at the end of the chain. What was written through an index may be right, and at a wrong place: where
 * the value came into being is then told after it. */
static void add_definition(struct isolation *isolation, const struct isolate_step *step,
			   const struct isolate_hop *hop)
{
	const struct isolate_use *use =
		step->used < step->failure.nuses ? &step->failure.uses[step->used] : NULL;
	bool is_chosen = use && isolation->verdict != ISOLATE_UNDEFINED && !hop->misread;

	if (is_chosen && !hop->strewn)
		add_given(isolation, use, step->hop);
	if (is_chosen && !hop->strewn)
		add_computed(isolation, use, step->hop);
	if (hop->definition.place.address) {
		struct isolate_place place = own_place(isolation, &hop->definition);

		add(isolation, &place, hop->definition.thread,
		    hop->definition.definer == DEFINED_FREED ? FREED : WRITTEN);
	}
	if (is_chosen && hop->strewn)
		add_given(isolation, use, step->hop);
}

/* A copy that ended before what was used: who had said how long it is. */
static void add_length(struct isolation *isolation, const struct isolate_failure *failure)
{
	const struct isolate_use *length = &failure->length;

	if (!length->nhops)
		return;
	size_t origin = isolation_origin(isolation, length);
	const struct isolate_hop *hop = &length->hops[origin];

	add_given(isolation, length, origin);
	add(isolation, &hop->definition.place, hop->definition.thread, WRITTEN);
	add(isolation, &failure->copied, hop->thread, WRITTEN);
}

/* The line at which a function was called that a place stands in. */
static struct isolate_place calling(struct isolation *isolation, const struct isolate_clue *clue)
{
	struct isolate_place around = clue->place;

	around.around = 1;
	return isolation_is_inlined(isolation, &clue->place) ? around : clue->call;
}

/* Did a number that was not negative lose bits? */
static bool has_lost_bits(const struct isolate_failure *failure)
{
	for (size_t i = 0; i < failure->nclues; i++) {
		const struct isolate_clue *clue = &failure->clues[i];

		if (clue->kind == CLUE_CUT && (int64_t)clue->full > 0 && clue->value != clue->full)
			return true;
	}
	return false;
}

/* What the failure hangs on beside the values that it used. */
static void add_clues(struct isolation *isolation, const struct isolate_failure *failure,
		      const enum isolate_clue_kind *kinds, size_t n)
{
	static const enum done dones[] = { [CLUE_CUT] = CUT,
					   [CLUE_DROPPED] = DROPPED,
					   [CLUE_CALL] = CALLED,
					   [CLUE_SIZE] = SIZED,
					   [CLUE_LENGTH] = SIZED,
					   [CLUE_SETUP] = SET_UP,
					   [CLUE_RECURSION] = RECURSED,
					   [CLUE_GUARD] = CHECKED,
					   [CLUE_UNDONE] = WRITTEN };

	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < failure->nclues; i++) {
			const struct isolate_clue *clue = &failure->clues[i];
			bool by_call = clue->kind == CLUE_DROPPED || clue->kind == CLUE_CALL;
			struct isolate_place place = by_call ? calling(isolation, clue) : clue->place;

			if (clue->kind == (uint32_t)kinds[k] && line_of(isolation, &place))
				add(isolation, &place, clue->thread, dones[clue->kind]);
		}
}

/* Calls that did not come to an end: where they are made, what should have ended them, who had written that. */
static void add_round(struct isolation *isolation, const struct isolate_failure *failure,
		      const struct isolate_hop *hop)
{
	add_clues(isolation, failure, (const enum isolate_clue_kind[]){ CLUE_RECURSION }, 1);
	if (!hop && failure->nuses)
		add(isolation, &failure->uses[0].hops[0].place, failure->thread, CHECKED);
	add_clues(isolation, failure, (const enum isolate_clue_kind[]){ CLUE_GUARD, CLUE_UNDONE }, 2);
	for (size_t i = 0; i < failure->nclues; i++) {
		struct isolate_place call = calling(isolation, &failure->clues[i]);

		if (failure->clues[i].kind == CLUE_UNDONE && call.around)
			add(isolation, &call, failure->thread, CALLED);
	}
}

void isolation_tell_root(struct isolation *isolation)
{
	if (!isolation->steps.n || isolation->verdict == ISOLATE_ORDER ||
	    isolation->verdict == ISOLATE_KEPT_LOCK)
		return;
	size_t at = isolation->steps.n - 1;
	const struct isolate_step *last = &isolation->steps.items[at];
	const struct isolate_hop *hop =
		isolation->verdict == ISOLATE_UNDEFINED ? undefined_hop(isolation, &last->failure) : NULL;

	/* The last failure of which something could be left out. */
	while (!hop && at && last->used >= last->failure.nuses)
		last = &isolation->steps.items[--at];
	if (!hop && last->used < last->failure.nuses)
		hop = &last->failure.uses[last->used].hops[last->hop];
	isolation->finding.rank = 1;
	isolation->finding.class = FINDING_MEMORY;
	isolation->finding.method = memory_string("suppress");
	isolation->finding.score = isolation->verdict == ISOLATE_BEST ? 0.5 : 1;
	isolation->finding.summary = memory_string(
		last->failure.caller.address
			? "an address was used that came from no memory: a function returned NULL, say"
		: isolation->renewed
			? "memory that had been used before was given to something new, and a part of it was "
			  "not "
			  "set"
			: isolate_root_words(isolation->verdict, last->failure.kind, was_written(last)));
	const struct isolate_failure *first = &isolation->steps.items[0].failure;

	if (isolation->renewed)
		add_clues(isolation, first, (const enum isolate_clue_kind[]){ CLUE_SETUP }, 1);
	add_clues(isolation, first, (const enum isolate_clue_kind[]){ CLUE_CUT }, 1);
	/* To leave a block is the fault itself; what led there comes second. */
	if (last->failure.kind == FAILED_BEYOND)
		add(isolation, &last->failure.place, last->failure.thread, ending(&last->failure));
	if (last->failure.made.address)
		add(isolation, &last->failure.made, last->failure.thread, ALLOCATED);
	if (last->failure.kind == FAILED_DEAD || last->failure.kind == FAILED_FREE)
		add_pointers(isolation, &last->failure);
	add_length(isolation, &isolation->steps.items[0].failure);
	if (hop && hop->misread) { /* what was read there is right where it is: the place is not */
		add(isolation, &hop->place, hop->thread, READ);
		if (hop->index.own)
			add(isolation, &hop->index, hop->thread, READ);
	}
	if (hop)
		add_definition(isolation, last, hop);
	if (isolation->check.address)
		add(isolation, &isolation->check, last->failure.thread, CHECKED);
	if (hop)
		add(isolation, &hop->place, hop->thread, READ);
	if (hop && hop->index.own)
		add(isolation, &hop->index, hop->thread, READ);
	if (last->failure.caller.address)
		add(isolation, &last->failure.caller, last->failure.thread, READ);
	if (first->kind == FAILED_STACK)
		add_round(isolation, first, hop);
	if (last->failure.kind != FAILED_BEYOND &&
	    !(first->kind == FAILED_STACK && isolation->finding.accesses.n))
		add(isolation, &last->failure.place, last->failure.thread, ending(&last->failure));
	add_clues(isolation, first, (const enum isolate_clue_kind[]){ CLUE_DROPPED, CLUE_CALL }, 2);
	/* Bits that were lost tell why it was too much. */
	if (!has_lost_bits(first))
		add_clues(isolation, first, (const enum isolate_clue_kind[]){ CLUE_LENGTH, CLUE_SIZE }, 2);
	nameless_last(&isolation->finding.accesses);
}
