/* Accesses that teach nothing, decided without entering the runtime: to cells that
 * are private to the thread, where the site's mark says so, and to cells in a state that
 * one of the site's memos knows. Everything else is answered with false, and whoever
 * then does the whole access once more does no harm. */
#ifndef RUNTIME_QUICK_H
#define RUNTIME_QUICK_H

#include "loom/runtime/calm.h"
#include "loom/runtime/change.h"
#include "loom/runtime/runtime.h"

INLINE bool quick_privately(const struct thread *self, struct cell *cell, uint32_t form, uint64_t site,
			    uint64_t order, enum access access)
{
	uint16_t owner = (uint16_t)(self->owner | (form | FORM_PRIVATE) << 2);
	uint32_t past = cell_private_past(cell);
	if (!cell_is_private(cell, owner) || !site_is_marked(site))
		return false;
	if (access == ACCESS_READ)
		return cell_private_read(cell, owner, site, order, past);
	cell_private_write(cell, owner, site, self->context, order);
	return true;
}

INLINE bool quick_by_memo(const struct thread *self, struct cell *cell, uint64_t order, enum access access,
			  const struct memo *memo)
{
	return access == ACCESS_READ
		       ? cell_quick_read(cell, self->tag, (uint32_t)order, memo)
		       : cell_quick_write(cell, self->tag, self->context, (uint32_t)order, memo);
}

#define LOW_IS_MANY(low) (OWNER_MODE(LOW_OWNER(low)) == MODE_MANY)

/* The cell of a part. */
INLINE bool quick_cell(struct thread *self, struct cell *cell, uint64_t site, uint64_t order,
		       enum access access)
{
	if (quick_privately(self, cell, FORM_PART, site, order, access))
		return true;
	if (LOW_IS_MANY(cell_low(cell)))
		return access == ACCESS_READ && reads_again(self, cell, site << WORD_SITE_SHIFT);
	return quick_by_memo(self, cell, order, access, memo_behind(memo_of(self, site), cell_low(cell)));
}

#define LOW_IS_CUT(low) (LOW_OWNER(low) == OWNER(0u, FORM_WHOLE, MODE_CUT))

/* Those parts of a granule that the access covers. */
INLINE bool quick_parts(struct thread *self, uint64_t low, uint64_t address, uint32_t length, uint64_t site,
			uint64_t order, enum access access)
{
	uint32_t starts = LOW_CONTEXT(low), from = address % 8, to = from + length;
	struct cell *cells = cut_at((uint32_t)low)->cells;
	if (to > 8 || !parts_fit(starts, from, to))
		return false;
	uint32_t left = starts & ((1u << to) - 1) & ~((1u << from) - 1);
	for (; left; left &= left - 1)
		if (!quick_cell(self, &cells[__builtin_ctz(left)], site, order, access))
			return false;
	return true;
}

/* Bytes of a row, all in one granule. `calls`: also those whose read may have something to log; who does
 * without them needs few registers. */
INLINE bool quick_in_row(struct thread *self, uint64_t address, uint64_t site, uint64_t order,
			 uint32_t length, enum access access, bool calls)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell), *bytes = &row_at((uint32_t)low)->bytes[address % 8];
	if (LOW_OWNER(low) != (self->owner | (FORM_ARRAY | FORM_PRIVATE) << 2) || !site_is_marked(site) ||
	    address % 8 + length > 8)
		return false;
	if (access == ACCESS_WRITE) {
		for (uint32_t i = 0; i < length; i++)
			bytes[i] = ROW_WRITE(site, self->context);
		cell->write = (uint32_t)order;
		return true;
	}
	bool fresh = false;
	for (uint32_t i = 0; i < length; i++)
		fresh |= !bytes[i];
	if (fresh && !calls)
		return false;
	for (uint32_t i = 0; i < length; i++)
		bytes[i] = row_read(bytes[i], site);
	if (fresh && cell_observes_edges())
		observe_edge(self, 0, 0, (uint32_t)site, self->context, false);
	cell->read = (uint32_t)order;
	return true;
}

/* In a granule of this thread's own with an array of histories. */
INLINE bool quick_in_array(struct thread *self, uint64_t address, uint64_t site, uint64_t order,
			   uint32_t length, enum access access)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	uint32_t *states = &array_at(HISTORY(low))->states[address % 8], next[8];
	if (LOW_OWNER(low) != (self->owner | FORM_ARRAY << 2) || address % 8 + length > 8)
		return false;
	for (uint32_t i = 0; i < length; i++) {
		uint32_t history = STATE_HISTORY(states[i]);
		if (!history)
			return false;
		next[i] = i && history == STATE_HISTORY(states[i - 1])
				  ? STATE_HISTORY(next[i - 1])
				  : history_step(self, history, (uint32_t)site, access);
		next[i] = STATE(next[i], access == ACCESS_WRITE ? self->context : STATE_CONTEXT(states[i]));
	}
	for (uint32_t i = 0; i < length; i++)
		states[i] = next[i];
	if (access == ACCESS_READ)
		cell->read = (uint32_t)order;
	else
		cell->write = (uint32_t)order;
	if (address % 8 + length == 8)
		array_settle(self, cell);
	return true;
}

