/* Inside the room observe/: what its files offer each other. Everybody else includes
 * observe.h. */
#ifndef RUNTIME_CELLS_H
#define RUNTIME_CELLS_H

#include "loom/runtime/observe/observe.h"

/* ---- observe.c ---- */
HIDDEN void observe_pair(struct thread *self, uint32_t kind, uint64_t head, uint64_t tail, uint64_t address);
/* The pair a couple ends with, as observe_pair gets it, and its number in the log; called for every pair, known or
 * not, while patience lasts. */
HIDDEN void couples_meet(struct thread *self, struct thread *other, uint32_t kind, uint64_t head,
			 uint64_t tail, uint64_t address, uint32_t number);
HIDDEN void observe_couple(struct thread *self, uint32_t first, uint32_t second, bool crossed, uint32_t span);
HIDDEN void observe_predecessor(struct thread *self, uint32_t site, uint32_t before);
HIDDEN void observe_new_edge(struct thread *self, struct area_edge edge, uint64_t hash);
INLINE uint64_t observe_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	return (h ^ h >> 32) * 0xc4ceb9fe1a85ec53u;
}
INLINE void observe_edge(struct thread *self, uint32_t source, uint32_t source_context, uint32_t sink,
			 uint32_t sink_context, bool write)
{
	uint64_t hash = observe_mix((uint64_t)source << 32 | sink,
				    (uint64_t)write << 32 | source_context << 16 | (uint16_t)sink_context);
	if (LIKELY(!runtime.lean)) {
		uint64_t *seen = &self->edges[hash >> 51];
		if (LIKELY(*seen == hash))
			return;
		*seen = hash;
	}
	observe_new_edge(self,
			 (struct area_edge){ .source = source & WORD_SITE_MASK,
					     .sink = sink & WORD_SITE_MASK,
					     .source_context = (uint16_t)source_context,
					     .sink_context = (uint16_t)sink_context,
					     .write = write },
			 hash);
}

/* ---- index.c: entries by hash ---- */
struct probe {
	uint32_t hash, level, at;
};
HIDDEN void index_start(struct index *index);
HIDDEN void index_start_far(struct index *index); /* one that short runs do not use */
HIDDEN void index_clear(struct index *index);
/* A search for, or (with its own number) a place for, one of `count` entries. */
HIDDEN struct probe index_probe(uint64_t hash, uint32_t count);
HIDDEN uint32_t index_next(const struct index *index, struct probe *probe);
HIDDEN uint32_t index_publish(const struct index *index, struct probe *probe, uint32_t number);

/* ---- history.c: the sites of a cell ---- */
struct history {
	uint32_t write; /* site of the last write, 0 = none */
	uint32_t own;  /* of the last read since by the thread that wrote, or that alone was here; 0 = none */
	uint32_t read; /* of the last read since by the cell's other thread (MODE_ONE), 0 = none */
	uint32_t before; /* of the last access by another thread than the last one's, 0 = nil */
};
#define OWN_LAST (1u << 31) /* in `own`, when there is a `read`: it came after that */
INLINE const struct history *history_at(uint32_t number)
{
	return (const struct history *)HISTORIES_START + number;
}
HIDDEN uint32_t history_number(struct history history);
/* The history after an access by the thread that made all others. */
HIDDEN uint32_t history_step(struct thread *self, uint32_t number, uint32_t site, enum access access);
/* The same if it is known what it teaches, else 0. */
HIDDEN uint32_t history_step_known(struct thread *self, uint32_t number, uint32_t site, enum access access);

/* ---- cell.c: one cell ---- */
/* An access to all that the cell covers; false when its form is another. `unit`: the form of a cell that
 * covers just what accesses of this site touch, FORM_NONE when they differ. */
HIDDEN bool cell_access(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			uint32_t form, enum access access, uint32_t unit);
/* The same where no block may be taken or given; false also when one would be. */
HIDDEN bool cell_access_lightly(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
				uint32_t form, enum access access, uint32_t unit);
/* What an access teaches that is not by the owner of an ALL cell: logs it, or knows that it is logged. The
 * cell is of one form, or stands for a byte of an array, with that byte's history. */
HIDDEN struct change cell_learn(struct thread *self, struct cell raw, uint64_t word, uint64_t address,
				enum access access);
