/* What was done twice: a thread decides for it in one section of a lock and does it in its
 * next one, and between the two another thread changes what the first had gone by, comes
 * to the same decision and does it as well. The experiment: the other thread's section
 * before both sections of the first, and behind both. */
#include "isolate/order_check.h"

static bool touches(const struct event *a, const struct event *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

/* The number of the last call of that kind by the thread before the event, of that lock (0: any); ncalls: none. */
static size_t call_before(const struct observations *trace, size_t event, uint32_t thread,
			  enum call_kind kind, uint64_t lock)
{
	for (size_t i = trace->ncalls; i-- > 0;)
		if (trace->calls[i].before <= event && trace->calls[i].thread == thread &&
		    trace->calls[i].kind == kind && (!lock || trace->calls[i].object == lock))
			return i;
	return trace->ncalls;
}

/* The section in which something was decided, and the one in which it was done. */
struct sections {
	size_t first, end, second; /* events */
};

static bool find_sections(const struct observations *trace, size_t done, struct sections *out)
{
	uint32_t thread = trace->events[done].thread;
	size_t second = call_before(trace, done, thread, CALL_ACQUIRE, 0);

	if (second == trace->ncalls || !trace->calls[second].before)
		return false;
	out->second = trace->calls[second].before;
	size_t end = call_before(trace, out->second, thread, CALL_RELEASE, trace->calls[second].object);

	if (end == trace->ncalls || !trace->calls[end].before)
		return false;
	out->end = trace->calls[end].before;
	size_t first = call_before(trace, out->end - 1, thread, CALL_ACQUIRE, trace->calls[second].object);

	if (first == trace->ncalls)
		return false;
	out->first = trace->calls[first].before;
	return true;
}

/* The same place wrote the same location between the sections, by another thread. */
static size_t done_by_other(const struct observations *trace, size_t done, const struct sections *sections)
{
	const struct event *event = &trace->events[done];

	for (size_t i = sections->first; i < sections->second; i++) {
		const struct event *other = &trace->events[i];

		if (other->site != event->site || !touches(other, event) || !other->write)
			continue;
		if (i >= sections->end && other->thread != event->thread)
			return i;
		if (i < sections->end && other->thread == event->thread)
			break; /* it was done in the first section, too */
	}
	return ORDER_NONE;
}

/* The write of the first section that the other thread changed before it did the same: the group of both sections, and
 * that change. */
static bool find_group(const struct observations *trace, size_t done, size_t group[3])
{
	struct sections sections;

	if (!find_sections(trace, done, &sections))
		return false;
	size_t other = done_by_other(trace, done, &sections);

	if (other == ORDER_NONE)
		return false;
	for (size_t decided = sections.end; decided-- > sections.first;) {
		const struct event *event = &trace->events[decided];

		if (!event->write || event->thread != trace->events[done].thread)
			continue;
		for (size_t change = sections.end; change < other; change++)
			if (trace->events[change].thread == trace->events[other].thread &&
			    trace->events[change].write && touches(&trace->events[change], event)) {
				group[0] = decided;
				group[1] = change;
				group[2] = done;
				return true;
			}
	}
	return false;
}

struct error *order_check_twice(struct order_search *search)
{
	const struct observations *trace = search->trace;
	size_t group[3];

	for (size_t i = 0; i < search->failure->nreads && search->failure->reads[i].distance <= 1; i++) {
		const struct isolate_read *read = &search->failure->reads[i];

		if (search->reads[i] == ORDER_NONE || order_is_control(read))
			continue;
		for (size_t done = trace->nevents; done-- > 0;)
			if (trace->events[done].write &&
			    touches(&trace->events[done], &trace->events[search->reads[i]]) &&
			    find_group(trace, done, group)) {
				search->reading = i;
				search->reading_far = order_far(read);
				return order_check_group(search, group, 3, group[1], FINDING_MULTI_ATOMICITY);
			}
	}
	return NULL;
}
