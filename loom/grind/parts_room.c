/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The room of parts. There are many of them, so each has no more than it needs. */
#include "loom/grind/parts.h"

#define LEVELS 4u
#define SLAB 65536u

static struct parts *spare[LEVELS];
static char *slab, *slab_end;

static struct parts *take(uint32_t level)
{
	struct parts *parts = spare[level];
	SizeT size = offsetof(struct parts, items) + (sizeof *parts->items << level);

	if (parts) {
		spare[level] = parts->next;
	} else {
		if (size > (SizeT)(slab_end - slab)) {
			slab = VG_(malloc)("grind.parts", SLAB);
			slab_end = slab + SLAB;
		}
		parts = (struct parts *)slab;
		slab += size;
		parts->level = level;
	}
	parts->n = 0;
	return parts;
}

struct parts *parts_take(uint32_t n)
{
	return take(n > 4 ? 3 : n > 2 ? 2 : n - 1);
}

static void put_back(struct parts *parts)
{
	parts->next = spare[parts->level];
	spare[parts->level] = parts;
}

void part_release(struct part *part)
{
	if (part->readers_room)
		VG_(free)(part->readers);
}

void parts_give(struct cell *cell)
{
	struct parts *parts = cell->parts;

	for (uint32_t i = 0; i < parts->n; i++)
		part_release(&parts->items[i]);
	put_back(parts);
	cell->parts = NULL;
}

/* Room for one more. */
static struct parts *grow(struct cell *cell)
{
	struct parts *parts = cell->parts;

	if (parts->n < 1u << parts->level)
		return parts;
	struct parts *more = take(parts->level + 1);

	more->n = parts->n;
	for (uint32_t i = 0; i < parts->n; i++)
		more->items[i] = parts->items[i];
	put_back(parts);
	cell->parts = more;
	return more;
}

/* From here on a part begins at `at`. */
void parts_cut(struct cell *cell, uint32_t at)
{
	struct parts *parts = cell->parts;

	for (uint32_t i = 0; i < parts->n && at % 8; i++) {
		struct part *part = &parts->items[i];

		if (part->from >= at || part->to <= at)
			continue;
		parts = grow(cell);
		part = &parts->items[i];
		for (uint32_t k = parts->n; k > i + 1; k--)
			parts->items[k] = parts->items[k - 1];
		parts->n++;
		struct part *second = &parts->items[i + 1];

		*second = *part;
		if (part->readers_room) {
			second->readers =
				VG_(malloc)("grind.readers", part->readers_room * sizeof *part->readers);
			VG_(memcpy)(second->readers, part->readers, part->nreaders * sizeof *part->readers);
		}
		part->to = second->from = (uint8_t)at;
		return;
	}
}
