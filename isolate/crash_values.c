/* The trail of a crash, from one execution in which values are followed: the reads that
 * the failure depends on, who had defined what was used, and the nearest writes by other
 * threads to the locations that were read. Nothing is moved and nothing left out, so it
 * names no cause: it says whether a cause that is known otherwise lies on the way.
 */
#include "isolate/isolate.h"

#include "base/memory.h"
#include "model/atlas.h"

static void add_site(struct finding *trail, const struct site *site, uint32_t thread, bool write)
{
	enum site_kind kind = write ? SITE_WRITE : SITE_READ;

	for (size_t i = 0; i < trail->accesses.n; i++) {
		const struct finding_access *known = &trail->accesses.items[i];

		if (known->line == site->line && known->kind == kind && known->thread == thread)
			return;
	}
	struct finding_access *access = finding_add_access(&trail->accesses, FINDING_NO_SITE, site);

	access->thread = thread;
	access->kind = kind;
}

static void add_place(struct isolation *isolation, const struct isolate_place *place, uint32_t thread,
		      bool write)
{
	struct unit unit = isolation_place(isolation, place, write ? SITE_WRITE : SITE_READ);

	if (unit.nsites)
		add_site(&isolation->finding, &unit.sites[0], thread, write);
	unit_free(&unit);
}

/* The writes by other threads to what was read: the last one before the read, and the first one behind it. */
static void add_writes(struct isolation *isolation, const struct atlas *atlas,
		       const struct isolate_read *read)
{
	const struct observations *trace = &isolation->original.observations;
	const struct event *last = NULL, *next = NULL;
	uint64_t order = 0;

	for (size_t i = 0; i < trace->nevents && !next; i++) {
		const struct event *event = &trace->events[i];

		if (event->thread == read->thread)
			order++;
		else if (event->write && event->address < read->address + read->size &&
			 read->address < event->address + event->size)
			*(order < read->order ? &last : &next) = event;
	}
	for (int i = 0; i < 2; i++) {
		const struct event *event = i ? next : last;
		const struct site *site = event ? atlas_number(atlas, event->site) : NULL;

		if (site)
			add_site(&isolation->finding, site, event->thread, true);
	}
}

void isolation_tell_trail(struct isolation *isolation, const struct isolate_failure *failure)
{
	_cleanup_(atlas_free) struct atlas atlas = { 0 };

	atlas_read(&atlas, &isolation->original.observations);
	for (size_t i = 0; i < failure->nuses; i++)
		for (size_t j = 0; j < failure->uses[i].nhops; j++) {
			const struct isolate_hop *hop = &failure->uses[i].hops[j];

			add_place(isolation, &hop->place, hop->thread, false);
			if (hop->definition.definer == DEFINED_STORE ||
			    hop->definition.definer == DEFINED_FREED)
				add_place(isolation, &hop->definition.place, hop->definition.thread, true);
		}
	for (size_t i = 0; i < failure->nreads; i++) {
		add_place(isolation, &failure->reads[i].place, failure->reads[i].thread,
			  failure->reads[i].write != 0);
		add_writes(isolation, &atlas, &failure->reads[i]);
	}
}
