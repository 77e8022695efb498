/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The parts of a granule that several threads have touched, for the files that make
 * them of a cell (parts_cells.c), keep their room (parts_room.c) and look after them
 * (parts.c). */
#ifndef GRIND_PARTS_H
#define GRIND_PARTS_H

#include "loom/grind/shadow.h"

#define NOBODY UINT32_MAX /* no thread */
#define FEW_READERS 2u

struct reader {
	uint64_t word;
	uint32_t thread;
};

struct part {
	uint8_t from, to;
	uint16_t write_context;
	uint32_t writer;
	uint64_t write; /* 0 = none */
	uint32_t nreaders, readers_room;
	union {
		struct reader few[FEW_READERS]; /* readers_room is 0 */
		struct reader *readers;         /* more, on the heap */
	};
	uint32_t last_thread, other_thread; /* NOBODY = none */
	uint32_t last_site,
		other_site; /* of the last access, and of the last one by another thread than that */
};

/* There are many of them, so each has no more room than it needs: 1, 2, 4 or 8 parts. */
struct parts {
	uint32_t n, level; /* room for 1 << level */
	union {
		struct part items[1];
		struct parts *next; /* of those that nobody uses */
	};
};

static inline struct reader *part_readers(struct part *part)
{
	return part->readers_room ? part->readers : part->few;
}

static inline bool part_is_foreign(const struct part *part, uint32_t me)
{
	return part->write && part->writer != me;
}

/* There are accesses since and including the last write, all by `me`. */
static inline bool part_is_own(struct part *part, uint32_t me)
{
	if (part_is_foreign(part, me))
		return false;
	struct reader *readers = part_readers(part);

	for (uint32_t i = 0; i < part->nreaders; i++)
		if (readers[i].thread != me)
			return false;
	return part->write || part->nreaders;
}

/* ---- parts_room.c ---- */
struct parts *parts_take(uint32_t n);           /* room for so many */
void parts_give(struct cell *cell);             /* those of the cell are over */
void part_release(struct part *part);           /* what it has on the heap */
void parts_cut(struct cell *cell, uint32_t at); /* from here on a part begins at `at` */

/* ---- parts_cells.c ---- */
/* When all that others did was overwritten, nobody has to know of it any more, but for predecessors. */
bool parts_are_private(struct parts *parts, uint32_t me);
void parts_to_cell(struct cell *cell, Addr granule, uint32_t me);

#endif
