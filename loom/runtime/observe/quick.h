/* Accesses that teach nothing, decided without entering the runtime: to cells that
 * are private to the thread, where the site's mark says so, and to cells in a state that
 * one of the site's memos knows. Everything else is answered with false, and whoever
 * then does the whole access once more does no harm. */
#ifndef RUNTIME_QUICK_H
#define RUNTIME_QUICK_H

#include "loom/runtime/observe/reread.h"
#include "loom/runtime/observe/change.h"
#include "loom/runtime/observe/cached_step.h"
#include "loom/runtime/observe/handover.h"
#include "loom/runtime/observe/cells.h"

INLINE bool quick_privately(const struct thread *self, struct cell *cell, uint32_t form, uint64_t site,
			    uint64_t order, enum access access)
{
	uint16_t owner = (uint16_t)(self->tag >> 48 | (form | FORM_PRIVATE) << 2);
	uint32_t past = cell_private_past(cell);
	if (!cell_is_private(cell, owner) || !site_is_marked(site))
		return false;
	if (access == ACCESS_READ)
		return cell_private_read(cell, owner, site, order, past);
	cell_private_write(cell, (uint64_t)owner << 48, site, self->context, order);
	return true;
}

INLINE bool quick_by_memo(const struct thread *self, struct cell *cell, uint64_t order, enum access access,
			  struct memo *memos)
{
	return access == ACCESS_READ
		       ? cell_quick_read(cell, self->tag, (uint32_t)order, memos)
		       : cell_quick_write(cell, self->tag, self->context, (uint32_t)order, memos);
}

/* A cell of this thread's own after another one was there, and no memo knows the access. `quiet`: only if it
 * teaches nothing. */
INLINE bool quick_step(struct thread *self, struct cell *cell, uint64_t word, enum access access,
		       uint32_t unit, bool quiet)
{
	uint64_t low = cell_low(cell);
	if (LOW_OWNER(low) != (self->owner | (unit & ~FORM_NO_MEMOS) << 2) ||
	    !history_at(HISTORY(low))->before)
		return false;
	uint32_t next =
		(quiet ? history_step_known : history_step)(self, HISTORY(low), WORD_SITE(word), access);
	if (quiet && !next)
		return false;
	uint64_t state = (uint64_t)LOW_OWNER(low) << 48 | next;
	uint64_t context =
		access == ACCESS_WRITE ? (uint64_t)(uint16_t)self->context << 32 : low & LOW_CONTEXT_BITS;
	if (!(unit & FORM_NO_MEMOS) && !must_be_seen(WORD_SITE(word)))
		memo_learn(self, WORD_SITE(word), low, state);
	*(volatile uint64_t *)cell = state | context;
	*(access == ACCESS_WRITE ? &cell->write : &cell->read) = WORD_ORDER(word);
	return true;
}

/* Delays belong where something is learnt. */
INLINE bool steps_quietly(void)
{
	return UNLIKELY(runtime.options.jitter_us);
}

/* An access that no memo knows, to a cell of a form that memos are for. */
INLINE bool quick_without_memo(uint64_t word, uint64_t address, enum access access, uint32_t length,
			       bool quiet)
{
	struct thread *self = unsnarl_self;
	struct cell *cell = layout_cell(address);
	uint64_t low = cell_low(cell);
	if (self->owner == OWNER_NEVER || address % length)
		return false;
	if (OWNER_MODE(LOW_OWNER(low)) == MODE_ONE)
		return access == ACCESS_READ && known_read_take(self, cell, low, word);
	return quick_step(self, cell, word, access, FORM(length), quiet || steps_quietly());
}

#define LOW_IS_MANY(low) (OWNER_MODE(LOW_OWNER(low)) == MODE_MANY)

