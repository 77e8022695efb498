/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The layout of what is known of memory, for shadow.c, parts.c and for the code that
 * quick.c puts into the program. Memory is seen in granules of 8 aligned bytes. Each
 * has a cell, which lies at a fixed place beyond what the core hands out, so that
 * an address leads to it by shifts and an addition. Cells take no memory before they
 * are touched. */
#ifndef GRIND_SHADOW_H
#define GRIND_SHADOW_H

#include "loom/grind/tool.h"

#define NEAR_BITS 37 /* Valgrind puts programs below 2^37; what lies higher is not the program's memory */
#define NEAR(address) ((address) & ((1ull << NEAR_BITS) - 1))
#define CELLS_BASE 0x600000000000ull
#define CELL_SIZE 64u                /* a line of the cache */
#define PARTS_BASE 0x640000000000ull /* likewise for each granule, see parts_room.c */
#define MORE_BASE 0x660000000000ull  /* likewise, see shared.c */
#define MORE_SIZE 128u
#define CONTEXTS_BASE 0x620000000000ull /* 2 bytes for each byte: in which context it was written last */

/* A read of shared memory that would teach nothing if it came again: the same thread and site, the same bytes. */
struct again {
	uint64_t key; /* again_key; 0: there is none */
	struct reader *reader;
};

/* Each half of a granule (4 bytes) belongs to nobody, to one thread, or to several: then either it is a struct shared,
 * or the granule has parts, and nothing but `tags`, `again` and `parts` counts. */
struct cell {
	union {
		struct {
			uint16_t write[8],
				read[8]; /* of each byte: sites of the last write and of the last read
						       since; 0 = none */
			uint32_t write_order[2],
				read_order[2]; /* of each half: low bits of those of its last accesses */
		};
		struct again again[2]; /* with parts: by the half that the read begins in */
	};
	uint32_t tags[2];
	struct parts *parts;
};
typedef unsigned __int128 eight; /* a site for each byte of a granule */

/* A cell with TAG_INSIDE, see shared.c. */
struct shared {
	eight write; /* sites of the last writes, */
	eight read;  /* and of reads by `reader` since; 0 = none */
	uint32_t write_order[2], read_order, reader;
	uint32_t tags[2];
	uint8_t more;    /* readers */
	uint8_t zero[2]; /* where tags that are read from an address that is not aligned end */
	uint8_t second;  /* bits of the bytes that the second writer wrote */
	uint16_t writers[2];
};
_Static_assert(sizeof(struct shared) == CELL_SIZE, "one stands for the other");
_Static_assert(offsetof(struct shared, tags) == offsetof(struct cell, tags), "likewise");

/* The highest byte of a tag that has an owner is unlike all others, and `parts` is NULL or begins with small bytes unless
 * there are some, so tags that are read from an address that is not aligned are nobody's. */
#define TAG_OWNER 0x7f7f7fu /* a thread, see tag_of */
#define TAG_OWNED (1u << 31)
#define TAG_FULL (1u << 24) /* all four bytes have been touched, or it makes no difference */
#define TAG_DEAD \
	(1u << 25) /* no memory of the program: a block that was freed, or the space between blocks */
#define TAG_SHARED (1u << 26) /* of both halves */
#define TAG_INSIDE (1u << 27) /* of both halves, too: what is known is in the cell */
#define QUICK_SITES 0xffffu   /* of sites from here on the accesses are kept in parts */

#define CHUNK_BITS 16
#define CHUNK (1ull << CHUNK_BITS)
enum touched {
	UNTOUCHED,
	TOUCHED, /* something there may have a tag */
	NOTED,   /* all of it was written at once, and nothing has happened since: see notes.c */
};

static inline uint32_t tag_of(uint32_t thread)
{
	return TAG_OWNED | (thread & 0x7f) | (thread & 0x3f80) << 1 | (thread & 0x1fc000) << 2;
}
/* The thread that a tag with an owner is of; UINT32_MAX when it has none. */
static inline uint32_t tag_thread(uint32_t tag)
{
	return tag & TAG_OWNED ? (tag & 0x7f) | (tag >> 1 & 0x3f80) | (tag >> 2 & 0x1fc000) : UINT32_MAX;
}
static inline struct cell *cell_at(Addr address)
{
	return (struct cell *)(CELLS_BASE + (NEAR(address) >> 3) * CELL_SIZE);
}
static inline uint16_t *contexts_at(Addr address)
{
	return (uint16_t *)(CONTEXTS_BASE + 2 * NEAR(address));
}
uint64_t order_of(uint32_t low, uint32_t owner); /* the whole order */

static inline uint64_t again_key(uint32_t thread, uint32_t from, uint32_t size, uint32_t site)
{
	return (uint64_t)thread << 40 | (uint64_t)size << 24 | from << 20 | site;
}
_Static_assert(AREA_PLACES <= 1u << 20, "a key holds a site");
_Static_assert(sizeof(struct again[2]) <= offsetof(struct cell, tags), "tags are never overwritten");

/* ---- notes.c: chunks that were written as a whole ---- */
/* Only where nobody has been before. */
void note_write(Addr chunk, uint64_t word);
void note_to_cells(Addr chunk);

/* ---- shared.c: granules that several threads have touched, while the cell has room for them ---- */
bool shared_make(struct cell *cell, Addr granule); /* false: parts must be made of it */
/* False: there is no room, and nothing has been done. */
bool shared_access(struct cell *cell, Addr granule, uint32_t from, uint32_t to, uint64_t word, bool write);
/* A read that came before and teaches nothing; false: it has to be told. */
bool shared_read_again(struct cell *cell, uint32_t from, SizeT size, uint32_t site, uint64_t order);
void shared_to_parts(struct cell *cell);
void shared_forget(struct cell *cell, uint32_t from, uint32_t to);

/* ---- parts.c: granules that several threads have touched ---- */
void parts_make(struct cell *cell, Addr granule);
void parts_access(struct cell *cell, Addr granule, uint32_t from, uint32_t to, uint64_t word, bool write);
/* An access to what nobody but the running thread has touched since, it being the last: no pair, no edge. */
bool parts_own_access(struct cell *cell, uint32_t from, uint32_t to, uint64_t word, bool write);
/* A read that needs nothing but its pairs told: nobody looks for couples any more, and for other observers it is what
 * the running thread did there last. False: it has to be told as any other. */
bool parts_read_again(struct cell *cell, Addr granule, uint32_t from, uint32_t to, uint64_t word);
void parts_forget(struct cell *cell, uint32_t from, uint32_t to);
bool parts_are_open(struct cell *cell, uint32_t from, uint32_t to, bool write);
bool order_is_open(const struct thread *thread, uint64_t order);

extern struct shadow {
	uint8_t *quick;     /* by site: what it does to private memory teaches nothing, and it is no point */
	uint32_t quick_end; /* from here on `quick` has not been written to */
	uint8_t *touched;   /* for each chunk of memory, 64 KiB: enum touched */
	bool touched_dead;  /* an access began in dead memory */
	bool inside;        /* granules may be struct shared */
} shadow;

#endif