/* The cell after an access by another thread than the owner of an ALL cell, which may have read it, but for
 * its history. */
HIDDEN struct cell cell_after(struct thread *self, struct cell now, bool read, uint64_t word,
			      enum access access);
HIDDEN bool cell_observes_edges(void);
/* A copy for a part of what `from` covers. */
HIDDEN struct cell cell_copy(struct thread *self, struct cell from, struct cell *home, uint32_t form);
HIDDEN void cell_release(struct thread *self, struct cell cell); /* the blocks of a cell that is no more */
INLINE struct cell cell_get(const struct cell *cell)
{
	union {
		cell_bits bits;
		struct cell cell;
	} value = { .bits = *(const volatile cell_bits *)cell };
	return value.cell;
}
INLINE uint64_t low_of(struct cell cell)
{
	return (uint64_t)cell.owner << 48 | (uint64_t)cell.context << 32 | cell.history;
}
INLINE uint64_t high_of(struct cell cell)
{
	return (uint64_t)cell.read << 32 | cell.write;
}
INLINE struct cell cell_of(uint64_t low, uint64_t high)
{
	return (struct cell){ .history = (uint32_t)low,
			      .context = LOW_CONTEXT(low),
			      .owner = LOW_OWNER(low),
			      .write = (uint32_t)high,
			      .read = (uint32_t)(high >> 32) };
}
/* The first half of a private cell that was written at this site, but for the order. */
INLINE uint64_t private_low(uint32_t slot, uint32_t form, uint32_t site)
{
	return (uint64_t)OWNER(slot, form | FORM_PRIVATE, MODE_ALL) << 48 | (uint64_t)site
										    << PRIVATE_ORDER_BITS;
}
/* The second half. */
INLINE uint64_t private_high(uint32_t read_site, uint64_t read_order, uint16_t context)
{
	return (read_site ? read_order << PRIVATE_READ_ORDER : 0) | (uint64_t)read_site << 16 | context;
}
/* Of the last write. */
INLINE uint16_t cell_context(struct cell cell)
{
	return OWNER_IS_PRIVATE(cell.owner) ? (uint16_t)high_of(cell) : cell.context;
}
/* Is one order of a thread later than another? Both may come from private cells. */
INLINE bool order_is_later(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << (32 - PRIVATE_ORDER_BITS)) > 0;
}
INLINE uint32_t private_read_site(uint64_t high)
{
	return (uint32_t)(high >> 16) & WORD_SITE_MASK;
}
INLINE void cell_set(struct cell *cell, struct cell value)
{
	union {
		struct cell cell;
		cell_bits bits;
	} all = { .cell = value };
	*(volatile cell_bits *)cell = all.bits;
}
/* Changes the cell if it is still as it was. Acquire and release: blocks that it names are complete. */
INLINE bool cell_swap(struct cell *cell, struct cell old, struct cell fresh)
{
	union {
		struct cell cell;
		__int128 bits;
	} from = { .cell = old }, to = { .cell = fresh };
	return __sync_bool_compare_and_swap((__int128 *)cell, from.bits, to.bits);
}
/* A signal handler must not find half of it. */
INLINE void memo_set(struct memo *memo, uint64_t from, uint64_t to)
{
	RELAXED_SET(memo->from, ~0ull);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(memo->to, to);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(memo->from, from);
}

INLINE struct memo *memo_of(const struct thread *self, uint64_t site)
{
	return self->memos + site * MEMOS_PER_SITE;
}

INLINE void memo_learn(struct thread *self, uint64_t site, uint64_t low, uint64_t to)
{
	memo_set(memo_for(memo_of(self, site), low), low_without_context(low) - self->tag,
		 low_without_context(to));
}

/* ---- private.c: cells that are private to a thread ---- */
INLINE uint16_t owner_in_plain(uint16_t owner)
{
	return (uint16_t)(owner & ~(FORM_PRIVATE << 2));
}
/* What a cell holds, private or not, in the one way that all but the quick parts know. */
HIDDEN struct cell cell_plain(struct cell cell);
/* The same as a private cell where it may be one, else as it was. */
HIDDEN struct cell cell_make_private(struct cell plain);
/* The access found nobody before it; its mark, if its site has one (`unit`), says so. */
HIDDEN void cell_learn_nil(struct thread *self, uint64_t word, uint32_t unit);
/* The first access to a cell that nobody has, and that gets this form; false when it is no longer `raw`. */
HIDDEN bool cell_take_fresh(struct thread *self, struct cell *cell, struct cell raw, uint32_t form,
			    uint64_t word, enum access access, uint32_t unit);
