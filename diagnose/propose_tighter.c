/* A group that spans two sections of a lock can be told by several accesses of the later
 * one: who is kept from one of them is kept from all. What others did shows in a thread
 * where it reads, so the group is told by the first read behind its first section that sees what
 * another thread wrote since the group began. A read that only serves an update of the same
 * variable decides nothing and is passed over. The first section is told in the same way: by
 * its last write that another thread reads meanwhile, else by its last read of what another
 * one writes. So the same fault is told alike whichever accesses of its sections were proposed.
 */
#include "base/hash.h"
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

static bool is_conflict_with(const struct observations *run, size_t own, size_t other, bool write)
{
	return run->events[other].thread != run->events[own].thread && run->events[other].write == write &&
	       overlap(&run->events[own], &run->events[other]);
}

/* Another thread's first access, before `end`, that reads what `own` wrote, not only to update it, or that writes what
 * it read; `end` when there is none. */
static size_t meeting(const struct evidence *evidence, size_t own, size_t end)
{
	const struct observations *run = evidence->run;
	bool write = run->events[own].write;

	for (size_t i = own + 1; i < end; i++)
		if (is_conflict_with(run, own, i, !write) && (!write || !is_update(evidence, i)))
			return i;
	return end;
}

/* The access of the first section by which the group is told: its last write that another thread reads before `end`,
 * else its last read of what another one writes; `end` when there is none. */
static size_t find_begin(const struct evidence *evidence, const struct claim_part *first, size_t end)
{
	const struct observations *run = evidence->run;
	size_t at = first->at, start, section, found = end;

	/* Where it begins outside of all sections, the first one behind that. */
	while (at < end &&
	       (run->events[at].thread != first->thread || !group_section(run, first->thread, at, &start)))
		at++;
	if (at == end)
		return end;
	for (size_t i = start; i < end; i++) {
		const struct event *event = &run->events[i];

		if (event->thread != first->thread)
			continue;
		if (!group_section(run, event->thread, i, &section) || section != start)
			break;
		if ((event->write || found == end || !run->events[found].write) &&
		    meeting(evidence, i, end) < end)
			found = i;
	}
	return found;
}

/* The group that ends at the read: its first access, those of others at the same memory, the write, the read. */
static size_t add(const struct evidence *evidence, const struct claim_parts *wide, size_t write, size_t read,
		  struct proposals *list)
{
	const struct observations *run = evidence->run;
	struct claim_parts parts = { .items = { wide->items[0] }, .n = 1 };
	size_t begin = find_begin(evidence, &wide->items[0], read);

	if (begin < write) {
		size_t met = meeting(evidence, begin, read), early = met < write ? met : write;
		bool one = run->events[met].thread == run->events[write].thread &&
			   overlap(&run->events[met], &run->events[write]);

		parts.items[0] = claim_part_of(run, evidence->atlas, begin);
		if (!one) /* else the last of its writes there is enough */
			parts.items[parts.n++] = claim_part_of(run, evidence->atlas, early);
		write = met > write ? met : write;
	}
	for (size_t i = 1; i < wide->n && begin >= write && parts.n + 2 < CLAIM_STEPS; i++) {
		const struct claim_part *part = &wide->items[i];

		if (part->thread != wide->items[0].thread && part->at != CLAIM_NOT_TRACED &&
		    part->at < write && overlap(&run->events[part->at], &run->events[wide->items[0].at]))
			parts.items[parts.n++] = *part;
	}
	parts.items[parts.n++] = claim_part_of(run, evidence->atlas, write);
	parts.items[parts.n++] = claim_part_of(run, evidence->atlas, read);
	return proposals_add(list, evidence, CLAIM_ATOMIC, &parts);
}

/* The end of the section in which the group begins: the first event of its thread that lies behind it. */
static size_t first_section_end(const struct observations *run, const struct claim_part *first)
{
	size_t begin, section, i = first->at + 1;

	if (!group_section(run, first->thread, first->at, &begin))
		return i;
	while (i < run->nevents && (run->events[i].thread != first->thread ||
				    (group_section(run, first->thread, i, &section) && section == begin)))
		i++;
	return i;
}

size_t propose_tighter(const struct evidence *evidence, const struct claim_parts *wide, size_t *from,
		       struct proposals *list)
{
	const struct observations *run = evidence->run;
	const struct claim_part *first = &wide->items[0], *last = group_end(wide);
	_cleanup_(map_free) struct map writers = {
		0
	}; /* granule to the last foreign write since the group began */
	size_t start;

	if (first->at >= run->nevents || last->at >= run->nevents ||
	    !group_section(run, first->thread, last->at, &start) || start <= first->at)
		return SIZE_MAX;
	size_t behind = first_section_end(run, first);

	for (size_t i = first->at + 1; i <= last->at; i++) {
		const struct event *event = &run->events[i];

		if (event->write && event->thread != first->thread)
			*map_put(&writers, event->address >> 3, NULL) = i;
		if (event->write || event->thread != first->thread || i < behind || i < *from)
			continue;
		const uint64_t *write = map_get(&writers, event->address >> 3);

		if (!write || !overlap(&run->events[*write], event) || is_update(evidence, i))
			continue;
		*from = i + 1;
		return add(evidence, wide, *write, i, list);
	}
	return SIZE_MAX;
}
