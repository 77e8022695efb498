/* What the trace of the original execution tells without a run: moves that cannot be, since
 * what would come first needs what would come later; groups that cannot be told as one step;
 * threads that are over, so that nothing of theirs can be waited for. */
#include "isolate/order_check.h"

#include "base/hash.h"

#define WORD 8u

static bool is_free(const struct order_search *search, size_t event)
{
	const struct site *site = atlas_number(&search->atlas, search->trace->events[event].site);

	return site && site_frees(site);
}

static bool overlap(const struct event *a, const struct event *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

/* Remembers who wrote the words of the event last, or asks for it: was that `thread`? */
static void note_writer(struct map *writers, const struct event *event)
{
	for (uint64_t word = event->address / WORD; word <= (event->address + event->size - 1) / WORD; word++)
		*map_put(writers, word, NULL) = event->thread;
}

static bool was_written_by(const struct map *writers, const struct event *event, uint32_t thread)
{
	const uint64_t *writer = map_get(writers, event->address / WORD);

	return writer && *writer == thread;
}

bool order_needs(const struct order_search *search, size_t early, size_t late)
{
	const struct event *events = search->trace->events;
	uint32_t first = events[early].thread, second = events[late].thread;
	bool frees = is_free(search, late), needs = false;
	struct map writers = { 0 };

	for (size_t i = early; i < late && !needs; i++) {
		const struct event *event = &events[i];
		bool by_either = event->thread == first || event->thread == second;

		if (event->write && event->size && (by_either || map_get(&writers, event->address / WORD)))
			note_writer(&writers, event);
		else if (!event->write && event->thread == second)
			needs = (frees || !overlap(event, &events[late])) &&
				was_written_by(&writers, event, first);
	}
	map_free(&writers);
	return needs;
}

bool order_is_mixed(const struct order_search *search, const size_t *group, size_t n, size_t between)
{
	const struct event *events = search->trace->events;
	const struct event *first = &events[group[0]];

	if (events[between].site != events[group[n - 1]].site)
		return false;
	for (size_t i = between; i-- > 0;)
		if (events[i].thread == events[between].thread && events[i].site == first->site)
			return !overlap(&events[i], first);
	return false;
}

static bool takes_lock(const struct observations *trace, uint32_t thread, size_t from, size_t to)
{
	for (size_t i = 0; i < trace->ncalls; i++)
		if (trace->calls[i].kind == CALL_ACQUIRE && trace->calls[i].thread == thread &&
		    trace->calls[i].before > from && trace->calls[i].before <= to)
			return true;
	return false;
}

size_t order_own_group(const struct order_search *search, size_t first, size_t between)
{
	const struct event *events = search->trace->events;
	uint32_t thread = events[between].thread;

	for (size_t i = between; i-- > 0;) {
		bool here = events[i].thread == thread && overlap(&events[i], &events[first]);

		if (here && events[i].site == events[first].site)
			return takes_lock(search->trace, thread, i, between) ? i : ORDER_NONE;
		if (here && events[i].write) /* what it had begun is done */
			return ORDER_NONE;
	}
	return ORDER_NONE;
}

bool order_is_alone(const struct order_search *search)
{
	const struct observations *trace = search->trace;
	uint32_t joined = 0;

	for (size_t i = 0; i < trace->ncalls; i++)
		joined += trace->calls[i].kind == CALL_JOIN &&
			  trace->calls[i].thread == search->failure->thread;
	return joined + 1 >= trace->nthreads;
}

/* The first write of a thread, from an event on, to the place of `at`. */
static size_t write_by(const struct observations *trace, uint32_t thread, size_t from, size_t at)
{
	for (size_t i = from; i < trace->nevents; i++)
		if (trace->events[i].thread == thread && trace->events[i].write &&
		    overlap(&trace->events[i], &trace->events[at]))
			return i;
	return ORDER_NONE;
}

static bool is_read_behind(const struct observations *trace, uint32_t reader, size_t write)
{
	for (size_t i = write + 1; i < trace->nevents; i++)
		if (trace->events[i].thread == reader && !trace->events[i].write &&
		    overlap(&trace->events[i], &trace->events[write]))
			return true;
	return false;
}

#define CROSSED_MOST 64 /* writes of a thread that are looked at */
bool order_crosses(const struct order_search *search, size_t first, size_t second, size_t *there,
		   size_t *back)
{
	const struct observations *trace = search->trace;
	const struct event *events = trace->events;
	uint32_t one = events[first].thread, other = events[second].thread;

	if (!events[first].write || !events[second].write)
		return false;
	for (size_t i = second + 1, seen = 0; i < trace->nevents && seen < CROSSED_MOST; i++) {
		if (events[i].thread != other || !events[i].write || overlap(&events[i], &events[second]))
			continue;
		seen++;
		*there = i;
		*back = write_by(trace, one, i + 1, i);
		if (*back != ORDER_NONE && is_read_behind(trace, search->failure->thread, *back))
			return true;
	}
	return false;
}
