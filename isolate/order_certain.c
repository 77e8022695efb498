/* What must hold before an order of threads is called sure. That a run passes when an order
 * is forbidden and fails when it is forced shows that the failure hangs on the order, not
 * that nothing else would mend it as well: a thread that never gets a pointer cannot use
 * it wrongly. So the order has to be about what failed itself, and nothing behind it may
 * be a candidate of the same kind. */
#include "isolate/order_check.h"

#include <string.h>

static bool overlap(const struct event *a, const struct event *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

static bool is_of(const struct order_search *search, const struct event *event,
		  const struct claim_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		const struct claim_part *part = &parts->items[i];
		const struct event told = { .address = part->address, .size = part->size };

		if (part->at != CLAIM_NOT_TRACED ? overlap(&search->trace->events[part->at], event)
						 : part->size && overlap(&told, event))
			return true;
	}
	return false;
}

static bool is_value(const struct isolate_read *read)
{
	return read->dependence == READ_USED || read->dependence == READ_VALUE;
}

/* Had another thread given the read its value, and nothing ordered the two? */
static bool is_open(const struct order_search *search, size_t read)
{
	const struct observations *trace = search->trace;

	for (size_t i = read; i-- > 0;) {
		const struct event *event = &trace->events[i];

		if (event->write && overlap(event, &trace->events[read]))
			return event->thread != trace->events[read].thread &&
			       !claim_is_ordered(trace, i, read);
	}
	return false;
}

/* Is there a value behind the one that is told, of another location, that may be as much to blame? */
static bool has_rival(const struct order_search *search, const struct claim_parts *parts)
{
	const struct isolate_failure *failure = search->failure;

	for (size_t i = 0; i < failure->nreads; i++) {
		size_t event = search->reads[i];

		if (event != ORDER_NONE && i != search->reading && is_value(&failure->reads[i]) &&
		    !is_of(search, &search->trace->events[event], parts) && is_open(search, event))
			return true;
	}
	return false;
}

static bool has_free(const struct claim_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		if (parts->items[i].site && site_frees(parts->items[i].site))
			return true;
	return false;
}

/* Lines of the system's headers say how something was done, not what the program did. */
static bool is_own_code(const struct claim_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		const struct site *site = parts->items[i].site;

		if (!site || !site->line || !strncmp(site->file, "/usr/", strlen("/usr/")))
			return false;
	}
	return true;
}

bool order_is_certain(const struct order_search *search, const struct claim_parts *parts)
{
	const struct isolate_failure *failure = search->failure;
	bool misused = failure->kind == FAILED_DEAD || failure->kind == FAILED_FREE;

	if (search->reading == ORDER_NONE || !is_value(&failure->reads[search->reading]))
		return false;
	if (misused && (parts->n < 3 || !has_free(parts)))
		return false;
	return is_own_code(parts) && !has_rival(search, parts);
}
