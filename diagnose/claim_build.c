/* The doors are known from the run: a thread that holds a lock at its first step must not
 * wait there when another role's thread takes that lock between its own steps.
 */
#include "diagnose/claim_build.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

struct claim_part claim_part_of(const struct observations *run, const struct atlas *atlas, size_t event)
{
	const struct event *from = &run->events[event];
	const struct site *site = atlas_number(atlas, from->site);

	/* An atomic update is in the trace twice, but it is one access. */
	return (struct claim_part){ .site = site,
				    .thread = from->thread,
				    .write = from->write || (site && site->kind == SITE_UPDATE),
				    .address = from->address,
				    .size = from->size,
				    .at = event };
}

static bool same_place(const struct site *a, const struct site *b)
{
	return a->line == b->line && a->column == b->column && a->kind == b->kind &&
	       !strcmp(a->file, b->file) && !strcmp(a->variable, b->variable);
}

/* All sites of the place; copies of a line are many sites. */
uint32_t claim_collect_sites(const struct atlas *atlas, const struct site *like, uint64_t *out, uint32_t most)
{
	uint32_t n = 0;

	out[n++] = like->id;
	for (size_t i = 0; i < atlas->nunits && like->line; i++)
		for (uint32_t j = 0; j < atlas->units[i].nsites && n < most; j++) {
			const struct site *site = &atlas->units[i].sites[j];

			if (site->id != like->id && same_place(site, like))
				out[n++] = site->id;
		}
	return n;
}