/* The cell of a part. */
INLINE bool quick_cell(struct thread *self, struct cell *cell, uint64_t site, uint64_t order,
		       enum access access)
{
	if (quick_privately(self, cell, FORM_PART, site, order, access))
		return true;
	if (LOW_IS_MANY(cell_low(cell)))
		return access == ACCESS_READ && passes_over(self, cell, site << WORD_SITE_SHIFT);
	return quick_by_memo(self, cell, order, access, memo_of(self, site));
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

/* Two bytes of a row at once. */
typedef uint64_t row_pair __attribute__((vector_size(16), aligned(8), may_alias));

/* What an access makes of bytes of a row. */
INLINE void row_step(uint64_t *bytes, uint32_t length, enum access access, uint64_t site, uint32_t context)
{
	uint64_t keep = access == ACCESS_READ ? ROW_READ_KEEPS : 0;
	uint64_t set = access == ACCESS_READ ? site << ROW_READ_SHIFT : ROW_WRITE(site, context);
	uint32_t pairs = length < 4 ? 0 : length / 2;
	for (uint32_t i = 0; i < pairs; i++)
		((row_pair *)bytes)[i] = (((row_pair *)bytes)[i] & keep) | set;
	for (uint32_t i = 2 * pairs; i < length; i++)
		bytes[i] = (bytes[i] & keep) | set;
}

/* Bytes of a row, all in one granule. `calls`: also those whose read may have something to log, and the last ones
 * of a walk, after which the row may be settled; who does without them needs few registers. */
INLINE bool quick_in_row(struct thread *self, uint64_t address, uint64_t site, uint64_t order,
			 uint32_t length, enum access access, bool element, bool calls)
{
	struct cell *cell = layout_whole(address);
	uint64_t number = cell_low(cell) ^ self->row; /* one load: owner and number belong together */
	if (number >> 32 || !site_is_marked(site) || (length > 1 && address % 8 + length > 8))
		return false;
	uint64_t *bytes = &row_at((uint32_t)number)->bytes[address % 8], last = 0;
	bool fresh = false, ends = element && address % 8 + length == 8;
	for (uint32_t i = 0; i < length && access == ACCESS_READ; i++) {
		if (!calls && !bytes[i])
			return false;
		fresh |= !bytes[i];
	}
	if (ends && !calls) {
		last = bytes[length - 1];
		row_step(&last, 1, access, site, self->context);
		if (last == bytes[-1])
			return false;
	}
	row_step(bytes, length, access, site, self->context);
	if (access == ACCESS_WRITE)
		cell->write = (uint32_t)order;
	else
		cell->read = (uint32_t)order;
	if (calls && fresh && cell_observes_edges())
		observe_edge(self, 0, 0, (uint32_t)site, self->context, false);
	if (calls && ends)
		row_settle(self, cell);
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
		if (length == 4 && i == 0)
			cached_step_note(self, 0, site, history, step_key_own(access), next[0]);
		next[i] = STATE(next[i], access == ACCESS_WRITE ? self->context : STATE_CONTEXT(states[i]));
	}
	for (uint32_t i = 0; i < length; i++)
		RELAXED_SET(states[i], next[i]); /* a few: no call of memcpy */
	if (access == ACCESS_READ)
		cell->read = (uint32_t)order;
	else
		cell->write = (uint32_t)order;
	if (address % 8 + length == 8)
		array_settle(self, cell);
	return true;
}

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
		return (length == 4 && cached_step_at_own_half(self, address, site, order, access)) ||
		       quick_in_row(self, address, site, order, length, access, false, true) ||
		       quick_in_array(self, address, site, order, length, access);
	return length == 8 && address % 8 == 0 && OWNER_FORM(LOW_OWNER(low)) == FORM_HALF &&
	       quick_in_halves(self, address, site, order, access);
}

/* ---- bytes of a granule that two threads use ---- */

/* What an access makes of a byte, as quick_byte, by the changes of cells (change.h); in a free run
 * a cached step from then on. */