/* An access by the thread whose it is. */
HIDDEN void cell_step_private(struct thread *self, struct cell *cell, uint64_t word, enum access access,
			      uint32_t unit);

/* ---- array.c: granules whose bytes differ ---- */
struct array {
	uint32_t states[8]; /* of each byte: number of its history 21 | context of the write 11 */
};
#define STATE(history, context) ((uint32_t)(history) | (uint32_t)(context) << STATE_HISTORY_BITS)
#define STATE_HISTORY(state) ((uint32_t)(state) & ((1u << STATE_HISTORY_BITS) - 1))
#define STATE_CONTEXT(state) ((uint16_t)((uint32_t)(state) >> STATE_HISTORY_BITS))
#define STATE_HISTORY_BITS 21u
INLINE struct array *array_at(uint32_t number)
{
	return (struct array *)BLOCKS_START + number;
}
/* Contexts of more than five events have no room in an array. */
INLINE bool arrays_can_tell(void)
{
	return runtime.context_most >> (32 - STATE_HISTORY_BITS) == 0;
}
HIDDEN void array_free(struct thread *self, uint32_t number);
/* Stands for a byte in this state. */
INLINE struct cell array_byte(struct cell all, uint32_t state)
{
	all.history = (all.history & ~HISTORY(~0u)) | STATE_HISTORY(state);
	all.context = STATE_CONTEXT(state);
	return all;
}
/* Gives the cell these bytes, and the form that goes with them; false when there is no array left. */
HIDDEN bool array_put(struct thread *self, struct cell *cell, const struct array *bytes);
/* An access to bytes from..to of a granule with one cell; false when that cannot tell it. */
HIDDEN bool array_access(struct thread *self, struct cell *cell, uint32_t from, uint32_t to, uint64_t word,
			 uint64_t granule, enum access access, uint32_t unit);
/* A read of some bytes of a whole granule that another thread alone was at; all but its edge is known. False
 * when the cell is no longer `raw`, or there is no array. */
HIDDEN bool array_open(struct thread *self, struct cell *cell, struct cell raw, const struct change *change,
		       uint32_t from, uint32_t to, uint64_t word);
/* What a byte of a row (rows.c) says, as a state. */
HIDDEN uint32_t state_of_row(uint64_t byte);
/* A granule with a row gets an array of these bytes in its place, and is `fresh` from then on; false when it is no
 * longer `raw`, or there is no array. */
HIDDEN bool array_replace_row(struct thread *self, struct cell *cell, struct cell raw, struct cell fresh,
			      const struct array *bytes);
/* The bytes are all the same again, perhaps. Mostly not, and whoever asks keeps its registers. */
HIDDEN __attribute__((preserve_most)) void array_settle(struct thread *self, struct cell *cell);

/* ---- context.c: the last communication events of each thread ---- */
/* Data moved from the other thread to this one, or this one overwrites what the other wrote or read:
 * enters its context. The event of this thread's own, one for all that it met, enters at the end. */
HIDDEN void context_meet(struct thread *self, uint32_t slot, enum access access);
/* An access that meets one other thread, where every access need not be seen. */
HIDDEN void context_once(struct thread *self, uint32_t slot, enum access access);
HIDDEN void context_end(struct thread *self, enum access access);
HIDDEN __attribute__((preserve_most)) void context_own_slowly(struct thread *self, uint32_t event);

/* ---- granule.c: from an address range to its cells ---- */
/* `element`: one of many alike, so that its granule need not be cut for it. */
HIDDEN void granule_access(struct thread *self, uint64_t word, uint64_t address, size_t size,
			   enum access access, uint32_t unit, bool element);
/* Of all that is recorded, every access was this thread's (at least one; private: or none, and none before). */
HIDDEN bool granule_is_own(const struct thread *self, uint64_t address, size_t size);
HIDDEN void granule_lock(struct thread *self, uint64_t granule);
HIDDEN void granule_unlock(struct thread *self);
/* Keeps signal handlers out while spare lists change; true when they were not kept out before. */
HIDDEN bool granule_enter(struct thread *self);
HIDDEN void granule_leave(struct thread *self, bool entered);