static bool overlap(const struct claim_part *a, const struct claim_part *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

/* Steps that meet in memory have one location, by number from 1. */
static void set_locations(const struct claim_parts *parts, struct claim *claim)
{
	uint32_t next = 1;

	for (size_t i = 0; i < parts->n; i++) {
		claim->steps[i].location = CLAIM_ANYWHERE;
		for (size_t j = 0; j < i && parts->items[i].size; j++)
			if (parts->items[j].size && overlap(&parts->items[i], &parts->items[j]))
				claim->steps[i].location = claim->steps[j].location;
		if (parts->items[i].size && !claim->steps[i].location)
			claim->steps[i].location = next++;
	}
}

static uint32_t occurrence_of(const struct observations *run, const struct claim_part *part)
{
	uint32_t n = 1;

	if (part->at == CLAIM_NOT_TRACED)
		return part->missing ? CLAIM_NEVER : 0;
	for (size_t i = 0; i < part->at; i++)
		n += run->events[i].thread == part->thread &&
		     run->events[i].site == run->events[part->at].site;
	return n;
}

static void set_reach(const struct observations *run, const struct claim_parts *parts, struct claim *claim)
{
	for (uint32_t role = 0; role < claim->nroles; role++) {
		size_t first = SIZE_MAX, last = 0;
		uint32_t thread = 0, n = 0;

		for (size_t i = 0; i < parts->n; i++)
			if (claim->steps[i].role == role && parts->items[i].at != CLAIM_NOT_TRACED) {
				thread = parts->items[i].thread;
				first = parts->items[i].at < first ? parts->items[i].at : first;
				last = parts->items[i].at > last ? parts->items[i].at : last;
			}
		for (size_t i = first; first < last && i < last; i++)
			n += run->events[i].thread == thread;
		claim->roles[role].reach = n;
	}
}

bool claim_build(const struct observations *run, const struct atlas *atlas, enum claim_kind kind,
		 const struct claim_parts *parts, struct claim *out)
{
	uint32_t threads[CLAIM_ROLES];

	*out = (struct claim){ .kind = kind, .nsteps = (uint32_t)parts->n };
	for (size_t i = 0; i < parts->n; i++) {
		const struct claim_part *part = &parts->items[i];
		struct claim_step *step = &out->steps[i];
		uint32_t role = 0;

		while (role < out->nroles && threads[role] != part->thread)
			role++;
		if (role == CLAIM_ROLES || !part->site)
			return false;
		if (role == out->nroles)
			threads[out->nroles++] = part->thread;
		step->role = role;
		step->thread = part->thread;
		step->write = part->write || part->site->kind == SITE_SYNC;
		step->occurrence = occurrence_of(run, part);
		step->nsites = claim_collect_sites(atlas, part->site, step->sites, CLAIM_SITES);
	}
	claim_keep_meeting(run, atlas, out);
	set_locations(parts, out);
	if (kind == CLAIM_ATOMIC || claim_is_order(out))
		claim_find_doors(run, atlas, parts, out);
	set_reach(run, parts, out);
	return claim_is_sound(out);
}

bool claim_is_same(const struct claim *a, const struct claim *b)
{
	if (a->kind != b->kind || a->nsteps != b->nsteps)
		return false;
	for (uint32_t i = 0; i < a->nsteps; i++)
		if (a->steps[i].role != b->steps[i].role ||
		    !claim_has_site(&a->steps[i], b->steps[i].sites[0]))
			return false;
	return true;
}

unsigned char *claim_site_bits(const struct atlas *atlas, const struct claim *claim)
{
	unsigned char *bits = memory_alloc(atlas->nnumbered + 1);

	for (size_t i = 0; i < atlas->nnumbered; i++)
		for (uint32_t j = 0; atlas->numbered[i] && j < claim->nsteps; j++)
			if (claim_has_site(&claim->steps[j], atlas->numbered[i]->id))
				bits[i] |= (unsigned char)(1u << j);
	return bits;
}

/* ---- order ---- */

bool claim_is_mutual(const struct observations *run, const struct atlas *atlas, const struct claim *claim)
{
	_cleanup_free_ unsigned char *bits = claim_site_bits(atlas, claim);
	struct map early = { 0 }; /* address and thread of early accesses */
	bool mutual = false;

	for (size_t i = 0; i < run->nevents && !mutual; i++) {
		const struct event *event = &run->events[i];
		unsigned steps = event->site < atlas->nnumbered ? bits[event->site] : 0;
		uint64_t key = event->address ^ (uint64_t)(event->thread + 1) << 48;

		if (steps & 2)
			mutual = map_get(&early, key) != NULL;
		if (steps & 1)
			map_put(&early, key, NULL);
	}
	map_free(&early);
	return mutual;
}

enum claim_settled claim_settled(const struct observations *run, const struct atlas *atlas,
				 const struct claim *claim)
{
	_cleanup_free_ unsigned char *bits = claim_site_bits(atlas, claim);
	_cleanup_free_ size_t *early = memory_alloc((run->nthreads + 1) * sizeof *early); /* events and one */
	_cleanup_free_ size_t *late = memory_alloc((run->nthreads + 1) * sizeof *late);
	bool has_early = false, has_late = false;

	for (size_t i = 0; i < run->nevents; i++) {
		const struct event *event = &run->events[i];
		unsigned steps = event->site < atlas->nnumbered && event->thread < run->nthreads
					 ? bits[event->site]
					 : 0;

		if (steps & 2 && (has_early || steps & 1))
			return CLAIM_OPEN;
		if (steps & 2)
			late[event->thread] = i + 1;
		if (steps & 1 && !early[event->thread])
			early[event->thread] = i + 1;
		has_early |= steps & 1;
		has_late |= (steps & 2) != 0;
	}
	if (!has_early || !has_late)
		return CLAIM_UNSEEN;
	for (uint32_t i = 0; i < run->nthreads; i++)
		for (uint32_t j = 0; j < run->nthreads; j++)
			if (late[i] && early[j] && !claim_is_ordered(run, late[i] - 1, early[j] - 1))
				return CLAIM_OPEN;
	return CLAIM_SETTLED;
}

bool claim_is_ordered(const struct observations *run, size_t first, size_t second)
{
	const struct event *one = &run->events[first], *other = &run->events[second];
	_cleanup_free_ size_t *reached = memory_alloc((run->nthreads + 1) * sizeof *reached);

	if (one->thread == other->thread)
		return true;
	for (uint32_t i = 0; i <= run->nthreads; i++)
		reached[i] = SIZE_MAX; /* from which event on its accesses come behind the first */
	if (one->thread >= run->nthreads || other->thread >= run->nthreads)
		return false;
	reached[one->thread] = first + 1;
	for (size_t i = 0; i < run->ncalls; i++) {
		const struct call *call = &run->calls[i];

		if ((call->kind != CALL_CREATE && call->kind != CALL_JOIN) || call->thread >= run->nthreads ||
		    call->object >= run->nthreads)
			continue;
		uint32_t from = call->kind == CALL_CREATE ? call->thread : (uint32_t)call->object;
		uint32_t to = call->kind == CALL_CREATE ? (uint32_t)call->object : call->thread;

		if (reached[from] <= call->before && reached[to] > call->before)
			reached[to] = call->before;
	}
	return reached[other->thread] <= second;
}