static __attribute__((noinline)) bool quick_byte_changes(struct thread *self, uint64_t low, uint64_t word,
							 enum access access, uint32_t *next, uint32_t *met)
{
	uint64_t site = WORD_SITE(word);
	struct cell byte = cell_of(low, 0);
	bool second = OWNER_SLOT(byte.owner) == self->slot;
	struct change change;
	if (!change_find(self, change_key(byte, word, access), &change) ||
	    LOW_OWNER(change.next) != byte.owner)
		return false;
	bool meets = change.meets[0] || change.meets[1];
	if (UNLIKELY(runtime.options.jitter_us) && (access == ACCESS_WRITE || meets))
		return false; /* delays belong there */
	change_learn_edge(self, &change, byte.context, word, access);
	uint32_t how = meets ? STEP_MEETS : 0;
	*met |= how;
	*next = STATE(HISTORY(change.next), access == ACCESS_WRITE ? self->context : byte.context);
	if (UNLIKELY(runtime.controlled)) /* cached steps do not ask whether it is a point */
		return true;
	if (access == ACCESS_READ && second && state_tells(byte.context))
		cached_step_note(self, low, site, STATE(HISTORY(low), byte.context),
				 how | step_key_shared(self), *next);
	else if (access == ACCESS_WRITE && !second && change.source == EDGE_NONE)
		cached_step_note(self, low_of_second(low), site, HISTORY(low), how | step_key_over(),
				 STATE_HISTORY(*next));
	return true;
}

/* What an access makes of a byte, given as a cell's first half, and whether it meets the other thread; false
 * when that is not known, or the cell does not stay as it is. */
INLINE bool quick_byte(struct thread *self, uint64_t low, uint64_t word, enum access access, uint32_t *next,
		       uint32_t *met)
{
	uint64_t site = WORD_SITE(word);
	bool second = OWNER_SLOT(LOW_OWNER(low)) == self->slot;
	if (access == ACCESS_READ && second && state_tells(LOW_CONTEXT(low)) &&
	    cached_step_find(self, low, site, STATE(HISTORY(low), LOW_CONTEXT(low)), step_key_shared(self),
			     next, met))
		return true;
	if (access == ACCESS_WRITE && !second &&
	    cached_step_find(self, low_of_second(low), site, HISTORY(low), step_key_over(), next, met)) {
		*next = STATE(*next, self->context);
		return true;
	}
	return quick_byte_changes(self, low, word, access, next, met);
}

/* The cell names two threads, this one among them, and what it meets is looked for no more. Only its first
 * half is looked at: an order that was stored a moment ago would hold up a look at all of it. */
INLINE bool shared_with(const struct thread *self, uint64_t low)
{
	return OWNER_MODE(LOW_OWNER(low)) == MODE_ONE && OWNER_FORM(LOW_OWNER(low)) >= FORM_WHOLE &&
	       (OWNER_SLOT(LOW_OWNER(low)) == self->slot || HISTORY_WRITER(low) == self->slot) &&
	       !self->couples_left;
}

/* An order, and the event if there is one. */
INLINE void shared_end(struct thread *self, struct cell *cell, uint64_t low, uint64_t word,
		       enum access access, bool met)
{
	bool second = OWNER_SLOT(LOW_OWNER(low)) == self->slot;
	*(second ? &cell->read : &cell->write) = WORD_ORDER(word);
	if (met)
		context_once(self, second ? HISTORY_WRITER(low) : OWNER_SLOT(LOW_OWNER(low)), access);
}

/* Bytes of a granule that two threads use, this one among them, where the cell stays as it is but for an
 * order. All changes are known before the first one is made. */
static __attribute__((noinline)) bool quick_in_shared(struct thread *self, uint64_t word, uint64_t address,
						      uint32_t length, enum access access)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	uint32_t from = address % 8, to = from + length;
	bool array = OWNER_FORM(LOW_OWNER(low)) == FORM_ARRAY;
	if (!shared_with(self, low) || (access == ACCESS_WRITE && !array) ||
	    !passes_control(self, WORD_SITE(word), address, length, access))
		return false;
	uint32_t *states = array ? array_at(HISTORY(low))->states : NULL;
	uint32_t old = 0, next[8], differ = 0, met = 0;
	for (uint32_t i = from; i < to; i++) {
		uint32_t state = array ? states[i] : 0;
		if (i > from && state == old)
			next[i] = next[i - 1];
		else if (!quick_byte(self, array ? low_of_byte(low, state) : low, word, access, &next[i],
				     &met))
			return false;
		old = state;
		differ |= array ? next[i] ^ old : STATE_HISTORY(next[i]) ^ HISTORY(low);
	}
	if (differ && !array)
		return false;
	for (uint32_t i = from; differ && i < to; i++)
		states[i] = next[i];
	shared_end(self, cell, low, word, access, met);
	if (array && differ && to == 8)
		array_settle(self, cell);
	return true;
}

