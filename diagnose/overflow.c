/* A step of a walk is a write that begins where the last one of its thread at the same
 * line ended. Only these and long accesses are looked up among the blocks: others say
 * nothing of where they belong.
 */
#include "diagnose/overflow.h"

#include "base/hash.h"
#include "base/memory.h"

#define LOOKED_MOST 200000u /* look-ups */
#define LONG 8u             /* bytes */

/* The youngest block that held the address when so many events had happened; NULL: none. */
static const struct block *block_at(const struct observations *run, uint64_t address, size_t before)
{
	for (size_t i = run->nblocks; i-- > 0;) {
		const struct block *block = &run->blocks[i];

		if (block->before <= before && address - block->address < block->size)
			return block;
	}
	return NULL;
}

static uint64_t line_key(const struct atlas *atlas, const struct event *event)
{
	const struct site *site = atlas_number(atlas, event->site);

	return (uint64_t)event->thread << 32 | (site ? site->line : 0);
}

/* Does the access at `at` leave its block, or is it the step behind the block of the one before it? */
static bool leaves(const struct observations *run, size_t at, const struct event *last)
{
	const struct event *event = &run->events[at];
	const struct block *block;

	if (event->size > LONG) {
		block = block_at(run, event->address, at);
		return block && event->size > block->address + block->size - event->address;
	}
	if (!last || last->address + last->size != event->address)
		return false;
	block = block_at(run, last->address, at);
	return block && block->address + block->size == event->address;
}

size_t overflow_find(const struct observations *run, const struct atlas *atlas)
{
	_cleanup_(map_free) struct map last = { 0 }; /* write of a thread at a line, + 1 */
	size_t found = run->nevents;

	for (size_t i = 0, looked = 0; i < run->nevents && found == run->nevents && looked < LOOKED_MOST;
	     i++) {
		const struct event *event = &run->events[i];

		const struct site *site = atlas_number(atlas, event->site);

		/* That a block is freed is a write to all that libc has there. */
		if (!event->write || (site && site_frees(site)))
			continue;
		uint64_t *place = map_put(&last, line_key(atlas, event), NULL);
		const struct event *before = *place ? &run->events[*place - 1] : NULL;

		looked += event->size > LONG || before;
		if (leaves(run, i, before))
			found = i;
		*place = i + 1;
	}
	return found;
}
