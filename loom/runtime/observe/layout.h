/* What the inlined fast path and the runtime agree on: where a location's cell
 * lies, what a cell holds, and how a thread presents itself. The fast path is
 * in hooks.c, everything else in the other files of this folder.
 *
 * Memory is seen in granules of 8 aligned bytes. A cell tells the history of a
 * whole granule, of half of one, or of a byte; how a granule is divided depends on
 * how it is used (granule.c), and never mixes the histories of two bytes. */
#ifndef RUNTIME_LAYOUT_H
#define RUNTIME_LAYOUT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Event word: thread slot 10 | site 22 | thread-local order, low 32 bits. */
#define WORD_SITE_SHIFT 32
#define WORD_SLOT_SHIFT 54
#define WORD_SITE_MASK 0x3fffffu
#define WORD_SLOT(word) ((uint32_t)((word) >> WORD_SLOT_SHIFT))
#define WORD_SITE(word) ((uint32_t)((word) >> WORD_SITE_SHIFT) & WORD_SITE_MASK)
#define WORD_ORDER(word) ((uint32_t)(word))

/* The first 8 bytes are always stored at once, so that sites are never taken for
 * another thread's. */
struct cell {
	uint32_t
		history; /* number of a history (history.c), of an array or of a cut; high bits: HISTORY_WRITER */
	uint16_t context; /* of the last writer when it wrote */
	uint16_t owner;   /* slot 10 | form 4 | mode 2 */
	uint32_t write;   /* order of the last write */
	uint32_t read;    /* order of the last read since; in a MANY cell the number of a block of readers */
} __attribute__((aligned(16)));

#define HISTORY_BITS 22u
#define HISTORY(word) ((uint32_t)(word) & ((1u << HISTORY_BITS) - 1))
#define HISTORY_WRITER(word) ((uint32_t)(word) >> HISTORY_BITS) /* slot; in ONE and MANY cells */

/* Modes. ALL: every access recorded here is of the slot's thread, or, with slot 0, there
 * is none. ONE: another thread was here alone (HISTORY_WRITER), then the slot's thread read;
 * `write` is then the order of the other's last access. MANY: more threads read since the last write. CUT: parts of the granule have cells of their own (parts.c). */
enum { MODE_ALL, MODE_ONE, MODE_MANY, MODE_CUT };
/* Forms: what the cell covers. ARRAY: a granule whose bytes have different histories. Any
 * may be PRIVATE besides: the cell is of mode ALL, no other thread was ever here, and it holds its
 * thread's last write and last read since as they are, so that no access needs to know what was before:
 *     owner 16 | site of the write 22 | low bits of its order 26
 *     low bits of the order of the read 26 | its site 22, 0 = none | context of the write 16
 * or, with an ARRAY, `history` is the number of a row of sites (rows.c). */
enum { FORM_NONE = 0, FORM_PART = 1, FORM_HALF = 4, FORM_WHOLE = 8, FORM_ARRAY = 9, FORM_PRIVATE = 2 };
#define FORM_NO_MEMOS \
	16u /* besides a unit's form: the site reads and writes, its memos are not for this access */
#define PRIVATE_ORDER_BITS 26u
#define PRIVATE_ORDER ((1ull << PRIVATE_ORDER_BITS) - 1)
#define PRIVATE_READ_ORDER 38u /* where these bits are in the second half */
#define OWNER(slot, form, mode) ((uint16_t)((slot) << 6 | (form) << 2 | (mode)))
#define OWNER_SLOT(owner) ((uint32_t)(owner) >> 6)
#define OWNER_FORM(owner) ((uint32_t)(owner) >> 2 & 15u & ~(uint32_t)FORM_PRIVATE)
#define OWNER_IS_PRIVATE(owner) ((uint32_t)(owner) >> 2 & FORM_PRIVATE)
#define OWNER_MODE(owner) ((uint32_t)(owner) & 3u)

