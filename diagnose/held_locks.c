/* Which locks a thread held at an access of the traced run: follows the calls that took locks
 * and gave them back up to there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "diagnose/shown_accesses.h"

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

void trace_take_locks(const struct trace *trace, struct finding_access *access, size_t event)
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
