/* Calm sites: once a site's shared reads have brought a thread nothing new a
 * thousand times in a row, its further reads of values it has read before are
 * passed over where it has read one of the same writer and context there in the same
 * context, until the value changes. Loops over shared tables would otherwise
 * pass every line of the table's cells from core to core, for nothing. */
#ifndef RUNTIME_CALM_H
#define RUNTIME_CALM_H

#include "loom/runtime/readers.h"
#include "loom/runtime/runtime.h"

#define CALM 1000u

INLINE bool site_is_calm(const struct thread *self, uint64_t word)
{
	const struct calm *calm = &self->calm[WORD_SITE(word) % 512];
	return calm->site == WORD_SITE(word) && calm->count >= CALM;
}

INLINE uint32_t news(const struct thread *self)
{
	return self->new_pairs + self->new_predecessors + self->new_edges;
}

/* Of these, whether an edge is new depends on the context too, and `again` is by context. */
INLINE uint32_t news_in_any_context(const struct thread *self)
{
	return runtime.options.observe & OBSERVE_PAIRS ? self->new_pairs + self->new_predecessors
						       : news(self);
}

/* Counts a shared read of this site that `told` something new or not. */
INLINE void note_calm(struct thread *self, uint64_t word, bool told)
{
	struct calm *calm = &self->calm[WORD_SITE(word) % 512];
	if (self->owner == OWNER_NEVER)
		return; /* every access must be seen; and controlled runs touch as few pages as they can */
	if (calm->site != WORD_SITE(word) || told)
		*calm = (struct calm){ .site = WORD_SITE(word) };
	else if (calm->count < CALM)
		calm->count++;
}

/* ---- values that several threads have read ---- */

/* Of a value that several threads have read, `again` tells at which site this thread read it last, and
 * `again_so` whether such values need not be read again at a site in a context. */
INLINE uint64_t *again_place(struct thread *self, const struct cell *cell)
{
	return &self->again[((uint64_t)cell >> 4 ^ (uint64_t)cell >> 34) % 4096]; /* halves lie 2^45 apart */
}

/* Of the cell and the value that it tells of; room for a site below. */
INLINE uint64_t again_value(const struct cell *cell, uint64_t low, uint32_t write)
{
	uint64_t value = (low ^ (uint64_t)write << 16) * 0xc4ceb9fe1a85ec53u;
	return (value + (uint64_t)cell * 0x9e3779b97f4a7c15u) & ~(uint64_t)WORD_SITE_MASK;
}

/* Of who wrote it where in which context, and of the read. */
INLINE uint64_t again_so_value(const struct thread *self, uint64_t low, uint64_t word)
{
	return low * 0xc4ceb9fe1a85ec53u +
	       (WORD_SITE(word) ^ (uint64_t)(uint16_t)self->context << 40) * 0xff51afd7ed558ccdu;
}

INLINE uint64_t *again_so_place(struct thread *self, uint64_t so)
{
	return &self->again_so[so >> 52];
}

INLINE bool reads_again(struct thread *self, const struct cell *cell, uint64_t word)
{
	uint64_t low = cell_low(cell), value = again_value(cell, low, cell->write);
	uint64_t *last = again_place(self, cell), so = again_so_value(self, low, word);
	if ((*last ^ value) > WORD_SITE_MASK || *again_so_place(self, so) != so)
		return false;
	*last = value | WORD_SITE(word);
	return true;
}

/* Two granules side by side. */
INLINE bool reads_both_again(struct thread *self, const struct cell *cells, uint64_t word)
{
	uint64_t low = cell_low(cells), next_low = cell_low(cells + 1);
	if (LOW_OWNER(low) != OWNER(0u, FORM_WHOLE, MODE_MANY) || LOW_OWNER(next_low) != LOW_OWNER(low))
		return false;
	uint64_t value = again_value(cells, low, cells[0].write),
		 next_value = again_value(cells + 1, next_low, cells[1].write);
	uint64_t *last = again_place(self, cells), *next = again_place(self, cells + 1);
	uint64_t so = again_so_value(self, low, word), next_so = again_so_value(self, next_low, word);
	if ((*last ^ value) > WORD_SITE_MASK || *again_so_place(self, so) != so ||
	    (*next ^ next_value) > WORD_SITE_MASK || *again_so_place(self, next_so) != next_so)
		return false;
	*last = value | WORD_SITE(word);
	*next = next_value | WORD_SITE(word);
	return true;
}

/* Is such a read, at this site in this context, to be passed over from now on? */
INLINE void note_again(struct thread *self, const struct cell *cell, struct cell now, uint64_t word,
		       bool again)
{
	uint64_t value = again_value(cell, low_of(now), now.write),
		 so = again_so_value(self, low_of(now), word);
	*again_place(self, cell) = value | WORD_SITE(word);
	if (again)
		*again_so_place(self, so) = so;
}

/* Where there are more values than `again` has places for: that the list of a value's readers names this
 * thread at this site is known of the list. */
INLINE uint64_t again_listed_value(const struct thread *self, uint64_t low, uint32_t list, uint64_t word)
{
	return again_so_value(self, low, word) ^ list * 0x9e3779b97f4a7c15u;
}

INLINE bool reads_listed_again(struct thread *self, const struct cell *cell, uint64_t word)
{
	uint64_t low = cell_low(cell), value = again_value(cell, low, cell->write);
	uint32_t list = readers_list(cell, cell->read);
	uint64_t so = again_listed_value(self, low, list, word);
	if (!list || *again_so_place(self, so) != so)
		return false;
	*again_place(self, cell) = value | WORD_SITE(word);
	return true;
}

INLINE void note_listed_again(struct thread *self, struct cell now, uint32_t list, uint64_t word)
{
	uint64_t so = again_listed_value(self, low_of(now), list, word);
	*again_so_place(self, so) = so;
}

/* A reader's word, with the site of its last read: that one may have been passed over, unless every access
 * is seen. */
INLINE uint64_t last_read(const struct thread *self, const struct cell *cell, struct cell now, uint64_t word)
{
	if (self->owner == OWNER_NEVER)
		return word;
	uint64_t last = RELAXED_GET(*again_place(&runtime.threads[WORD_SLOT(word)], cell));
	if ((last ^ again_value(cell, low_of(now), now.write)) > WORD_SITE_MASK)
		return word;
	return (word & ~((uint64_t)WORD_SITE_MASK << WORD_SITE_SHIFT)) | (last & WORD_SITE_MASK)
										 << WORD_SITE_SHIFT;
}

#endif
