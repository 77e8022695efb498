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

/* Packed, so that the usual granule, of one part, has a line of the cache for its parts. */
struct __attribute__((packed, aligned(4))) reader {
	uint64_t word;
	uint32_t thread;
};

struct __attribute__((packed, aligned(4))) part {
	uint8_t from : 4, to : 4;
	uint8_t room_bits; /* of the readers on the heap: room for 1 << room_bits; 0: they are the few */
	uint16_t write_context;
	uint32_t nreaders;
	uint32_t writer;
	uint64_t write; /* 0 = none */
	union {
		struct reader few[FEW_READERS];
		struct reader *readers;
	};
	uint32_t last_thread, other_thread; /* NOBODY = none */
	uint32_t last_site,
		other_site; /* of the last access, and of the last one by another thread than that */
};

/* There are many of them, so each has no more room than it needs: 1, 2, 4 or 8 parts. */
struct parts {
	uint16_t n, level; /* room for 1 << level */
	struct part items[1];
};
_Static_assert(sizeof(struct parts) == 64, "a line of the cache");

/* Where the only part of a granule lies. */
static inline struct parts *parts_place(const struct cell *cell)
{
	return (struct parts *)((Addr)cell - CELLS_BASE + PARTS_BASE);
}

static inline struct reader *part_readers(struct part *part)
{
	return part->room_bits ? part->readers : part->few;
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

/* Before something about the parts changes. */
static inline void parts_forget_again(struct cell *cell)
{
	cell->again[0].key = cell->again[1].key = 0;
}

/* ---- parts.c ---- */
enum { WRITE_READ = 1, READ_WRITE, WRITE_WRITE }; /* enum pair_kind */
void found_pair(uint32_t kind, uint32_t head_thread, uint64_t head, uint64_t tail, Addr address);
/* Is it the last pair that its tail was the tail of? Then nothing is left to tell, once nobody looks for couples. */
static inline bool pair_is_known(uint32_t kind, uint32_t head_thread, uint32_t head_site, uint32_t tail_site)
{
	uint64_t latest = latest_pairs[tail_site];

	return latest && latest == latest_pair(kind, head_thread, head_site) && grind.thread->has_couples &&
	       !grind.controlled;
}
void part_add_reader(struct part *part, uint32_t thread, uint64_t word);

/* ---- parts_room.c ---- */
struct parts *parts_take(const struct cell *cell, uint32_t n); /* room for so many */
void parts_give(struct cell *cell);                            /* those of the cell are over */
void part_release(struct part *part);                          /* what it has on the heap */
void parts_cut(struct cell *cell, uint32_t at);                /* from here on a part begins at `at` */

/* ---- parts_cells.c ---- */
/* When all that others did was overwritten, nobody has to know of it any more, but for predecessors. */
bool parts_are_private(struct parts *parts, uint32_t me);
bool part_goes_on(const struct part *a, const struct part *b); /* bytes of one history are one part */
void parts_fill(struct cell *cell, const struct part *items, uint32_t n);
/* Somebody else's memory: when it is a stack, its owner must know that frames there are not its own alone. */
void note_stack(Addr address, uint32_t owner);
void parts_to_cell(struct cell *cell, Addr granule, uint32_t me);

#endif
