/* What the inlined fast path and the runtime agree on: where a location's cell
 * lies, what a cell holds, and how a thread presents itself. The fast path is
 * in hooks.c, everything else in the other files of this folder.
 *
 * Memory is seen in granules of 8 aligned bytes. A granule is one unit of 8
 * bytes, or two halves, each one unit of 4, two of 2 or four of 1: the largest
 * cut that no access so far has crossed. Every unit has a cell of its own, so
 * neighbours are never confused; a cut copies the history. */
#ifndef RUNTIME_LAYOUT_H
#define RUNTIME_LAYOUT_H

#include <signal.h>
#include <stdint.h>

/* Event word: thread slot 10 | site 22 | thread-local order, low 32 bits. */
#define WORD_SITE_SHIFT 32
#define WORD_SLOT_SHIFT 54
#define WORD_SITE_MASK 0x3fffffu
#define WORD_SLOT(word) ((uint32_t)((word) >> WORD_SLOT_SHIFT))
#define WORD_SITE(word) ((uint32_t)((word) >> WORD_SITE_SHIFT) & WORD_SITE_MASK)
#define WORD_ORDER(word) ((uint32_t)(word))

struct cell {
	uint64_t write;   /* last write, 0 = none */
	uint64_t read;    /* last read since; in an owned cell it may be older than the write; in a MANY cell
			     the number of a block of readers (no slot: no word looks like that) */
	uint32_t before;  /* site of the last access by another thread than the last one's, 0 = nil */
	uint16_t context; /* of the last writer when it wrote */
	uint16_t owner;   /* slot 10 | unit length 4 | flags 2 */
};

/* Flags of `owner`. Neither flag: all accesses recorded here are of the slot's
 * thread, or, with slot 0, there are none. ONE: another thread wrote, the slot's
 * thread is the only one that read since. MANY: several threads read since. */
enum { OWNER_ONE = 1, OWNER_MANY = 2 };
#define OWNER(slot, length, flags) ((uint16_t)((slot) << 6 | (length) << 2 | (flags)))
#define OWNER_SLOT(owner) ((uint32_t)(owner) >> 6)
#define OWNER_LENGTH(owner) ((uint32_t)(owner) >> 2 & 15u)
#define OWNER_FLAGS(owner) ((uint32_t)(owner) & 3u)

/* User addresses differ in their low 43 bits as long as mmap_rnd_bits is at most
 * 28: non-PIE images lie below 2^40, PIE images from 0x555..., the rest from
 * 0x7e0... up. Lower halves (and whole granules) have their cells from CELLS on,
 * 3 bytes per byte; upper halves 2^45 higher; the rest of a granule that is cut
 * into 1 or 2 bytes lies in a block of 6 cells whose number is in the SPLITS
 * plane. The odd displacement keeps a cell off its data's low address bits. All of it
 * lies beside AddressSanitizer's shadow (0x7fff8000 to 0x10007fff8000). */
#define ADDRESS_MASK 0x7fffffffff8ull
#define CELLS_START 0x100100000840ull
#define CELLS_SIZE (3ull << 43)
#define UPPER_SHIFT 43 /* address bit 2 moved to bit 45 */
#define UPPER_DISPLACEMENT (4ull << UPPER_SHIFT)
#define SPLITS_START 0x290000000000ull
#define SPLITS_SIZE (1ull << 42)
#define LINES_START 0x2d0000000000ull
#define LINES_SIZE (1ull << 41) /* 16 bytes per 64-byte line */

static inline struct cell *layout_cell(uint64_t address) /* of a unit at offset 0 or 4 */
{
	return (struct cell *)(3 * (address & ADDRESS_MASK) + ((address & 4) << UPPER_SHIFT) + CELLS_START);
}

/* A site's memo: predecessors of the site that are already logged, by their low
 * bits, so that a site that meets several of them stays on the fast path. */
#define MEMO_ENTRIES 4u
#define MEMO(memo, before) ((memo)[(before) % MEMO_ENTRIES])

/* Stores only news: every thread reads a site's memo. */
static inline void memo_set(uint32_t *memo, uint32_t before)
{
	if (MEMO(memo, before) != before)
		__atomic_store_n(&MEMO(memo, before), before, __ATOMIC_RELAXED);
}

#define LOOP_RING 1024u /* loop steps remembered per thread, a power of two */

