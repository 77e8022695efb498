/* Doors: lock calls before which a role is held, because inside it would keep another role
 * from going on. A role of several steps may take locks between its first and its last
 * one. Whoever holds one of these at the first step of its own role must wait before it
 * takes it. So must the early step of an order, where the late one is done under a lock
 * that it holds, or behind one. Which locks these are the traced run shows, in whatever threads it has come to
 * these lines, or passing runs, where the failing one did not live to see a step; two
 * calls are about one lock when they ever took the same object.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "diagnose/claim_build.h"
#include "diagnose/lock_stack.h"
#include "diagnose/proposals.h"

#define SITES_MOST 32u /* lock calls that are of interest */

struct walker { /* a thread */
	struct lock_stack locks;
	bool within[CLAIM_ROLES]; /* between first and last step of the role */
	uint32_t taken[CLAIM_ROLES][LOCK_STACK_MOST], ntaken[CLAIM_ROLES];
	bool others[CLAIM_ROLES][LOCK_STACK_MOST]; /* of `taken`: not a lock that it held at the first step */
	uint64_t held[CLAIM_ROLES][LOCK_STACK_MOST];
	uint32_t nheld[CLAIM_ROLES];
};

struct survey {
	const struct observations *run;
	const struct atlas *atlas;
	const struct claim_parts *parts;
	bool own; /* the run that the parts are of */
	struct claim *claim;
	unsigned char *bits; /* steps by site number */
	uint32_t steps[CLAIM_ROLES], first[CLAIM_ROLES], last[CLAIM_ROLES];
	struct walker *walkers;               /* by thread */
	uint32_t needed[SITES_MOST], nneeded; /* taken between a role's steps */
	uint32_t takers[SITES_MOST];          /* bits: which roles do so */
	uint32_t strangers
		[SITES_MOST]; /* bits: roles that take another lock there than they held at their first step */
	struct {
		uint32_t role, site;
		uint32_t outside; /* locks that were held when it was taken */
	} inside[SITES_MOST];     /* held at the first step of a role */
	uint32_t ninside;
};

static void note_needed(struct survey *survey, uint32_t role, uint32_t site, bool other)
{
	uint32_t i = 0;

	while (i < survey->nneeded && survey->needed[i] != site)
		i++;
	if (i == SITES_MOST)
		return;
	survey->nneeded += i == survey->nneeded;
	survey->needed[i] = site;
	survey->takers[i] |= 1u << role;
	survey->strangers[i] |= (uint32_t)other << role;
}

static void note_inside(struct survey *survey, uint32_t role, uint32_t site, uint32_t outside)
{
	for (uint32_t i = 0; i < survey->ninside; i++)
		if (survey->inside[i].role == role && survey->inside[i].site == site)
			return;
	if (survey->ninside < SITES_MOST) {
		survey->inside[survey->ninside].role = role;
		survey->inside[survey->ninside].outside = outside;
		survey->inside[survey->ninside++].site = site;
	}
}

/* Does the late thread of an order take the lock on its way from the early step to its own? */
static bool is_on_the_way(const struct survey *survey, const struct call *call)
{
	const struct claim_part *early = &survey->parts->items[0], *late = &survey->parts->items[1];

	return survey->own && claim_is_order(survey->claim) && call->kind == CALL_ACQUIRE &&
	       call->thread == late->thread && early->at != CLAIM_NOT_TRACED && call->before > early->at &&
	       (late->at == CLAIM_NOT_TRACED || call->before <= late->at);
}

static bool was_held(const struct walker *walker, uint32_t role, uint64_t object)
{
	for (uint32_t i = 0; i < walker->nheld[role]; i++)
		if (walker->held[role][i] == object)
			return true;
	return false;
}

