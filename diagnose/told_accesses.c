/* What the run knows of a finding's accesses: looks them up in the traced run, in their order.
 * The finding may be of another failing run than the trace: where several threads run the same
 * code, the part of one may be another's there.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "diagnose/shown_accesses.h"

/* The last event before `end` that is this access, by that thread; run->nevents: none. */
static size_t find_before(const struct trace *trace, const struct finding_access *access, uint32_t thread,
			  size_t end)
{
	const struct observations *run = trace->run;

	for (size_t at = end; at-- > 0;) {
		const struct event *event = &run->events[at];
		const struct site *site = atlas_number(trace->atlas, event->site);

		if (site && event->thread == thread && trace_is_access(site, event->write, access))
			return at;
	}
	return run->nevents;
}

/* Does the thread do in the run all that the finding says of the thread `of`? */
static bool plays(const struct trace *trace, const struct finding *finding, uint32_t of, uint32_t thread)
{
	size_t end = trace->run->nevents;

	for (size_t i = finding->accesses.n; i-- > 0;) {
		const struct finding_access *access = &finding->accesses.items[i];

		if (access->thread != of || access->role || access->missing)
			continue;
		end = find_before(trace, access, thread, end);
		if (end == trace->run->nevents)
			return false;
	}
	return true;
}

/* Has the finding accesses of the thread, or has its part been tried? */
static bool is_taken(const struct finding *finding, uint32_t thread, const uint32_t *tried, size_t ntried)
{
	for (size_t i = 0; i < finding->accesses.n; i++)
		if (finding->accesses.items[i].thread == thread)
			return true;
	for (size_t i = 0; i < ntried; i++)
		if (tried[i] == thread)
			return true;
	return false;
}

/* Who plays the part of the access's thread in the run: itself, if it does, else another one that does and is none
 * of the finding's, the last to do this access first. */
static uint32_t who_plays(const struct trace *trace, const struct finding *finding,
			  const struct finding_access *access)
{
	const struct observations *run = trace->run;
	VEC(uint32_t) tried = { 0 };
	uint32_t player = access->thread;
	bool found = plays(trace, finding, access->thread, player);

	for (size_t at = run->nevents; at-- > 0 && !found;) {
		const struct event *event = &run->events[at];
		const struct site *site = atlas_number(trace->atlas, event->site);

		if (!site || !trace_is_access(site, event->write, access) ||
		    is_taken(finding, event->thread, tried.items, tried.n))
			continue;
		*VEC_PUSH(&tried) = player = event->thread;
		found = plays(trace, finding, access->thread, player);
	}
	free(tried.items);
	return found ? player : access->thread;
}

void trace_name_accesses(const struct trace *trace, struct finding *finding)
{
	size_t end = trace->run ? trace->run->nevents : 0;

	for (size_t i = trace->run && !trace->run->dropped ? finding->accesses.n : 0; i-- > 0;) {
		struct finding_access *access = &finding->accesses.items[i];

		if (access->role || access->missing || access->locks_known)
			continue;
		uint32_t thread = who_plays(trace, finding, access);
		size_t at = find_before(trace, access, thread, end);

		if (at == trace->run->nevents)
			at = find_before(trace, access, thread, trace->run->nevents);
		if (at == trace->run->nevents)
			continue;
		access->event = at + 1;
		trace_take_locks(trace, access, at);
		end = at;
	}
}
