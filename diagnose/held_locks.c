/* Which locks a thread held at an access: looks the finding's accesses up in the traced run,
 * in their order, and follows the calls that took locks and gave them back up to there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diagnose/shown_accesses.h"

/* The last event before `end` that is this access, by its thread; run->nevents: none. */
static size_t find_before(const struct trace *trace, const struct finding_access *access, size_t end)
{
	const struct observations *run = trace->run;

	for (size_t at = end; at-- > 0;) {
		const struct event *event = &run->events[at];
		const struct site *site = atlas_number(trace->atlas, event->site);

		if (site && event->thread == access->thread && trace_is_access(site, event->write, access))
			return at;
	}
	return run->nevents;
}

static uint32_t line_given_back(const struct trace *trace, size_t taken)
{
	const struct observations *run = trace->run;
	const struct call *lock = &run->calls[taken];

	for (size_t i = taken + 1; i < run->ncalls; i++) {
		const struct call *call = &run->calls[i];

		if (call->kind != CALL_RELEASE || call->thread != lock->thread ||
		    call->object != lock->object)
			continue;
		const struct site *site = atlas_number(trace->atlas, call->site);

		return site ? site->line : 0;
	}
	return 0;
}

/* The youngest lock of this object that is still held goes. */
static void drop(struct finding_access *access, uint64_t object)
{
	for (size_t i = access->locks.n; i-- > 0;) {
		if (access->locks.items[i].object != object)
			continue;
		free(access->locks.items[i].file);
		memmove(&access->locks.items[i], &access->locks.items[i + 1],
			(access->locks.n - i - 1) * sizeof *access->locks.items);
		access->locks.n--;
		return;
	}
}

static void take_locks(const struct trace *trace, struct finding_access *access, size_t event)
{
	const struct observations *run = trace->run;

	for (size_t i = 0; i < run->ncalls && run->calls[i].before <= event; i++) {
		const struct call *call = &run->calls[i];

		if (call->thread != access->thread)
			continue;
		if (call->kind == CALL_RELEASE)
			drop(access, call->object);
		if (call->kind != CALL_ACQUIRE)
			continue;
		const struct site *site = atlas_number(trace->atlas, call->site);

		*VEC_PUSH(&access->locks) = (struct finding_lock){
			.object = call->object,
			.section = i,
			.file = memory_string(site ? site->file : ""),
			.line = site ? site->line : 0,
			.given_back = line_given_back(trace, i),
		};
	}
	access->locks_known = true;
}

void trace_name_locks(const struct trace *trace, struct finding *finding)
{
	size_t end = trace->run ? trace->run->nevents : 0;

	for (size_t i = trace->run && !trace->run->dropped ? finding->accesses.n : 0; i-- > 0;) {
		struct finding_access *access = &finding->accesses.items[i];

		if (access->role || access->missing || access->locks_known)
			continue;
		size_t at = find_before(trace, access, end);

		if (at == trace->run->nevents)
			at = find_before(trace, access, trace->run->nevents);
		if (at == trace->run->nevents)
			continue;
		take_locks(trace, access, at);
		end = at;
	}
}
