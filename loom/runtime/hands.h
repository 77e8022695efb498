/* Cells that change hands: accesses to what another thread had alone, or that two
 * threads know, and first accesses, where all that they teach is logged already. Such an
 * access only changes the cell, and does so by one plain store after a second look: a
 * locked instruction would wait for all stores before it, which miss the cache in a
 * program that scatters its data. */
#ifndef RUNTIME_HANDS_H
#define RUNTIME_HANDS_H

#include "loom/runtime/calm.h"
#include "loom/runtime/change.h"
#include "loom/runtime/context.h"
#include "loom/runtime/runtime.h"

INLINE uint64_t cell_high(const struct cell *cell)
{
	return __atomic_load_n((const uint64_t *)cell + 1, __ATOMIC_RELAXED);
}

INLINE void cell_set_halves(struct cell *cell, uint64_t low, uint64_t high)
{
	cell_bits all = { (long long)low, (long long)high };
	*(volatile cell_bits *)cell = all;
}

#define FORM(length) ((length) == 8 ? FORM_WHOLE : FORM_HALF)

/* ---- what is rare, and leaves the caller's registers alone (hands.c) ---- */

#define RARE HIDDEN __attribute__((preserve_most))
/* As cell_settle. */
RARE void hands_settle_slowly(struct thread *self);
/* As change_communicate; `meets` as one number. */
RARE void hands_communicate(struct thread *self, uint32_t meets, enum access access);
/* The edge of a known change is logged, and `place` says so. What was to be learnt, or that the change is not
 * known any more, since a signal handler came between. */
enum learnt { LEARNT_NOTHING, LEARNT_EDGE, LEARNT_TOO_LATE };
RARE enum learnt hands_learn_edge(struct thread *self, uint64_t low, uint64_t high, uint64_t word,
				  enum access access);
/* As cell_make_private; the halves stay where they are. */
RARE void hands_make_private(uint64_t halves[2]);

/* ---- the last cell that was taken ---- */

/* What there is to do shows in the owner. */
INLINE void hands_settle(struct thread *self)
{
	const struct cell *cell = self->taken.cell;
	if (cell && UNLIKELY(owner_in_plain(*(const volatile uint16_t *)&cell->owner) == self->taken.owner))
		hands_settle_slowly(self);
	self->taken.cell = NULL;
}

/* ---- known changes ---- */

/* What tells the edges of a change in their contexts apart; the upper half tells whose edge it is, should a
 * signal handler have put another change in its place. */
INLINE uint64_t edge_in(uint64_t hash, struct cell raw, uint32_t context)
{
	return hash >> 21 << 32 | (uint64_t)cell_context(raw) << 16 | (uint16_t)context;
}

struct known {
	uint64_t next, edge;
	uint32_t before, meets; /* as in struct change */
};

/* A signal handler may put another change in its place meanwhile. */
INLINE bool known_find(struct thread *self, struct cell raw, uint64_t word, enum access access,
		       struct known *known)
{
	struct change_key key = change_key(raw, word, access);
	uint64_t hash = change_hash(key);
	const struct change *place = &self->changes[hash >> 53];
	if (place->state != key.state || place->event != key.event)
		return false;
	known->next = place->next;
	known->before = place->before;
	__builtin_memcpy(&known->meets, place->meets, sizeof known->meets);
	known->edge = RELAXED_GET(place->edge) ^ edge_in(hash, raw, self->context);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return RELAXED_GET(place->state) == key.state && RELAXED_GET(place->event) == key.event;
}

INLINE enum learnt known_learn_edge(struct thread *self, const struct known *known, struct cell raw,
				    uint64_t word, enum access access)
{
	return LIKELY(!known->edge) ? LEARNT_NOTHING
				    : hands_learn_edge(self, low_of(raw), high_of(raw), word, access);
}

INLINE void known_communicate(struct thread *self, uint32_t meets, enum access access)
{
	if (!meets)
		return;
	if (LIKELY(!(meets >> 16)) && LIKELY(context_meet_later(self, meets, access)))
		context_own(self, access);
	else
		hands_communicate(self, meets, access);
}

/* A read by one of the two threads that a cell names, unless it may be passed over from now on. */
INLINE bool quick_again(struct thread *self, struct cell *cell, struct cell raw, const struct known *known,
			uint64_t word)
{
	const struct history *old = history_at(HISTORY(raw.history));
	uint32_t last = OWNER_SLOT(raw.owner) == self->slot ? old->read : old->own & ~OWN_LAST;
	if (known->meets || (last == WORD_SITE(word) && site_is_calm(self, word)))
		return false;
	enum learnt learnt = known_learn_edge(self, known, raw, word, ACCESS_READ);
	if (learnt == LEARNT_TOO_LATE)
		return false;
	note_calm(self, word, learnt == LEARNT_EDGE);
	struct cell fresh = change_cell(self, raw, known->next, word, ACCESS_READ);
	cell_set_halves(cell, low_of(fresh), high_of(fresh));
	return true;
}

/* A cell that another thread was at alone, or that two threads know, this one among them or for its write.
 * All that it teaches is logged but for its edge. */
INLINE bool quick_change(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			 uint32_t length, enum access access)
{
	uint64_t low = cell_low(cell), high = cell_high(cell); /* cell_exchange looks at both once more */
	struct cell raw = cell_of(low, high);
	uint32_t mode = OWNER_MODE(raw.owner), slot = OWNER_SLOT(raw.owner);
	bool mine = slot == self->slot, one = mode == MODE_ONE;
	struct known known;
	if (!(one || (mode == MODE_ALL && !mine)) || !slot || OWNER_FORM(raw.owner) != FORM(length) ||
	    address % length || self->couples_left || runtime.options.jitter_us ||
	    WORD_SLOT(word) != self->slot || self->held ||
	    (one && access == ACCESS_READ && !mine && HISTORY_WRITER(raw.history) != self->slot) ||
	    !known_find(self, raw, word, access, &known))
		return false;
	hands_settle(self);
	if (one && access == ACCESS_READ)
		return quick_again(self, cell, raw, &known, word);
	if (known_learn_edge(self, &known, raw, word, access) == LEARNT_TOO_LATE)
		return false;
	struct cell then = change_cell(self, raw, known.next, word, access);
	uint64_t fresh[2] = { low_of(then), high_of(then) };
	if (access == ACCESS_WRITE &&
	    UNLIKELY(!known.before)) /* it may have been a byte of an array that nobody had touched */
		hands_make_private(fresh);
	if (cell_low(cell) != low || cell_high(cell) != high)
		return false;
	cell_set_halves(cell, fresh[0], fresh[1]);
	known_communicate(self, known.meets, access);
	if (!one)
		self->taken = (struct taken){ .cell = cell,
					      .word = word,
					      .address = address,
					      .before = known.before,
					      .owner = owner_in_plain(raw.owner),
					      .access = (uint16_t)access };
	return true;
}

#endif