/* User addresses differ in their low 43 bits as long as mmap_rnd_bits is at most
 * 28: non-PIE images lie below 2^40, PIE images from 0x555..., the rest from
 * 0x7e0... up. Whole granules and lower halves have their cells from CELLS on, 2
 * bytes per byte; upper halves 2^45 higher. The odd displacement keeps a cell off
 * its data's low address bits. All of it lies beside AddressSanitizer's shadow
 * (0x7fff8000 to 0x10007fff8000). */
#define ADDRESS_MASK 0x7fffffffff8ull
#define CELLS_START 0x100100000840ull
#define CELLS_SIZE (2ull << 43)
#define UPPER_SHIFT 43 /* address bit 2 moved to bit 45 */
#define UPPER_DISPLACEMENT (4ull << UPPER_SHIFT)
#define LINES_START 0x2d0000000000ull
#define LINES_SIZE (1ull << 41) /* 16 bytes per 64-byte line */

static inline struct cell *layout_cell(uint64_t address) /* of a granule, or of a half */
{
	return (struct cell *)(2 * (address & ADDRESS_MASK) + ((address & 4) << UPPER_SHIFT) + CELLS_START);
}

static inline struct cell *layout_whole(uint64_t address)
{
	return (struct cell *)(2 * (address & ADDRESS_MASK) + CELLS_START);
}

/* The address as a whole: else its constant part is loaded for each use. */
static inline __attribute__((always_inline)) struct cell *in_register(struct cell *cell)
{
	__asm__("" : "+r"(cell));
	return cell;
}

#define layout_cell8 layout_whole
#define layout_cell4 layout_cell

/* A site's memos, of each thread: a state that an access there met, and what the state became. What such an
 * access teaches is logged already. Each is for some of the states. */
struct memo {
	uint64_t from; /* the cell's first 8 bytes less the thread's tag, so that zeroed memos fit nothing */
	uint64_t to;   /* MEMO_PASS: the access leaves no trace at all; both without context */
};
#define MEMO_PASS 0ull
#define MEMOS_PER_SITE 8u

static inline struct memo *memo_for(struct memo *memos, uint64_t low)
{
	return memos + low % MEMOS_PER_SITE;
}

/* What an access teaches its thread about its own cells does not depend on the context. */
#define LOW_CONTEXT_BITS (0xffffull << 32)
static inline uint64_t low_without_context(uint64_t low)
{
	return low & ~LOW_CONTEXT_BITS;
}
#define MEMOS_START 0x221000000000ull
#define MEMOS_SIZE (1ull << 30) /* of one slot */

/* A site's mark, a byte for all threads: 0 until it is logged that the site found nobody before it. */
#define MARKS_START 0x220038000000ull
#define MARKS_SIZE (1ull << 22)
/* Behind the marks another byte: under control, 0 until it is known that accesses at the site need not all be
 * seen (points.c). */
#define PASSES_START (MARKS_START + MARKS_SIZE)

/* Of a compiled unit; laid out by loom/compile/weave_unit.c. */
struct unit_descriptor {
	uint64_t hash;
	uint64_t nsites;
	uint64_t first; /* set by the runtime: number of its first site << WORD_SITE_SHIFT */
	void *table;    /* inside the ELF image that holds it */
};

static inline uint64_t cell_low(const struct cell *cell)
{
	return __atomic_load_n((const uint64_t *)cell, __ATOMIC_RELAXED);
}

#define LOW_OWNER(low) ((uint16_t)((low) >> 48))
#define LOW_CONTEXT(low) ((uint16_t)((low) >> 32))

/* Accesses to what is private to this thread, where the site's mark says that they teach nothing. The
 * halves of a cell are stored at once: no write is seen with another one's context. */
typedef long long cell_bits __attribute__((vector_size(16)));

static inline int site_is_marked(uint64_t site)
{
	return *(const volatile uint8_t *)(MARKS_START + site);
}

static inline void site_mark(uint64_t site)
{
	if (!site_is_marked(site)) /* it is read by all */
		*(volatile uint8_t *)(MARKS_START + site) = 1;
}

static inline void site_passes(uint64_t site)
{
	*(volatile uint8_t *)(PASSES_START + site) = 1;
}

