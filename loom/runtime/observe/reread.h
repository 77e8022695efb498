/* Exhausted sites: once a site's shared reads have brought a thread nothing new a
 * thousand times in a row, its further reads of values it has read before are
 * passed over where it has read one of the same writer and context there in the same
 * context, until the value changes. Loops over shared tables would otherwise
 * pass every line of the table's cells from core to core, for nothing. */
#ifndef RUNTIME_REREAD_H
#define RUNTIME_REREAD_H

#include "loom/runtime/observe/readers.h"
#include "loom/runtime/observe/cells.h"

#define EXHAUSTED_AFTER 1000u

INLINE bool site_is_exhausted(const struct thread *self, uint64_t word)
{
	const struct exhausted_site *reads = &self->exhausted[WORD_SITE(word) % 512];
	return reads->site == WORD_SITE(word) && reads->count >= EXHAUSTED_AFTER;
}

INLINE uint32_t learnt_count(const struct thread *self)
{
	return self->new_pairs + self->new_predecessors + self->new_edges;
}

/* What was learnt whatever the context was. Whether an edge is new depends on the context, and so does `passable`. */
INLINE uint32_t learnt_apart_from_context(const struct thread *self)
{
	return runtime.options.observe & OBSERVE_PAIRS ? self->new_pairs + self->new_predecessors
						       : learnt_count(self);
}

/* Counts a shared read of this site that `told` something new or not. */
INLINE void note_shared_read(struct thread *self, uint64_t word, bool told)
{
	struct exhausted_site *reads = &self->exhausted[WORD_SITE(word) % 512];
	if (self->owner == OWNER_NEVER)
		return; /* every access must be seen; and controlled runs touch as few pages as they can */
	if (reads->site != WORD_SITE(word) || told)
		*reads = (struct exhausted_site){ .site = WORD_SITE(word) };
	else if (reads->count < EXHAUSTED_AFTER)
		reads->count++;
}

/* ---- values that several threads have read ---- */

/* Of a value that several threads have read, `rereads` tells at which site this thread read it last, and
 * `passable` whether such values need not be read again at a site in a context. A site that its block of
 * readers does not know yet is put there before the place is for another value (reread.c); until then
 * others look here. */
INLINE uint32_t reread_at(const struct cell *cell)
{
	return (uint32_t)((uint64_t)cell >> 4 ^ (uint64_t)cell >> 34) % REREADS; /* halves lie 2^45 apart */
}

INLINE uint64_t *reread_place(struct thread *self, const struct cell *cell)
{
	return &self->rereads[reread_at(cell)];
}

/* Cells have 16 bytes and 47 bits of address; what is missing here is in the place. */
INLINE uint32_t moved_name(const struct cell *cell)
{
	return (uint32_t)((uint64_t)cell >> 16);
}

INLINE const struct cell *moved_cell(uint32_t name, uint32_t at)
{
	return (const struct cell *)((uint64_t)name << 16 | ((name >> 18 ^ at) % REREADS) << 4);
}

/* Whether a place is for this value: they differ at most in the site, and in whether the block knows it. */
#define REREAD_MOVED (WORD_SITE_MASK + 1u) /* it does not, and `moved` says which cell's it is */
#define REREAD_SITE_BITS (REREAD_MOVED | WORD_SITE_MASK)

/* Of the cell and the value that it tells of; room for a site below. */
INLINE uint64_t reread_value(const struct cell *cell, uint64_t low, uint32_t write)
{
	uint64_t value = (low ^ (uint64_t)write << 16) * 0xc4ceb9fe1a85ec53u;
	return (value + (uint64_t)cell * 0x9e3779b97f4a7c15u) & ~(uint64_t)REREAD_SITE_BITS;
}

/* Of who wrote it where in which context, and of the read. */
INLINE uint64_t passable_key(const struct thread *self, uint64_t low, uint64_t word)
{
	return low * 0xc4ceb9fe1a85ec53u +
	       (WORD_SITE(word) ^ (uint64_t)(uint16_t)self->context << 40) * 0xff51afd7ed558ccdu;
}

INLINE uint64_t *passable_place(struct thread *self, uint64_t so)
{
	return &self->passable[so >> 52];
}