/* ---- rows.c: private granules whose bytes differ ---- */
struct row {
	uint64_t bytes
		[8]; /* of each: site of the last write 22 | its context 16 | site of the last read since 22 */
};
#define ROW_READ_SHIFT 38u
#define ROW_WRITE(site, context) ((uint64_t)(site) | (uint64_t)(uint16_t)(context) << 22)
#define ROW_WRITE_SITE(byte) ((uint32_t)(byte) & WORD_SITE_MASK)
#define ROW_CONTEXT(byte) ((uint16_t)((byte) >> 22))
#define ROW_READ_SITE(byte) ((uint32_t)((byte) >> ROW_READ_SHIFT))
#define ROW_READ_KEEPS ((1ull << ROW_READ_SHIFT) - 1)
INLINE uint64_t row_read(uint64_t byte, uint64_t site)
{
	return (byte & ROW_READ_KEEPS) | site << ROW_READ_SHIFT;
}
INLINE struct row *row_at(uint32_t number)
{
	return (struct row *)BLOCKS_START + number;
}
HIDDEN void row_free(struct thread *self, uint32_t number);
/* An access by the thread that a granule is private to, or to a fresh one; false when rows cannot tell it. */
HIDDEN bool row_access(struct thread *self, uint64_t granule, uint32_t from, uint32_t to, uint64_t word,
		       enum access access, uint32_t unit, bool element);
HIDDEN bool row_settle(struct thread *self, struct cell *cell); /* into one private cell, perhaps */
/* Bytes of a granule with a row of this thread's own, which stays; false when there is none. */
HIDDEN bool row_forget(const struct thread *self, uint64_t granule, uint32_t from, uint32_t to);
/* All of them; false also when they did not differ: it may do without a row from now on. */
HIDDEN bool row_clear(const struct thread *self, uint64_t granule);

/* ---- parts.c: granules that are cut in parts ---- */
struct cut {
	struct cell cells[8]; /* of a part where its first byte is */
};
INLINE struct cut *cut_at(uint32_t number)
{
	return (struct cut *)BLOCKS_START + number;
}
INLINE bool
cell_is_cut(struct cell cell) /* history: number of the block; context: a bit for each part's first byte */
{
	return OWNER_MODE(cell.owner) == MODE_CUT;
}
INLINE bool parts_fit(uint32_t starts, uint32_t from, uint32_t to)
{
	return (starts | 1u << 8) >> from & (starts | 1u << 8) >> to & 1;
}
/* Where the part begins that a byte is in. */
INLINE uint32_t part_of(uint32_t starts, uint32_t byte)
{
	return 31u - (uint32_t)__builtin_clz(starts & ((2u << byte) - 1));
}
/* Under the granule's lock: parts begin and end there. */
HIDDEN void parts_cut(struct thread *self, uint64_t granule, uint32_t from, uint32_t to);
HIDDEN void parts_forget(struct thread *self, uint64_t granule, uint32_t from, uint32_t to);
HIDDEN void parts_mend(struct thread *self, uint64_t granule); /* into one, perhaps */

/* ---- lines.c: last writers of 64-byte lines (edges with line granularity) ---- */
HIDDEN void lines_access(struct thread *self, uint64_t word, uint64_t address, size_t size,
			 enum access access);

/* ---- machine.c: edges as a simulated machine's caches see them ---- */
HIDDEN void machine_start(void);
HIDDEN void machine_see(struct thread *self, uint64_t word, uint64_t address, size_t size,
			enum access access);

/* ---- monitor.c: in the field, what the tests never showed ---- */
HIDDEN bool monitor_is_on(void);
HIDDEN void monitor_edge(const struct area_edge *edge); /* seen for the first time */

/* ---- loops.c ---- */
HIDDEN struct area_loop loops_at(uint32_t slot, uint64_t order);

/* ---- jitter.c ---- */
HIDDEN void jitter_at_access(struct thread *self, uint32_t site);

/* ---- callers.c: from where the function was called that made an access ---- */
HIDDEN void callers_tell(struct thread *self); /* of the next access of the trace, when it is asked for */

/* ---- access_log.c: every access in one global order, for comparison with the reference ---- */
HIDDEN void trace_begin(struct thread *self, uint64_t word, uint64_t address, size_t size,
			enum access access);

#endif
