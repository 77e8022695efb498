/* Interleavings as lists of accesses: built from pairs, put in an order that can
 * have happened, and named by LOCON's Table 1.
 */
#include <string.h>

#include "analysis/locon/explain.h"

static int find_event(const struct explain_pattern *pattern, const struct explain_event *event)
{
	for (size_t i = 0; i < pattern->nevents; i++) {
		const struct explain_event *known = &pattern->events[i];

		if (known->thread == event->thread && known->order == event->order &&
		    known->site == event->site && known->write == event->write)
			return (int)i;
	}
	return -1;
}

static uint8_t add_event(struct explain_pattern *pattern, struct explain_event event)
{
	int found = find_event(pattern, &event);

	if (found >= 0)
		return (uint8_t)found;
	pattern->events[pattern->nevents] = event;
	return (uint8_t)pattern->nevents++;
}

bool explain_add(struct explain_pattern *pattern, const struct pair *pair)
{
	if (pattern->nevents + 2 > EXPLAIN_EVENTS || pattern->npairs >= EXPLAIN_EVENTS)
		return false;
	uint8_t head = add_event(pattern, (struct explain_event){ .thread = pair->head_thread,
								  .order = pair->head_order,
								  .site = pair->head_site,
								  .write = pair->kind != PAIR_READ_WRITE,
								  .address = pair->address });
	uint8_t tail = add_event(pattern, (struct explain_event){ .thread = pair->tail_thread,
								  .order = pair->tail_order,
								  .site = pair->tail_site,
								  .write = pair->kind != PAIR_WRITE_READ,
								  .address = pair->address });

	pattern->pairs[pattern->npairs].head = head;
	pattern->pairs[pattern->npairs++].tail = tail;
	return true;
}

/* Must event `a` come before event `b`? */
static bool before(const struct explain_pattern *pattern, size_t a, size_t b)
{
	const struct explain_event *left = &pattern->events[a], *right = &pattern->events[b];

	if (left->thread == right->thread && left->order && right->order) {
		/* An atomic update reads before it writes. */
		return left->order < right->order ||
		       (left->order == right->order && !left->write && right->write);
	}
	for (size_t i = 0; i < pattern->npairs; i++)
		if (pattern->pairs[i].head == a && pattern->pairs[i].tail == b)
			return true;
	return false;
}

void explain_sort(struct explain_pattern *pattern)
{
	struct explain_event sorted[EXPLAIN_EVENTS];
	bool done[EXPLAIN_EVENTS] = { false };
	uint8_t place[EXPLAIN_EVENTS];
	uint32_t running = FINDING_NO_THREAD;

	for (size_t n = 0; n < pattern->nevents; n++) {
		int next = -1;

		for (size_t i = 0; i < pattern->nevents; i++) {
			bool ready = !done[i];

			for (size_t j = 0; j < pattern->nevents && ready; j++)
				ready = done[j] || j == i || !before(pattern, j, i);
			/* As few switches of threads as possible; what never ran comes last. */
			if (ready &&
			    (next < 0 || (!pattern->events[i].missing && pattern->events[next].missing) ||
			     (pattern->events[i].thread == running &&
			      pattern->events[next].thread != running &&
			      pattern->events[i].missing == pattern->events[next].missing)))
				next = (int)i;
		}
		for (size_t i = 0; next < 0; i++) /* first occurrences of different moments: no order fits */
			if (!done[i])
				next = (int)i;
		done[next] = true;
		place[next] = (uint8_t)n;
		running = pattern->events[next].thread;
		sorted[n] = pattern->events[next];
	}
	memcpy(pattern->events, sorted, pattern->nevents * sizeof *sorted);
	for (size_t i = 0; i < pattern->npairs; i++) {
		pattern->pairs[i].head = place[pattern->pairs[i].head];
		pattern->pairs[i].tail = place[pattern->pairs[i].tail];
	}
}

/* Table 1, 8 to 15: by the kinds of the two pairs, and whether one thread did all
 * of its part inside the other's, or both crossed. */
unsigned explain_kinds_scenario(enum pair_kind a, enum pair_kind b, bool crossed)
{
	if (a == PAIR_WRITE_WRITE && b == PAIR_WRITE_WRITE)
		return crossed ? 15 : 12;
	if (a == PAIR_WRITE_WRITE || b == PAIR_WRITE_WRITE)
		return crossed ? 14 : 11;
	if (a == b)
		return crossed ? 9 : 8;
	return crossed ? 13 : 10;
}

unsigned explain_couple_scenario(const struct pair *first, const struct pair *second)
{
	return explain_kinds_scenario(first->kind, second->kind,
				      first->head_order < second->tail_order &&
					      second->head_order < first->tail_order);
}
