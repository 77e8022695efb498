/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The room of parts. There are many of them, so each has no more than it needs. One
 * part lies at a place of its granule's own, so that who walks through memory walks
 * through parts, too; more lie in slabs. */
#include "loom/grind/parts.h"

#define LEVELS 4u
#define SLAB 65536u
#define LINE 64u

static struct parts *spare[LEVELS]; /* each leads to the next */
static char *slab, *slab_end;

static struct parts **next_of(struct parts *parts)
{
	return (struct parts **)(void *)((char *)parts + LINE);
}

static struct parts *take(const struct cell *cell, uint32_t level)
{
	struct parts *parts = level ? spare[level] : parts_place(cell);
	SizeT size = LINE << level;

	if (level && parts) {
		spare[level] = *next_of(parts);
	} else if (level) {
		if (size > (SizeT)(slab_end - slab)) {
			slab = VG_(malloc)("grind.parts", SLAB + LINE);
			slab += -(Addr)slab % LINE;
			slab_end = slab + SLAB;
		}
		parts = (struct parts *)slab;
		slab += size;
	}
	parts->level = (uint16_t)level;
	parts->n = 0;
	return parts;
}
_Static_assert(offsetof(struct parts, items) + 2 * sizeof(struct part) <= 2 * LINE, "so it is on all levels");

struct parts *parts_take(const struct cell *cell, uint32_t n)
{
	return take(cell, n > 4 ? 3 : n > 2 ? 2 : n - 1);
}

static void put_back(struct parts *parts)
{
	if (!parts->level)
		return;
	*next_of(parts) = spare[parts->level];
	spare[parts->level] = parts;
}

void part_release(struct part *part)
{
	if (part->room_bits)
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
	struct parts *more = take(cell, parts->level + 1u);

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
		if (part->room_bits) {
			second->readers =
				VG_(malloc)("grind.readers", sizeof *part->readers << part->room_bits);
			VG_(memcpy)(second->readers, part->readers, part->nreaders * sizeof *part->readers);
		}
		part->to = second->from = (uint8_t)at;
		return;
	}
}