/* `owner` is with form and PRIVATE. */
static inline int cell_is_private(const struct cell *cell, uint16_t owner)
{
	return owner == *(const volatile uint16_t *)&cell->owner;
}

/* What a read keeps of the second half: looked at before the cell is found to be private, and left alone
 * where it stays as it is, so that a thread that polls harms nothing when another one comes in between.
 * Then it looks once more whether one came: it may well be what it waits for. */
static inline uint32_t cell_private_past(const struct cell *cell)
{
	return *(const volatile uint32_t *)&cell->write;
}

static inline int cell_private_read(struct cell *cell, uint16_t owner, uint64_t site, uint64_t order,
				    uint32_t past)
{
	uint64_t read = order << PRIVATE_READ_ORDER | site << 16;
	if (((uint32_t)read | (uint16_t)past) == past) {
		*(volatile uint32_t *)&cell->read = (uint32_t)(read >> 32);
		return cell_is_private(cell, owner);
	}
	*((volatile uint64_t *)cell + 1) = read | (uint16_t)past;
	return 1;
}

/* `mine` is the owner where the first half has it. */
static inline void cell_private_write(struct cell *cell, uint64_t mine, uint64_t site, uint32_t context,
				      uint64_t order)
{
	uint64_t low = mine + (site << PRIVATE_ORDER_BITS) + (order & PRIVATE_ORDER);
	cell_bits all = { (long long)low, (uint16_t)context };
	*(volatile cell_bits *)cell = all;
}

/* An access that a memo knows. A state that stays is not stored: then another thread's first access
 * is never written over. */
static inline int cell_quick_read(struct cell *cell, uint64_t tag, uint32_t order, struct memo *memos)
{
	uint64_t low = cell_low(cell), state = low_without_context(low);
	const struct memo *memo = memo_for(memos, low);
	if (__builtin_expect(state - tag != memo->from, 0))
		return 0;
	if (__builtin_expect(memo->to == MEMO_PASS, 0))
		return 1;
	if (memo->to != state)
		*(uint64_t *)cell = memo->to | (low & LOW_CONTEXT_BITS);
	cell->read = order;
	return 1;
}

static inline int cell_quick_write(struct cell *cell, uint64_t tag, uint32_t context, uint32_t order,
				   struct memo *memos)
{
	uint64_t low = cell_low(cell);
	const struct memo *memo = memo_for(memos, low);
	uint64_t to = memo->to | (uint64_t)(uint16_t)context << 32;
	if (__builtin_expect(low_without_context(low) - tag != memo->from, 0))
		return 0;
	if (__builtin_expect(memo->to == MEMO_PASS, 0))
		return 1;
	if (to != low)
		*(uint64_t *)cell = to;
	cell->write = order;
	return 1;
}

/* Accesses side by side with one hook: bytes in all, bytes of each, orders from one to the next. */
#define GROUP_SHAPE(length, size, step) ((uint64_t)(length) << 48 | (uint64_t)(size) << 32 | (step))
#define GROUP_LENGTH(shape) ((shape) >> 48)
#define GROUP_SIZE(shape) ((shape) >> 32 & 0xffff)
#define GROUP_STEP(shape) ((uint32_t)(shape))

#define LOOP_RING 1024u /* loop steps remembered per thread, a power of two */

struct loop_step {
	uint64_t order; /* thread-local order of the last access before the step */
	uint64_t where; /* site of the loop | which entry << 32; 0 = in no loop */
	uint64_t iteration;
};

/* What an access makes of a cell that another thread was at, whom it meets, and all that this depends
 * on but contexts, which are in none of the states. What it teaches is logged, but for its edge (change.h). */
struct change {
	uint64_t state, event;
	uint64_t next;     /* first half of the cell then */
	uint32_t before;   /* the predecessor until then */
	uint32_t source;   /* of its edge: a site, EDGE_FROM_NOBODY or EDGE_NONE */
	uint16_t meets[2]; /* slots of threads whose contexts it enters, 0 = none */
	uint64_t edges[2]; /* contexts of the last edges that were logged, below a tag of state and event */
};
#define EDGE_FROM_NOBODY 0u
#define EDGE_NONE (~0u)