#define FORM(length) ((length) == 8 ? FORM_WHOLE : FORM_HALF)

/* A granule in halves, both private. */
INLINE bool quick_in_halves(const struct thread *self, uint64_t address, uint64_t site, uint64_t order,
			    enum access access)
{
	return quick_privately(self, layout_cell(address), FORM_HALF, site, order, access) &&
	       quick_privately(self, layout_cell(address | 4), FORM_HALF, site, order, access);
}

/* An access of 4 or 8 bytes to a granule in parts or with a row, or of 8 to one in halves. */
INLINE bool quick_unit(struct thread *self, uint64_t address, uint64_t site, uint64_t order, uint32_t length,
		       enum access access)
{
	uint64_t low = cell_low(layout_whole(address));
	if (LOW_IS_CUT(low))
		return quick_parts(self, low, address, length, site, order, access);
	if (OWNER_FORM(LOW_OWNER(low)) == FORM_ARRAY)
		return quick_in_row(self, address, site, order, length, access, true) ||
		       quick_in_array(self, address, site, order, length, access);
	return length == 8 && address % 8 == 0 && OWNER_FORM(LOW_OWNER(low)) == FORM_HALF &&
	       quick_in_halves(self, address, site, order, access);
}

/* ---- bytes of a granule that two threads use ---- */

INLINE uint64_t glance_of(const struct thread *self, uint64_t site)
{
	return (uint64_t)(uint16_t)self->context << 22 | site << 38 |
	       (uint64_t)(RELAXED_GET(runtime.recycled) & 3) << 60 | 1ull << 62;
}

