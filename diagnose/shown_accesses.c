/* Looks through the events of the trace.
 */
#include "diagnose/shown_accesses.h"

#include <string.h>

bool trace_is_access(const struct site *site, bool write, const struct finding_access *access)
{
	return site->line == access->line && write == (access->kind == SITE_WRITE) &&
	       !strcmp(site->file, access->file);
}

const struct site *trace_last(const struct trace *trace, uint32_t *thread, bool *write)
{
	if (!trace->run || !trace->run->nevents || trace->run->dropped)
		return NULL;
	const struct event *event = &trace->run->events[trace->run->nevents - 1];

	if (thread)
		*thread = event->thread;
	if (write)
		*write = event->write;
	return atlas_number(trace->atlas, event->site);
}

void trace_name_threads(const struct trace *trace, struct finding *finding)
{
	uint32_t taken = FINDING_NO_THREAD;

	for (size_t i = 0; trace->run && i < finding->accesses.n; i++) {
		struct finding_access *access = &finding->accesses.items[i];

		for (size_t at = trace->run->nevents; at-- > 0 && access->thread == FINDING_NO_THREAD;) {
			const struct event *event = &trace->run->events[at];
			const struct site *site = atlas_number(trace->atlas, event->site);

			if (site && event->thread != taken && trace_is_access(site, event->write, access))
				access->thread = event->thread;
		}
		taken = access->thread;
	}
}
