/* Cells that change hands: accesses to what another thread had alone, or that two
 * threads know, and first accesses, where all that they teach is logged already. Such an
 * access only changes the cell, and does so by one plain store after a second look: a
 * locked instruction would wait for all stores before it, which miss the cache in a
 * program that scatters its data. */
#ifndef RUNTIME_HANDOVER_H
#define RUNTIME_HANDOVER_H

#include "loom/runtime/observe/reread.h"
#include "loom/runtime/observe/change.h"
#include "loom/runtime/observe/context.h"
#include "loom/runtime/observe/known_read.h"
#include "loom/runtime/observe/cells.h"

INLINE uint64_t cell_high(const struct cell *cell)
{
	return __atomic_load_n((const uint64_t *)cell + 1, __ATOMIC_RELAXED);
}

INLINE void cell_set_halves(struct cell *cell, uint64_t low, uint64_t high)
{
	cell_bits all = { (long long)low, (long long)high };
	*(volatile cell_bits *)cell = all;
}

#define LOW_HALF_FRESH ((uint64_t)OWNER(0u, FORM_HALF, MODE_ALL) << 48)
#define FORM(length) ((length) == 8 ? FORM_WHOLE : FORM_HALF)

/* ---- what is rare, and leaves the caller's registers alone (handover.c) ---- */

#define RARE HIDDEN __attribute__((preserve_most))
/* As cell_settle. */
RARE void handover_settle_slowly(struct thread *self);
/* As change_communicate; `meets` as one number. */
RARE void handover_communicate(struct thread *self, uint32_t meets, enum access access);
/* The edge of a known change is logged, and `place` says so; nothing, when the change is not known any more. */
enum learnt { LEARNT_NOTHING, LEARNT_EDGE };
RARE enum learnt handover_learn_edge(struct thread *self, uint64_t low, uint64_t high, uint64_t word,
				     enum access access);
/* As cell_make_private; the halves stay where they are. */
RARE void handover_make_private(uint64_t halves[2]);

/* ---- the last cell that was taken ---- */

/* What there is to do shows in the owner. */
INLINE void handover_settle(struct thread *self)
{
	const struct cell *cell = self->taken.cell;
	if (cell && UNLIKELY(owner_in_plain(*(const volatile uint16_t *)&cell->owner) == self->taken.owner))
		handover_settle_slowly(self);
	self->taken.cell = NULL;
}

/* Who takes one cell after another, in one place or in many by turns, soon comes to the next ones. */
INLINE void handover_look_ahead(const struct cell *cell)
{
	__asm__ volatile("prefetchw 64(%0)" : : "r"(cell));
}

/* ---- first accesses ---- */

/* What the cell becomes where the site's mark says that it is logged that nobody was there before. */
INLINE void fresh_set(struct thread *self, struct cell *cell, uint32_t form, uint64_t word,
		      enum access access)
{
	uint32_t site = WORD_SITE(word);
	bool writes = access == ACCESS_WRITE;
	uint64_t low = private_low(self->slot, form, writes ? site : 0) + (WORD_ORDER(word) & PRIVATE_ORDER);
	cell_set_halves(cell, low,
			writes ? (uint16_t)self->context : private_high(site, WORD_ORDER(word), 0));
}

/* To what nobody has touched. Who first cuts a granule in halves does so by a locked instruction, since
 * other threads may be about to use the rest of it. */
INLINE bool quick_fresh(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			uint32_t length, enum access access)
{
	const struct cell half = { .owner = OWNER(0u, FORM_HALF, MODE_ALL) }, none = { 0 };
	uint64_t low = cell_low(cell);
	struct cell *first = layout_whole(address);
	if (!site_is_marked(WORD_SITE(word)) || address % length || cell_high(cell) ||
	    runtime.options.jitter_us || WORD_SLOT(word) != self->slot ||
	    (low && (length == 8 || low != LOW_HALF_FRESH)))
		return false;
	if (length == 4 && !low) {
		uint64_t granule = cell_low(first);
		if (!granule && !cell_swap(first, none, half))
			return false;
		if (granule && OWNER_FORM(LOW_OWNER(granule)) != FORM_HALF)
			return false;
	}
	fresh_set(self, cell, FORM(length), word, access);
	handover_look_ahead(cell);
	if (length == 4 && !low && UNLIKELY(OWNER_FORM(LOW_OWNER(cell_low(first))) != FORM_HALF)) {
		cell_set_halves(cell, 0, 0); /* it was cut in between */
		return false;
	}
	if (access == ACCESS_READ && cell_observes_edges())
		observe_edge(self, 0, 0, WORD_SITE(word), self->context, false);
	return true;
}

