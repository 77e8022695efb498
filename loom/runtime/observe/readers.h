/* Cells that three or more threads have read since the last write: lists say who
 * read where, blocks name a list and hold the orders (lists.c, readers.c). */
#ifndef RUNTIME_READERS_H
#define RUNTIME_READERS_H

#include "loom/runtime/observe/cells.h"

/* ---- lists.c: who has read a value since it was written, and where ---- */
#define LIST_BITS 16u
#define LISTED_MOST 9u
struct list {
	uint32_t before : 22; /* site of the last access by another thread than the latest reader */
	uint32_t latest : 5;  /* which reader that is */
	uint32_t n : 5;
	uint32_t readers[LISTED_MOST]; /* READER of each one's last read, by slot; 0 from n on */
};
#define READER(word) ((uint32_t)((word) >> 32))
#define READER_AT(slot, site) ((slot) << 22 | (site))
#define READER_SLOT(reader) ((reader) >> 22)
#define READER_SITE(reader) ((reader) & WORD_SITE_MASK)
#define LIST(word) ((uint32_t)(word) & ((1u << LIST_BITS) - 1)) /* of a step, and of a block's head */
#define STEP_AT(step) ((step) >> LIST_BITS & 15u)
#define STEP_IS_FIRST (16u << LIST_BITS)
HIDDEN void lists_start(void);
HIDDEN void lists_recycle(void (*each)(uint32_t *reader));
INLINE const struct list *list_at(uint32_t number)
{
	return (const struct list *)LISTS_START + number;
}
HIDDEN bool lists_are_full(void);
HIDDEN bool list_names(uint32_t number, uint32_t reader);
HIDDEN uint32_t list_number(const struct list *list); /* 0 when there are too many */
/* The list after a read by this thread, LIST() of it 0 when that has no number; which of the readers it
 * is; whether it was none before. What the read teaches of predecessors is logged. */
HIDDEN uint32_t list_step(struct thread *self, uint32_t number, uint64_t word);

/* The list with that site for a thread that it names; 0 when it has no number. */
HIDDEN uint32_t list_correct(struct thread *self, uint32_t number, uint32_t slot, uint32_t site);

/* ---- readers.c: several threads that read since the last write ---- */
enum reading { READING_AGAIN, READING_FIRST, READING_MOVES };
struct readers_walk {
	uint32_t number, at;
};
/* The block's number; 0, which is an empty block, when it is not the cell's. */
HIDDEN uint32_t readers_of(const struct cell *cell, uint32_t number);
HIDDEN uint32_t readers_list(const struct cell *cell, uint32_t number); /* 0 when it has none */
/* Of these two or three last reads, the latest behind and by this thread; `before`: the last access by
 * another thread. */
HIDDEN uint32_t readers_new(struct thread *self, const struct cell *home, const uint64_t *words, uint32_t n,
			    uint32_t before);
HIDDEN void readers_free(struct thread *self, uint32_t number);
HIDDEN uint32_t readers_copy(struct thread *self, uint32_t number, const struct cell *home);
/* A read by a thread that the block names is noted in it and its predecessor logged; else the thread is to
 * be added, or MOVES: the block must become another one for it. */
HIDDEN enum reading readers_read(struct thread *self, uint32_t number, uint64_t word);
/* That is done here, under the granule's lock; returns another number when the cell is to have another block. */
HIDDEN uint32_t readers_add(struct thread *self, uint32_t number, uint64_t word, const struct cell *home);
/* The site of the last read by another thread. */
HIDDEN uint32_t readers_last(const struct thread *self, uint32_t number);
/* Who came last, and where, as in an event's word; 0 of an empty block. */
HIDDEN uint64_t readers_latest(uint32_t number);
/* The thread's last read was at that site; nothing else is as if it read. False when the block cannot tell. */
HIDDEN bool readers_correct(struct thread *self, const struct cell *cell, uint32_t number, uint32_t slot,
			    uint32_t site);
HIDDEN uint64_t
readers_next(struct readers_walk *walk); /* one last read after another; 0 when there are no more */
HIDDEN void readers_recycle(void (*each)(uint32_t *reader)); /* upper halves of event words */

/* ---- reread.c: reads that were passed over (reread.h) ---- */
/* The site at a place of the thread's `rereads` goes into the block of its cell; false when it cannot. */
HIDDEN __attribute__((preserve_most)) bool reread_put(struct thread *self, uint32_t at);
HIDDEN void reread_put_all(struct thread *thread); /* of one that has ended */
/* The site of whoever came last, before this thread reads; all of them, before the cell takes another form. */
HIDDEN void reread_put_latest(struct thread *self, const struct cell *cell, struct cell now);
HIDDEN void reread_put_everybodys(struct thread *self, const struct cell *cell, struct cell now);

#endif