static void walk_call(struct survey *survey, const struct call *call)
{
	struct walker *walker = &survey->walkers[call->thread];

	if (call->kind == CALL_ACQUIRE && call->site == SITE_NIL)
		return;
	lock_stack_follow(&walker->locks, call);
	if (is_on_the_way(survey, call))
		note_needed(survey, 1, call->site, false);
	for (uint32_t role = 0; call->kind == CALL_ACQUIRE && role < survey->claim->nroles; role++)
		if (walker->within[role] && walker->ntaken[role] < LOCK_STACK_MOST) {
			uint32_t n = walker->ntaken[role]++;

			walker->taken[role][n] = call->site;
			walker->others[role][n] = !was_held(walker, role, call->object);
		}
}

static void walk_event_of_order(struct survey *survey, const struct event *event, unsigned steps)
{
	const struct lock_stack *locks = &survey->walkers[event->thread].locks;

	for (uint32_t role = 0; role < 2; role++)
		for (uint32_t i = 0; i < locks->n && steps >> role & 1; i++) {
			note_inside(survey, role, locks->held[i].site, i);
			note_needed(survey, role, locks->held[i].site, false);
		}
}

static void walk_event_of_group(struct survey *survey, const struct event *event, unsigned steps)
{
	struct walker *walker = &survey->walkers[event->thread];

	for (uint32_t role = 0; steps && role < survey->claim->nroles; role++) {
		if (walker->within[role] && steps >> survey->last[role] & 1) {
			for (uint32_t i = 0; i < walker->ntaken[role]; i++)
				note_needed(survey, role, walker->taken[role][i], walker->others[role][i]);
			walker->within[role] = false;
		}
		if (!(steps >> survey->first[role] & 1))
			continue;
		walker->nheld[role] = walker->locks.n;
		for (uint32_t i = 0; i < walker->locks.n; i++) {
			note_inside(survey, role, walker->locks.held[i].site, i);
			walker->held[role][i] = walker->locks.held[i].object;
		}
		walker->within[role] = survey->steps[role] > 1;
		walker->ntaken[role] = 0;
	}
}

/* Any access to one of the places may have to wait for a group: as if it were of another role. */
static void walk_place(struct survey *survey, const struct event *event)
{
	const struct walker *walker = &survey->walkers[event->thread];

	for (size_t i = 0; i < survey->parts->n; i++) {
		const struct claim_part *part = &survey->parts->items[i];

		if (part->at == CLAIM_NOT_TRACED || !(part->address < event->address + event->size &&
						      event->address < part->address + part->size))
			continue;
		for (uint32_t j = 0; j < walker->locks.n; j++)
			note_inside(survey, 1, walker->locks.held[j].site, j);
		return;
	}
}

static void walk_event(struct survey *survey, const struct event *event)
{
	unsigned steps = event->site < survey->atlas->nnumbered ? survey->bits[event->site] : 0;

	if (claim_is_order(survey->claim)) {
		walk_event_of_order(survey, event, steps);
		return;
	}
	walk_event_of_group(survey, event, steps);
	walk_place(survey, event);
}

static void walk(struct survey *survey)
{
	const struct observations *run = survey->run;
	size_t call = 0;

	for (size_t i = 0; i <= run->nevents; i++) {
		for (; call < run->ncalls && run->calls[call].before <= i; call++)
			if (run->calls[call].thread < run->nthreads)
				walk_call(survey, &run->calls[call]);
		if (i < run->nevents && run->events[i].thread < run->nthreads)
			walk_event(survey, &run->events[i]);
	}
}

/* Did the two calls ever take the same lock? */
static bool share_lock(const struct observations *run, uint32_t a, uint32_t b)
{
	struct map objects = { 0 };
	bool shared = a == b;

	for (size_t i = 0; i < run->ncalls && !shared; i++)
		if (run->calls[i].kind == CALL_ACQUIRE && run->calls[i].site == a)
			map_put(&objects, run->calls[i].object, NULL);
	for (size_t i = 0; i < run->ncalls && !shared; i++)
		shared = run->calls[i].kind == CALL_ACQUIRE && run->calls[i].site == b &&
			 map_get(&objects, run->calls[i].object);
	map_free(&objects);
	return shared;
}