INLINE struct glance *glance_place(struct thread *self, uint64_t low, uint64_t site)
{
	return &self->glances[(low ^ site * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu >> 52];
}

/* The byte's history after a read that teaches nothing; false when that is not known. A signal handler may
 * put another one in its place meanwhile. */
INLINE bool glance_find(struct thread *self, uint64_t low, uint64_t site, uint32_t *history)
{
	const struct glance *place = glance_place(self, low, site);
	uint64_t to = RELAXED_GET(place->to);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	bool same = RELAXED_GET(place->from) == low;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*history = HISTORY(to);
	return same && to - HISTORY(to) == glance_of(self, site) && RELAXED_GET(place->to) == to;
}

INLINE void glance_note(struct thread *self, uint64_t low, uint64_t site, uint32_t history)
{
	struct glance *place = glance_place(self, low, site);
	RELAXED_SET(place->to, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(place->from, low);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(place->to, glance_of(self, site) | history);
}

/* A byte in this state, as a cell's first half. */
INLINE uint64_t low_of_byte(uint64_t low, uint32_t state)
{
	return (low & ~(HISTORY(~0u) | LOW_CONTEXT_BITS)) | STATE_HISTORY(state) |
	       (uint64_t)STATE_CONTEXT(state) << 32;
}

/* A further read of one byte by the second thread. */
INLINE bool quick_glance(struct thread *self, uint64_t address, uint64_t site, uint64_t order)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	uint32_t *state = &array_at(HISTORY(low))->states[address % 8], history;
	if (LOW_OWNER(low) != (self->owner | FORM_ARRAY << 2 | MODE_ONE) ||
	    !glance_find(self, low_of_byte(low, *state), site, &history))
		return false;
	if (history != STATE_HISTORY(*state)) {
		*state = STATE(history, STATE_CONTEXT(*state));
		if (address % 8 == 7)
			array_settle(self, cell);
	}
	cell->read = (uint32_t)order;
	return true;
}

/* What an access makes of a byte in this state, and whom it meets; false when that is not known, or the cell
 * does not stay as it is. */
INLINE bool quick_byte(struct thread *self, struct cell byte, uint64_t word, enum access access,
		       uint32_t *next, uint16_t *meets, uint32_t *met)
{
	uint64_t site = WORD_SITE(word);
	bool looks = access == ACCESS_READ && OWNER_SLOT(byte.owner) == self->slot;
	uint32_t history;
	if (looks && glance_find(self, low_of(byte), site, &history)) {
		*next = STATE(history, byte.context);
		return true;
	}
	struct change change;
	if (!change_find(self, change_key(byte, word, access), &change) ||
	    LOW_OWNER(change.next) != byte.owner)
		return false;
	if (UNLIKELY(runtime.options.jitter_us) && (access == ACCESS_WRITE || change.meets[0]))
		return false; /* delays belong there */
	change_learn_edge(self, &change, byte.context, word, access);
	*next = STATE(HISTORY(change.next), access == ACCESS_WRITE ? self->context : byte.context);
	for (int i = 0; i < 2; i++)
		if (change.meets[i])
			meets[(*met)++] = change.meets[i];
	if (looks && !change.meets[0])
		glance_note(self, low_of(byte), site, HISTORY(change.next));
	return true;
}

/* Bytes of a granule that two threads use, this one among them, where the cell stays as it is but for an
 * order. All changes are known before the first one is made. */
static __attribute__((noinline)) bool quick_in_shared(struct thread *self, struct cell *cell, uint64_t word,
						      uint32_t from, uint32_t to, enum access access)
{
	struct cell now = cell_get(cell);
	bool array = OWNER_FORM(now.owner) == FORM_ARRAY, second = OWNER_SLOT(now.owner) == self->slot;
	if (OWNER_MODE(now.owner) != MODE_ONE || OWNER_FORM(now.owner) < FORM_WHOLE ||
	    !(second || HISTORY_WRITER(now.history) == self->slot) || self->couples_left ||
	    (access == ACCESS_WRITE && !array))
		return false;
	uint32_t *states = array ? array_at(HISTORY(now.history))->states : NULL;
	uint32_t old = 0, next[8], differ = 0;
	uint16_t meets[16];
	uint32_t met = 0;
	for (uint32_t i = from; i < to; i++) {
		uint32_t state = array ? states[i] : STATE(HISTORY(now.history), now.context);
		struct cell byte = array ? array_byte(now, state) : now;
		if (i > from && state == old)
			next[i] = next[i - 1];
		else if (!quick_byte(self, byte, word, access, &next[i], meets, &met))
			return false;
		old = state;
		differ |= next[i] ^ old;
	}
	if (differ && !array)
		return false;
	for (uint32_t i = from; differ && i < to; i++)
		states[i] = next[i];
	*(second ? &cell->read : &cell->write) = WORD_ORDER(word);
	if (met) {
		self->together.on = true;
		while (met)
			context_meet(self, meets[--met], access);
		context_end(self, access);
	}
	if (array && differ && to == 8)
		array_settle(self, cell);
	return true;
}

/* ---- cells that several threads know ---- */

/* A read by one of the two threads that a cell names, unless it may be passed over from now on. */
INLINE bool quick_again(struct thread *self, struct cell *cell, struct cell raw, const struct change *change,
			uint64_t word)
{
	const struct history *old = history_at(HISTORY(raw.history));
	uint32_t last = OWNER_SLOT(raw.owner) == self->slot ? old->read : old->own & ~OWN_LAST;
	if (change->meets[0] || (last == WORD_SITE(word) && site_is_calm(self, word)))
		return false;
	uint32_t before = news(self);
	change_learn_edge(self, change, raw.context, word, ACCESS_READ);
	note_calm(self, word, before != news(self));
	cell_set(cell, change_cell(self, raw, change->next, word, ACCESS_READ));
	return true;
}

/* A cell that another thread was at alone, or that two threads know, this one among them or for its write.
 * All that it teaches is logged but for its edge. */
INLINE bool quick_change(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			 uint32_t length, enum access access)
{
	struct cell raw = cell_get(cell);
	uint32_t mode = OWNER_MODE(raw.owner), slot = OWNER_SLOT(raw.owner);
	bool mine = slot == self->slot, one = mode == MODE_ONE;
	struct change change;
	if (OWNER_FORM(raw.owner) != FORM(length) || address % length || !slot || self->couples_left ||
	    runtime.options.jitter_us || WORD_SLOT(word) != self->slot || self->held ||
	    !(one || (mode == MODE_ALL && !mine)) ||
	    (one && access == ACCESS_READ && !mine && HISTORY_WRITER(raw.history) != self->slot) ||
	    !change_find(self, change_key(raw, word, access), &change))
		return false;
	if (self->taken.cell)
		cell_settle(self);
	if (one && access == ACCESS_READ)
		return quick_again(self, cell, raw, &change, word);
	change_learn_edge(self, &change, cell_context(raw), word, access);
	return cell_change_hands(self, cell, raw, &change, word, address, access);
}

/* A read of a value that many threads have read, this one here among them. */
INLINE bool quick_listed(struct thread *self, const struct cell *cell, uint64_t word, uint64_t address,
			 uint32_t length)
{
	uint16_t owner = LOW_OWNER(cell_low(cell));
	return OWNER_MODE(owner) == MODE_MANY && OWNER_FORM(owner) == FORM(length) && !(address % length) &&
	       reads_listed_again(self, cell, word);
}

/* A cell of this thread's own after another one was there, at a site without memos. */
INLINE bool quick_step(struct thread *self, struct cell *cell, uint64_t word, enum access access)
{
	uint64_t low = cell_low(cell);
	if (LOW_OWNER(low) != (self->owner | FORM_WHOLE << 2) || !history_at(HISTORY(low))->before)
		return false;
	uint32_t next = history_step(self, HISTORY(low), WORD_SITE(word), access);
	uint64_t context =
		access == ACCESS_WRITE ? (uint64_t)(uint16_t)self->context << 32 : low & LOW_CONTEXT_BITS;
	*(volatile uint64_t *)cell = (uint64_t)LOW_OWNER(low) << 48 | context | next;
	*(access == ACCESS_WRITE ? &cell->write : &cell->read) = WORD_ORDER(word);
	return true;
}

/* The first write to a granule. */
INLINE bool quick_fresh(struct thread *self, struct cell *cell, uint64_t site, uint64_t order)
{
	uint16_t owner = self->owner | (FORM_WHOLE | FORM_PRIVATE) << 2;
	uint64_t low = (uint64_t)owner << 48 | site << PRIVATE_ORDER_BITS | (order & PRIVATE_ORDER);
	return !cell_low(cell) && site_is_marked(site) &&
	       cell_swap(cell, (struct cell){ 0 }, cell_of(low, (uint16_t)self->context));
}

/* Some bytes of a granule that is private to this thread, or fresh. */
INLINE bool quick_open_row(struct thread *self, struct cell *cell, uint64_t word, uint32_t from, uint32_t to,
			   enum access access, bool element)
{
	uint16_t owner = LOW_OWNER(cell_low(cell));
	return (!owner || owner == (self->owner | (FORM_WHOLE | FORM_PRIVATE) << 2)) && !self->held &&
	       row_access(self, cell, from, to, word, access, FORM_PART, element);
}

/* ---- one or two bytes ---- */

INLINE bool was_read_at(const struct cell *part, uint64_t site)
{
	return private_read_site(high_of(cell_get(part))) == site;
}

/* Can a cut granule perhaps become whole again? */
INLINE bool parts_are_alike(uint64_t low)
{
	const struct cell *cells = cut_at((uint32_t)low)->cells;
	uint64_t first = cell_low(cells), differ = 0;
	for (uint32_t left = LOW_CONTEXT(low); left; left &= left - 1)
		differ |= cell_low(&cells[__builtin_ctz(left)]) ^ first;
	return OWNER_IS_PRIVATE(LOW_OWNER(first)) ? differ <= PRIVATE_ORDER : !LOW_OWNER(differ);
}

/* One part of a granule, just as large, that is private to this thread. */
INLINE bool quick_part(const struct thread *self, uint64_t address, uint64_t site, uint32_t length,
		       enum access access, bool element)
{
	uint64_t low = cell_low(layout_whole(address));
	uint32_t from = address % 8, edges = (1u | 1u << length) << from, span = ((2u << length) - 1) << from;
	if (!LOW_IS_CUT(low) || ((LOW_CONTEXT(low) | 1u << 8) & span) != edges)
		return false;
	struct cell *part = &cut_at((uint32_t)low)->cells[from];
	if (element && from + length == 8 && (access == ACCESS_WRITE || !was_read_at(part, site)))
		return false; /* where a walk ends the granule may become whole again */
	return quick_privately(self, part, FORM_PART, site, self->order, access);
}

INLINE bool quick_small(struct thread *self, uint64_t word, uint64_t address, uint32_t length,
			enum access access, bool element)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	if (UNLIKELY(address % length || self->owner == OWNER_NEVER))
		return false;
	if (LOW_IS_CUT(low)) {
		if (!quick_parts(self, low, address, length, WORD_SITE(word), WORD_ORDER(word), access))
			return false;
		if (element && address % 8 + length == 8 && !self->held && parts_are_alike(low))
			parts_mend(self, address & ~7ull);
		return true;
	}
	if (quick_in_row(self, address, WORD_SITE(word), WORD_ORDER(word), length, access, true)) {
		if (element && address % 8 + length == 8)
			row_settle(self, cell);
		return true;
	}
	uint32_t from = address % 8, to = from + length;
	bool member = !element && access == ACCESS_WRITE;
	return quick_in_array(self, address, WORD_SITE(word), WORD_ORDER(word), length, access) ||
	       quick_open_row(self, cell, word, from, to, access, !member) ||
	       quick_in_shared(self, cell, word, from, to, access);
}

#endif