/* An access to a byte of an array that teaches nothing (cached_step.h). */
struct cached_step {
	uint64_t from; /* writer 10 | site 22 | the byte's state 32 */
	uint64_t to;   /* which way and in which context 32 | state then 32 */
} __attribute__((aligned(16)));

/* The last cell that this thread took from another, until it is sure that it has it (cell.c). */
struct taken {
	struct cell *cell;
	uint64_t word, address;
	uint32_t before; /* the predecessor then */
	uint16_t owner;  /* and the owner */
	uint16_t access;
};

/* Other threads that an access has met so far; `on`: it goes on in another cell. */
#define TOGETHER_MOST 16u
struct together {
	uint32_t on, n, partners[TOGETHER_MOST];
};

/* Events on their way to another thread's context (context.c). */
#define POSTS 8u
struct post {
	uint16_t slot;
	uint16_t epoch;  /* of slots */
	uint16_t events; /* the newest eight, the newest of all lowest */
	uint16_t n;      /* that wait */
	uint16_t most;   /* that may wait from now on, or 0 */
	uint32_t sent;   /* since the last synchronisation call */
};

/* Blocks that a thread has freed (spare.c). */
#define READERS_KINDS 4u
enum spare_kind {
	SPARE_READERS,
	SPARE_ARRAYS = SPARE_READERS + READERS_KINDS,
	SPARE_CUTS,
	SPARE_ROWS,
	SPARE_KINDS
};
struct spare {
	uint32_t kept, at;      /* chunk of those freed last, a ring; 0 = none */
	uint32_t loaded;        /* chunk of those freed before */
	uint32_t first, last;   /* full chunks, the oldest first */
	uint32_t larger, shift; /* chunk of larger blocks, each of which is 1 << shift of this kind */
	uint32_t next, left;    /* the rest of one that was divided */
	uint32_t empty;         /* a chunk for later */
};
#define ROWS_IN_HAND 8u

#define REREADS 4096u /* places for reads that need not be repeated (reread.h) */

/* How many shared reads of a site in a row brought nothing new. */
struct exhausted_site {
	uint32_t site, count;
};

/* A pair that a thread took part in, for couples (couples.c). */
struct recent_pair {
	uint32_t version; /* odd while another thread writes the entry */
	uint32_t kind;    /* 0: none */
	uint32_t head_site, tail_site;
	uint32_t other;                  /* number of the other thread */
	uint32_t head_order, tail_order; /* their low bits */
	uint32_t pair;                   /* in the log */
	uint64_t address;
};
#define RECENT_PAIRS 32u
/* A thread's short memory of pairs. What is looked at first of each lies close together. */
struct recent_pairs {
	uint32_t next;
	uint32_t keys[RECENT_PAIRS];   /* hashes */
	uint32_t orders[RECENT_PAIRS]; /* of this thread's access */
	uint64_t addresses[RECENT_PAIRS];
	struct recent_pair pairs[RECENT_PAIRS];
};
/* A thread that has met so many pairs without a new couple looks for no more: programs
 * that share at every turn would else spend most of their time with it. Nothing false
 * comes of it, since only what a thread itself remembers makes a couple. */
#define COUPLES_PATIENCE (20000u * COUPLES_LOOK)
#define COUPLES_LOOK 16u /* what looking costs, against passing over one more step of a walk */

#define CONTEXT_BUSY (1u << 16) /* nobody else changes the thread's context now (context.c) */

/* One per slot, never unmapped. Fields above the line are used by inlined code:
 * their offsets are part of its contract. */
