/* A group that spans two sections of a lock can be told by several accesses of the second
 * one: who is kept from one of them is kept from all. What others did shows in a thread
 * where it reads, so the group is told by the first read of that section that sees what
 * another thread wrote since the group began. A read that only serves an update of the same
 * variable decides nothing and is passed over.
 */
#include "diagnose/proposals.h"

static bool overlap(const struct event *a, const struct event *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

/* Is what it reads written again by the next access of its thread to that memory, on the same line? */
static bool is_update(const struct evidence *evidence, size_t read)
{
	const struct observations *run = evidence->run;

	for (size_t i = read + 1; i < run->nevents; i++) {
		const struct event *event = &run->events[i];

		if (event->thread != run->events[read].thread || !overlap(event, &run->events[read]))
			continue;
		const struct site *site = atlas_number(evidence->atlas, event->site);
		const struct site *own = atlas_number(evidence->atlas, run->events[read].site);

		return event->write && site && own && site->line == own->line;
	}
	return false;
}

/* The last write of another thread to what is read, since the group began; `begin` when there is none. */
static size_t seen_write(const struct observations *run, size_t begin, size_t read)
{
	for (size_t i = read; --i > begin;)
		if (run->events[i].thread != run->events[read].thread && run->events[i].write &&
		    overlap(&run->events[i], &run->events[read]))
			return i;
	return begin;
}

/* The group that ends at the read: its first access, those of others at the same memory, the write, the read. */
static size_t add(const struct evidence *evidence, const struct claim_parts *wide, size_t write, size_t read,
		  struct proposals *list)
{
	const struct observations *run = evidence->run;
	struct claim_parts parts = { .items = { wide->items[0] }, .n = 1 };

	for (size_t i = 1; i < wide->n && parts.n + 2 < CLAIM_STEPS; i++) {
		const struct claim_part *part = &wide->items[i];

		if (part->thread != wide->items[0].thread && part->at != CLAIM_NOT_TRACED &&
		    part->at < write && overlap(&run->events[part->at], &run->events[wide->items[0].at]))
			parts.items[parts.n++] = *part;
	}
	parts.items[parts.n++] = claim_part_of(run, evidence->atlas, write);
	parts.items[parts.n++] = claim_part_of(run, evidence->atlas, read);
	return proposals_add(list, evidence, CLAIM_ATOMIC, &parts);
}

size_t propose_tighter(const struct evidence *evidence, const struct claim_parts *wide,
		       struct proposals *list)
{
	const struct observations *run = evidence->run;
	const struct claim_part *first = &wide->items[0], *last = group_end(wide);
	size_t start;

	if (first->at >= run->nevents || last->at >= run->nevents ||
	    !group_section(run, first->thread, last->at, &start) || start <= first->at)
		return SIZE_MAX;
	for (size_t i = start; i < last->at; i++) {
		const struct event *event = &run->events[i];

		if (event->thread != first->thread || event->write || is_update(evidence, i))
			continue;
		size_t write = seen_write(run, first->at, i);

		if (write > first->at)
			return add(evidence, wide, write, i, list);
	}
	return SIZE_MAX;
}