/* ---- known changes ---- */

/* What tells the edges of a change in their contexts apart; the upper half tells whose edge it is, should a
 * signal handler have put another change in its place. */
INLINE uint64_t edge_in(uint64_t hash, struct cell raw, uint32_t context)
{
	return hash >> 21 << 32 | (uint64_t)cell_context(raw) << 16 | (uint16_t)context;
}

/* Where it is remembered: a thread that copies what others wrote comes to its reads after a write and after a
 * read by turns. */
INLINE uint64_t edge_known(const struct change *change, uint32_t context)
{
	return RELAXED_GET(change->edges[context & 1]);
}

INLINE uint32_t change_meets(const struct change *change)
{
	uint32_t meets;
	__builtin_memcpy(&meets, change->meets, sizeof meets);
	return meets;
}

INLINE bool change_is(const struct change *place, struct change_key key)
{
	return RELAXED_GET(place->state) == key.state && RELAXED_GET(place->event) == key.event;
}

INLINE void handover_meet(struct thread *self, uint32_t meets, enum access access)
{
	if (!meets)
		return;
	if (LIKELY(!(meets >> 16)) && LIKELY(context_meet_later(self, meets, access)))
		context_own(self, access);
	else
		handover_communicate(self, meets, access);
}

/* A read by one of the two threads that a cell names, unless it may be passed over from now on. Once the site
 * is exhausted (reread.h) a known read tells the same (known_read.h). */
INLINE bool quick_shared_read(struct thread *self, struct cell *cell, struct cell raw,
			      const struct change *place, struct change_key key, enum learnt learnt,
			      uint64_t word)
{
	const struct history *old = history_at(HISTORY(raw.history));
	uint32_t last = OWNER_SLOT(raw.owner) == self->slot ? old->read : old->own & ~OWN_LAST;
	bool exhausted = site_is_exhausted(self, word);
	struct cell fresh = change_cell(self, raw, place->next, word, ACCESS_READ);
	if (change_meets(place) || (exhausted && last == WORD_SITE(word)) || !change_is(place, key))
		return false;
	if (exhausted && learnt == LEARNT_NOTHING)
		known_read_note(self, low_of(raw), WORD_SITE(word), HISTORY(fresh.history));
	else
		note_shared_read(self, word, learnt == LEARNT_EDGE);
	cell_set_halves(cell, low_of(fresh), high_of(fresh));
	return true;
}

/* A cell that another thread was at alone, or that two threads know, this one among them or for its write.
 * All that it teaches is logged but for its edge. That nobody came between is looked at last: another thread
 * at the cell, or a signal handler that put another change in this one's place. */
INLINE bool quick_change(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			 uint32_t length, enum access access)
{
	uint64_t low = cell_low(cell), high = cell_high(cell);
	struct cell raw = cell_of(low, high);
	struct change_key key = change_key(raw, word, access);
	uint64_t hash = change_hash(key);
	const struct change *place = &self->changes[hash >> 53];
	bool one = OWNER_MODE(raw.owner) == MODE_ONE;
	if (!change_is(place, key) || OWNER_FORM(raw.owner) != FORM(length) || !OWNER_SLOT(raw.owner) ||
	    address % length || self->couples_left || runtime.options.jitter_us ||
	    WORD_SLOT(word) != self->slot || self->held ||
	    !passes_control(self, WORD_SITE(word), address, length, access))
		return false;
	handover_settle(self);
	enum learnt learnt = LEARNT_NOTHING;
	uint32_t context = RELAXED_GET(self->context);
	if (UNLIKELY(edge_known(place, context) != edge_in(hash, raw, context)))
		learnt = handover_learn_edge(self, low, high, word, access);
	if (one && access == ACCESS_READ)
		return quick_shared_read(self, cell, raw, place, key, learnt, word);
	struct cell then = change_cell(self, raw, place->next, word, access);
	uint64_t fresh[2] = { low_of(then), high_of(then) };
	if (access == ACCESS_WRITE &&
	    UNLIKELY(!place->before)) /* it may have been a byte of an array that nobody had touched */
		handover_make_private(fresh);
	uint32_t meets = change_meets(place), before = place->before;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!change_is(place, key) || cell_low(cell) != low || cell_high(cell) != high)
		return false;
	cell_set_halves(cell, fresh[0], fresh[1]);
	handover_look_ahead(cell);
	handover_meet(self, meets, access);
	if (!one)
		self->taken = (struct taken){ .cell = cell,
					      .word = word,
					      .address = address,
					      .before = before,
					      .owner = owner_in_plain(raw.owner),
					      .access = (uint16_t)access };
	return true;
}

#endif