struct thread {
	uint64_t word;  /* slot << WORD_SLOT_SHIFT */
	uint64_t order; /* accesses so far */
	uint64_t tag;   /* as word; TAG_NEVER when every access must be seen; 0 of nobody in a process that
			      * is not observed: there empty memos know empty cells, and pass */
	struct memo *memos;  /* MEMOS_PER_SITE for each site */
	uint16_t owner;      /* OWNER(slot, 0, 0); OWNER_NEVER with TAG_NEVER, and under control, where only
			      * what is private may be passed over */
	uint32_t loop_steps; /* pushed into `loops` so far */
	uint32_t loop_entries;
	uint32_t allocating; /* site of the call that allocates and goes on, 0 = none or not known */
	uint64_t loop_where, loop_iteration; /* the step that goes on */
	uint32_t sync;     /* site of the synchronisation call that goes on, 0 = none or not known */
	uint32_t patience; /* turns of waiting loops until unsnarl_lingers is called (points.c) */
	uint64_t row; /* first half of a cell of this thread's own with row number 0; TAG_NEVER with that */
	/* Last communication events (context.c). Atomic, since others cause some of them, and on a cache
	 * line of its own. */
	union {
		uint16_t context;
		uint32_t context_state; /* with CONTEXT_BUSY above it */
	} __attribute__((aligned(64)));
	uint32_t
		inbox; /* events of others that wait for this thread while it is busy: how many << 16 | events */
	uint32_t events; /* of its own since the last synchronisation call */
	/* ---- */
	uint32_t slot __attribute__((aligned(64)));
	bool has_rereads; /* something is in `rereads` */
	bool meets_open;  /* under control: its access meets one that is open (open.c) */
	uint64_t closed; /* under control: its accesses up to this order came before a synchronisation call */
	uint32_t number; /* run-wide */
	uint32_t generation; /* of the slot */
	uint32_t state;      /* enum thread_state */
	/* The lock this thread holds or is about to take: a signal handler that comes now must stay out. */
	uint32_t *held;
	uint64_t random;
	uint64_t stack_low, stack_high;
	uint64_t touched_low,
		touched_high;     /* under control: what of its stack it has accessed; high 0 = nothing */
	void *routine, *argument; /* what the thread begins with */
	sigset_t mask;            /* and its signal mask */
	uint32_t restores_mask;
	uint32_t controlled; /* it has an agent (control.h) */
	struct spare spares[SPARE_KINDS];
	uint32_t rows_in_hand[ROWS_IN_HAND], next_in_hand; /* freed last (rows.c) */
	struct together together;
	struct post posts[POSTS];
	uint32_t posted;  /* events that wait there */
	uint32_t posting; /* 1: some were sent since the last synchronisation call */
	struct taken taken;
	uint64_t told;         /* `order` when the run area was last told */
	uint32_t couples_left; /* pairs that are looked at for couples unless one of them makes a new one */
	/* Observations that this thread was the first to log. */
	uint32_t new_pairs, new_predecessors, new_edges, new_couples;
	uint64_t lean_step;         /* stands for all of `steps` in a short run */
	uint32_t takes, seen_takes; /* times that others followed this one up (atomic); when it last looked */
	uint32_t takes_are_past;    /* and found that all of them were before the pairs that it remembers */
	struct recent_pair last_met;     /* the pair met before this one */
	struct recent_pairs met_pairs;   /* this thread is the tail; its own */
	struct recent_pairs taken_pairs; /* this thread is the head; atomic */
	/* Reads of shared data that this thread need not repeat (reread.h): of this value,
	 * and of values of this writer. */
	uint64_t rereads[REREADS], passable[REREADS];
	uint32_t moved
		[REREADS]; /* of which cell `rereads` has another site than its block of readers, 0 = none */
	struct exhausted_site exhausted[512];
	struct change changes[2048];
	struct cached_step cached_steps[4096];
	uint64_t steps[4096];     /* tag and history (history.c) */
	uint64_t listed[2048];    /* tag and step from list to list (lists.c) */
	uint64_t logged[1024][2]; /* pairs and couples already logged, direct-mapped by key */
	uint64_t edges[8192];     /* edges already logged: hashes of them */
	uint32_t met[8192];       /* predecessors already logged: tags of both sites (observe.c) */
	struct loop_step loops[LOOP_RING];
	char rest[32768]; /* of the next slot: the stack on which its kernel thread rests (token.c) */
};

#define OWNER_NEVER 0xffffu
#define TAG_NEVER ((uint64_t)OWNER_NEVER << 48) /* no cell has such an owner */

#endif