/* One byte of an array of this thread's own. */
static __attribute__((noinline)) bool quick_own_byte(struct thread *self, uint64_t word, uint64_t address,
						     enum access access)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	uint32_t *state = &array_at(HISTORY(low))->states[address % 8], old = STATE_HISTORY(*state);
	if (!low_is_own_array(self, low) || !old)
		return false;
	uint32_t next = history_step(self, old, WORD_SITE(word), access);
	cached_step_note(self, 0, WORD_SITE(word), old, step_key_own(access), next);
	*state = STATE(next, access == ACCESS_WRITE ? self->context : STATE_CONTEXT(*state));
	*(access == ACCESS_WRITE ? &cell->write : &cell->read) = WORD_ORDER(word);
	if (address % 8 == 7)
		array_settle(self, cell);
	return true;
}

/* ---- cells that several threads know ---- */

/* A read of a value that many threads have read, this one here among them. */
INLINE bool quick_listed(struct thread *self, const struct cell *cell, uint64_t word, uint64_t address,
			 uint32_t length)
{
	uint16_t owner = LOW_OWNER(cell_low(cell));
	return OWNER_MODE(owner) == MODE_MANY && OWNER_FORM(owner) == FORM(length) && !(address % length) &&
	       passes_over_listed(self, cell, word);
}

/* Some bytes of a granule that is private to this thread, or fresh. */
INLINE bool quick_open_row(struct thread *self, uint64_t address, uint64_t word, uint32_t length,
			   enum access access, bool element)
{
	uint32_t owner = LOW_OWNER(cell_low(layout_whole(address))), from = address % 8;
	bool halves = owner == OWNER(0u, FORM_HALF, MODE_ALL) ||
		      owner == (self->owner | (FORM_HALF | FORM_PRIVATE) << 2);
	return !runtime.controlled &&
	       (!owner || halves || owner == (self->owner | (FORM_WHOLE | FORM_PRIVATE) << 2)) &&
	       !self->held &&
	       row_access(self, address & ~7ull, from, from + length, word, access, FORM_PART, element);
}

/* Some bytes of a granule that another thread alone was at, all in the same way, in a way that is known but for
 * the edge: it gets an array. */
INLINE bool quick_open(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
		       uint32_t length)
{
	if (UNLIKELY(runtime.controlled)) /* who meets whom must be seen */
		return false;
	struct cell raw = cell_get(cell);
	struct change change;
	return OWNER_FORM(raw.owner) == FORM_WHOLE && OWNER_MODE(raw.owner) == MODE_ALL &&
	       OWNER_SLOT(raw.owner) != self->slot && !self->couples_left && !self->held &&
	       !runtime.options.jitter_us && change_find(self, change_key(raw, word, ACCESS_READ), &change) &&
	       array_open(self, cell, raw, &change, address % 8, (uint32_t)(address % 8 + length), word);
}

/* What a first read makes of bytes from..to of what another thread alone was at; false when that is not known. */
INLINE bool join_bytes(struct thread *self, struct cell all, struct array *bytes, uint64_t word,
		       uint32_t from, uint32_t to, bool *met)
{
	uint32_t old = 0, next = 0;
	for (uint32_t i = from; i < to; i++) {
		if (i == from || bytes->states[i] != old) {
			struct cell byte = array_byte(all, old = bytes->states[i]);
			struct change change;
			if (!change_find(self, change_key(byte, word, ACCESS_READ), &change) ||
			    OWNER_MODE(LOW_OWNER(change.next)) != MODE_ONE)
				return false;
			change_learn_edge(self, &change, byte.context, word, ACCESS_READ);
			next = STATE(HISTORY(change.next), byte.context);
			*met |= change.meets[0];
		}
		bytes->states[i] = next;
	}
	return true;
}