/* Of an order, by the other role. */
static bool is_needed(const struct survey *survey, uint32_t role, uint32_t site)
{
	for (uint32_t i = 0; i < survey->nneeded; i++) {
		if (claim_is_order(survey->claim) && survey->takers[i] == 1u << role)
			continue;
		if (share_lock(survey->run, site, survey->needed[i]))
			return true;
	}
	return false;
}

/* Does the role come to one of its doors between its steps? */
static bool passes_doors(const struct survey *survey, uint32_t role)
{
	const struct claim_role *doors = &survey->claim->roles[role];

	for (uint32_t i = 0; i < survey->nneeded; i++) {
		const struct site *site = atlas_number(survey->atlas, survey->needed[i]);

		for (uint32_t j = 0; j < doors->ndoors && survey->takers[i] >> role & 1; j++)
			if (site && site->id == doors->doors[j])
				return true;
	}
	return false;
}

/* Does the role take, between its steps, other locks that others hold at theirs? */
static bool takes_many(const struct survey *survey, uint32_t role)
{
	for (uint32_t i = 0; i < survey->nneeded; i++)
		for (uint32_t j = 0; j < survey->ninside && survey->strangers[i] >> role & 1; j++)
			if (survey->inside[j].role != role &&
			    share_lock(survey->run, survey->needed[i], survey->inside[j].site))
				return true;
	return false;
}

/* All sites of the call, each once. */
static void add_door(const struct survey *survey, struct claim_role *role, uint32_t number)
{
	const struct site *site = atlas_number(survey->atlas, number);
	uint64_t sites[CLAIM_DOORS];
	uint32_t n = site ? claim_collect_sites(survey->atlas, site, sites, CLAIM_DOORS) : 0;

	for (uint32_t i = 0; i < n; i++) {
		bool known = false;

		for (uint32_t j = 0; j < role->ndoors; j++)
			known |= role->doors[j] == sites[i];
		if (!known && role->ndoors < CLAIM_DOORS)
			role->doors[role->ndoors++] = sites[i];
	}
}

static void find_doors(const struct observations *run, const struct atlas *atlas,
		       const struct claim_parts *parts, bool own, struct claim *claim)
{
	struct survey survey = { .run = run, .atlas = atlas, .parts = parts, .own = own, .claim = claim };

	for (uint32_t i = claim->nsteps; i-- > 0;) {
		uint32_t role = claim->steps[i].role;

		if (survey.steps[role]++ == 0)
			survey.last[role] = i;
		survey.first[role] = i;
	}
	survey.bits = claim_site_bits(atlas, claim);
	survey.walkers = memory_alloc((run->nthreads + 1) * sizeof *survey.walkers);
	if (run->ncalls)
		walk(&survey);
	/* Outermost first. */
	for (uint32_t depth = 0; depth < LOCK_STACK_MOST; depth++)
		for (uint32_t i = 0; i < survey.ninside; i++)
			if (survey.inside[i].outside == depth &&
			    is_needed(&survey, survey.inside[i].role, survey.inside[i].site))
				add_door(&survey, &claim->roles[survey.inside[i].role],
					 survey.inside[i].site);
	for (uint32_t role = 0; claim->kind == CLAIM_ATOMIC && role < claim->nroles; role++) {
		claim->roles[role].passes_doors |= passes_doors(&survey, role);
		claim->roles[role].many_locks |= takes_many(&survey, role);
	}
	free(survey.walkers);
	free(survey.bits);
}

void claim_find_doors(const struct observations *run, const struct atlas *atlas,
		      const struct claim_parts *parts, struct claim *claim)
{
	find_doors(run, atlas, parts, true, claim);
}

void claim_find_later_doors(const struct evidence *evidence, const struct claim_parts *parts,
			    struct claim *claim)
{
	bool cut = false;

	for (size_t i = 0; i < parts->n; i++)
		cut |= parts->items[i].at == CLAIM_NOT_TRACED;
	for (size_t i = 0; i < evidence->npassed && cut; i++)
		if (evidence->passed[i].story.traced)
			find_doors(evidence->passed[i].story.traced, evidence->atlas, parts, false, claim);
}