struct loop_step {
	uint64_t order; /* thread-local order of the last access before the step */
	uint64_t where; /* site of the loop | which entry << 32; 0 = in no loop */
	uint64_t iteration;
};

/* Reads of shared data that this thread need not repeat (see cell.c). */
struct read_again {
	const struct cell *cell;
	uint64_t value; /* mixed from the last write and the reading site */
};

/* How many shared reads of a site in a row brought nothing new. */
struct calm {
	uint32_t site, count;
};

/* One per slot, never unmapped. Fields above the line are used by inlined code:
 * their offsets are part of its contract. */
/* A pair that a thread took part in, for couples (couples.c). */
struct recent_pair {
	uint32_t version; /* odd while another thread writes the entry */
	uint32_t kind;    /* 0: none */
	uint32_t head_site, tail_site;
	uint32_t other;                  /* number of the other thread */
	uint32_t head_order, tail_order; /* their low bits */
	uint32_t reserved;
	uint64_t address;
};
#define RECENT_PAIRS 32u
/* A thread that has met so many pairs without a new couple looks for no more: programs
 * that share at every turn would else spend most of their time with it. Nothing false
 * comes of it, since only what a thread itself remembers makes a couple. */
#define COUPLES_PATIENCE 20000u

struct thread {
	uint64_t word;       /* slot << WORD_SLOT_SHIFT */
	uint64_t order;      /* accesses so far */
	uint16_t owner;      /* OWNER(slot, 0, 0); OWNER_NEVER when the fast path must not be taken */
	uint32_t loop_steps; /* pushed into `loops` so far */
	uint32_t loop_entries;
	struct cell *cells;                  /* CELLS_START, for inlined code */
	uint64_t loop_where, loop_iteration; /* the step that goes on */
	uint32_t context; /* last communication events, as far as this thread has taken notice of them */
	uint32_t sync;    /* site of the synchronisation call that goes on, 0 = not known */
	/* ---- */
	/* Events that others caused and this thread has not noticed: count << 16 | events. Atomic, and on a
	 * cache line of its own. */
	uint32_t mailbox __attribute__((aligned(64)));
	uint32_t slot __attribute__((aligned(64)));
	uint32_t number;     /* run-wide */
	uint32_t generation; /* of the slot */
	uint32_t state;      /* enum thread_state */
	/* The lock this thread holds or is about to take: a signal handler that comes now must stay out. */
	uint32_t *held;
	uint64_t random;
	uint64_t stack_low, stack_high;
	void *routine, *argument; /* what the thread begins with */
	sigset_t mask;            /* and its signal mask */
	uint32_t restores_mask;
	uint32_t controlled; /* it has an agent (control.h) */
	struct {
		uint32_t first, last, count; /* blocks to reuse, oldest first */
	} spare_readers, spare_splits;
	uint32_t news;        /* observations that this thread was the first to log */
	uint32_t quiet_pairs; /* pairs met since the last new couple */
	struct read_again again[2048];
	struct calm calm[512];
	uint64_t logged[1024][2]; /* pairs and edges already logged, direct-mapped by key */
	uint64_t met[8192];       /* predecessors already logged: site << 32 | before */
	struct loop_step loops[LOOP_RING];
	uint32_t next_met, next_taken;
	struct recent_pair met_pairs[RECENT_PAIRS];   /* this thread is the tail; its own */
	struct recent_pair taken_pairs[RECENT_PAIRS]; /* this thread is the head; atomic */
};

#define OWNER_NEVER 0xffffu

/* Calm sites (cell.c): true when this thread's last read of a value that several
 * threads have read was at this very site, and the site is calm. */
static inline struct read_again *again_place(struct thread *self, const struct cell *cell)
{
	return &self->again[((uint64_t)cell >> 3) % 2048];
}

static inline uint64_t again_value(const struct cell *cell, uint64_t word)
{
	return cell->write + (word >> 32) * 0xc4ceb9fe1a85ec53u;
}

static inline int reads_again(struct thread *self, const struct cell *cell, uint64_t word, uint32_t length)
{
	const struct read_again *again = again_place(self, cell);
	return again->cell == cell && again->value == again_value(cell, word) &&
	       (cell->owner & 63u) == (length << 2 | OWNER_MANY);
}

#endif
