/* Which locks a thread held at an access: looks the finding's accesses up in the traced run,
 * in their order, and follows the calls that took locks and gave them back up to there. The
 * finding may be of another failing run than the trace: where several threads run the same code,
 * the part of one may be another's there.
 */
#include <stdlib.h>
#include <string.h>

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

static const struct site *site_given_back(const struct trace *trace, size_t taken)
{
	const struct observations *run = trace->run;
	const struct call *lock = &run->calls[taken];

	for (size_t i = taken + 1; i < run->ncalls; i++) {
		const struct call *call = &run->calls[i];

		if (call->kind != CALL_RELEASE || call->thread != lock->thread ||
		    call->object != lock->object)
			continue;
		return atlas_number(trace->atlas, call->site);
	}
	return NULL;
}

/* The youngest lock of this object that is still held goes. */
static void drop(struct finding_access *access, uint64_t object)
{
	for (size_t i = access->locks.n; i-- > 0;) {
		if (access->locks.items[i].object != object)
			continue;
		finding_lock_free(&access->locks.items[i]);
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

		if (call->thread != run->events[event].thread)
			continue;
		if (call->kind == CALL_RELEASE)
			drop(access, call->object);
		if (call->kind != CALL_ACQUIRE)
			continue;
		const struct site *site = atlas_number(trace->atlas, call->site);
		const struct site *back = site_given_back(trace, i);

		*VEC_PUSH(&access->locks) = (struct finding_lock){
			.object = call->object,
			.section = i,
			.file = memory_string(site ? site->file : ""),
			.function = memory_string(site ? site->function : ""),
			.line = site ? site->line : 0,
			.given_back = back ? back->line : 0,
			.back = memory_string(back ? back->function : ""),
		};
	}
	access->locks_known = true;
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

void trace_name_locks(const struct trace *trace, struct finding *finding)
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
		take_locks(trace, access, at);
		end = at;
	}
}
