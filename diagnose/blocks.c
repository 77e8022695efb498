/* Which heap blocks a finding is about: looks the finding's accesses up in the traced
 * run, and the blocks that their addresses lay in at that time.
 */
#include <string.h>

#include "base/memory.h"
#include "diagnose/shown_accesses.h"
#include "report/diagnosis_words.h"

/* The last event that is this access, by its thread if that did it; run->nevents: none. */
static size_t find_event(const struct trace *trace, const struct finding_access *access)
{
	const struct observations *run = trace->run;
	size_t any = run->nevents;

	for (size_t at = run->nevents; at-- > 0;) {
		const struct event *event = &run->events[at];
		const struct site *site = atlas_number(trace->atlas, event->site);

		if (!site || !trace_is_access(site, event->write, access))
			continue;
		if (event->thread == access->thread)
			return at;
		if (any == run->nevents)
			any = at;
	}
	return any;
}

/* The youngest block that the address was part of when the event happened. */
static const struct block *find_block(const struct observations *run, size_t at)
{
	uint64_t address = run->events[at].address;

	for (size_t i = run->nblocks; i-- > 0;) {
		const struct block *block = &run->blocks[i];

		if (block->before <= at && address - block->address < block->size)
			return block;
	}
	return NULL;
}

static char *describe(const struct trace *trace, const struct block *block)
{
	const struct site *site = atlas_number(trace->atlas, block->site);

	return site ? diagnosis_block_words(site, block->size) : NULL;
}

void trace_name_blocks(const struct trace *trace, struct finding *finding)
{
	for (size_t i = 0; trace->run && trace->run->nblocks && i < finding->accesses.n; i++) {
		const struct finding_access *access = &finding->accesses.items[i];
		size_t at = access->role || access->missing ? trace->run->nevents : find_event(trace, access);
		const struct block *block = at < trace->run->nevents ? find_block(trace->run, at) : NULL;
		char *words = block ? describe(trace, block) : NULL;
		bool known = !words;

		for (size_t j = 0; j < finding->blocks.n && !known; j++)
			known = !strcmp(finding->blocks.items[j], words);
		if (known)
			cleanup_free(&words);
		else
			*VEC_PUSH(&finding->blocks) = words;
	}
}