/* If the place is for this value it has this site from now on. */
INLINE bool reread_here(struct thread *self, const struct cell *cell, uint64_t value, uint64_t word)
{
	uint64_t here = value | WORD_SITE(word), last = *reread_place(self, cell), differs = last ^ here;
	if (differs > REREAD_SITE_BITS || (UNLIKELY(runtime.controlled) && differs))
		return false;
	/* Not by a branch: two sites by turns would be mispredicted at every other one. */
	uint64_t moved = (last | ((differs & WORD_SITE_MASK) + WORD_SITE_MASK)) & REREAD_MOVED;
	if (UNLIKELY(moved & ~last))
		self->moved[reread_at(cell)] = moved_name(cell);
	*reread_place(self, cell) = here | moved;
	return true;
}

/* Whether such a value need not be read again there in this context. */
INLINE bool is_passable(struct thread *self, uint64_t low, uint64_t word)
{
	uint64_t so = passable_key(self, low, word);
	return *passable_place(self, so) == so;
}

INLINE bool passes_over(struct thread *self, const struct cell *cell, uint64_t word)
{
	uint64_t low = cell_low(cell);
	return is_passable(self, low, word) &&
	       reread_here(self, cell, reread_value(cell, low, cell->write), word);
}

/* Two granules side by side; where it is not so of the second, the first is done all the same. */
INLINE bool passes_over_both(struct thread *self, const struct cell *cells, uint64_t word)
{
	uint64_t low = cell_low(cells), other = cell_low(cells + 1);
	return LOW_OWNER(low) == OWNER(0u, FORM_WHOLE, MODE_MANY) &&
	       LOW_OWNER(other) == OWNER(0u, FORM_WHOLE, MODE_MANY) && is_passable(self, low, word) &&
	       (low == other || is_passable(self, other, word)) &&
	       reread_here(self, cells, reread_value(cells, low, cells->write), word) &&
	       reread_here(self, cells + 1, reread_value(cells + 1, other, cells[1].write), word);
}

/* For this value, or for one that was there with another site than its block's. */
INLINE bool reread_has_room(struct thread *self, uint32_t at, uint64_t value)
{
	uint64_t last = self->rereads[at];
	return LIKELY(!(last & REREAD_MOVED)) || (last ^ value) <= REREAD_SITE_BITS || reread_put(self, at);
}

/* A read that its block knows. Is such a one, at this site in this context, to be passed over from now on? */
INLINE void note_reread(struct thread *self, const struct cell *cell, struct cell now, uint64_t word,
			bool passable)
{
	uint64_t value = reread_value(cell, low_of(now), now.write),
		 so = passable_key(self, low_of(now), word);
	uint32_t at = reread_at(cell);
	if (passable)
		*passable_place(self, so) = so;
	if (!reread_has_room(self, at, value))
		return;
	self->rereads[at] = value | WORD_SITE(word);
	self->has_rereads = true;
	if (self->moved[at])
		self->moved[at] = 0; /* others need not look */
}

/* Where there are more values than `rereads` has places for: that the list of a value's readers names this
 * thread at this site is known of the list. */
INLINE uint64_t passable_listed_key(const struct thread *self, uint64_t low, uint32_t list, uint64_t word)
{
	return passable_key(self, low, word) ^ list * 0x9e3779b97f4a7c15u;
}

INLINE bool passes_over_listed(struct thread *self, const struct cell *cell, uint64_t word)
{
	uint64_t low = cell_low(cell), value = reread_value(cell, low, cell->write);
	uint32_t list = readers_list(cell, cell->read);
	uint64_t so = passable_listed_key(self, low, list, word), *last = reread_place(self, cell);
	if (!list || *passable_place(self, so) != so)
		return false;
	if (reread_has_room(self, reread_at(cell), value))
		*last = value | WORD_SITE(word);
	return true;
}

INLINE void note_listed_reread(struct thread *self, struct cell now, uint32_t list, uint64_t word)
{
	uint64_t so = passable_listed_key(self, low_of(now), list, word);
	*passable_place(self, so) = so;
}

/* A reader's word, with the site of its last read: that one may have been passed over. Its thread seldom
 * writes to `moved`, but all the time to `rereads`. */
INLINE uint64_t last_read(const struct cell *cell, struct cell now, uint64_t word)
{
	const struct thread *thread = &runtime.threads[WORD_SLOT(word)];
	uint32_t at = reread_at(cell);
	if (RELAXED_GET(thread->moved[at]) != moved_name(cell))
		return word;
	uint64_t last = RELAXED_GET(thread->rereads[at]);
	if ((last ^ reread_value(cell, low_of(now), now.write)) > REREAD_SITE_BITS)
		return word;
	return (uint64_t)READER_AT(WORD_SLOT(word), (uint32_t)last & WORD_SITE_MASK) << 32 | WORD_ORDER(word);
}

#endif