/* The same where its bytes differ: the cell names both threads from then on. The swap comes first, so that no
 * other thread's read is ever taken for this one's. What was private gets an array for its row. */
static __attribute__((noinline)) bool quick_join(struct thread *self, struct cell *cell, uint64_t word,
						 uint32_t from, uint32_t to)
{
	if (UNLIKELY(runtime.controlled)) /* who meets whom must be seen */
		return false;
	struct cell raw = cell_get(cell), fresh = raw;
	struct array bytes;
	uint32_t first = OWNER_SLOT(raw.owner);
	bool met = false, row = OWNER_IS_PRIVATE(raw.owner);
	if (owner_in_plain(raw.owner) != OWNER(first, FORM_ARRAY, MODE_ALL) || first == self->slot ||
	    self->couples_left || self->held || runtime.options.jitter_us)
		return false;
	fresh.owner = OWNER(first, FORM_ARRAY, MODE_ALL);
	fresh.history = 0;
	uint32_t *states = array_at(HISTORY(raw.history))->states;
	const uint64_t *sites = row_at(raw.history)->bytes;
	for (uint32_t i = 0; i < 8; i++)
		bytes.states[i] = !row                            ? RELAXED_GET(states[i])
				  : i && sites[i] == sites[i - 1] ? bytes.states[i - 1]
								  : cached_step_at_row(self, sites[i]);
	if (!join_bytes(self, fresh, &bytes, word, from, to, &met))
		return false;
	fresh.owner = OWNER(self->slot, FORM_ARRAY, MODE_ONE);
	fresh.history = first << HISTORY_BITS | (row ? 0 : raw.history);
	fresh.context = 0;
	fresh.write = order_is_later(raw.read, raw.write) ? raw.read : raw.write;
	fresh.read = WORD_ORDER(word);
	if (!(row ? array_replace_row(self, cell, raw, fresh, &bytes) : cell_swap(cell, raw, fresh)))
		return false;
	for (uint32_t i = from; i < to && !row; i++)
		RELAXED_SET(states[i], bytes.states[i]);
	if (met)
		context_once(self, first, ACCESS_READ);
	if (to == 8)
		array_settle(self, cell);
	return true;
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
	uint32_t from = address % 8, to = from + length;
	if (UNLIKELY(address % length || self->owner == OWNER_NEVER || must_be_seen(WORD_SITE(word))))
		return false;
	if (quick_in_row(self, address, WORD_SITE(word), WORD_ORDER(word), length, access, element, true))
		return true;
	if (length == 1 && OWNER_FORM(LOW_OWNER(low)) == FORM_ARRAY && !OWNER_IS_PRIVATE(LOW_OWNER(low))) {
		if (OWNER_MODE(LOW_OWNER(low)) != MODE_ALL)
			return quick_in_shared(self, word, address, length, access);
		return quick_own_byte(self, word, address, access) ||
		       (access == ACCESS_READ && quick_join(self, cell, word, from, to));
	}
	if (LOW_IS_CUT(low)) {
		if (!quick_parts(self, low, address, length, WORD_SITE(word), WORD_ORDER(word), access))
			return false;
		if (element && address % 8 + length == 8 && !self->held && parts_are_alike(low))
			parts_mend(self, address & ~7ull);
		return true;
	}
	bool part_of_walk = element || access == ACCESS_READ;
	if (quick_open_row(self, address, word, length, access, part_of_walk))
		return true;
	if (LOW_OWNER(low) == (self->owner | FORM_WHOLE << 2)) /* of one's own: its bytes begin to differ */
		return part_of_walk && !self->held &&
		       array_access(self, cell, from, to, word, address & ~7ull, access, FORM_PART);
	if (access == ACCESS_READ && quick_open(self, cell, word, address, length))
		return true;
	return quick_in_array(self, address, WORD_SITE(word), WORD_ORDER(word), length, access) ||
	       quick_in_shared(self, word, address, length, access) ||
	       (access == ACCESS_READ && quick_join(self, cell, word, from, to));
}

#endif
