/* Cached steps: accesses to bytes of a granule with an array (array.c) that teach nothing,
 * remembered by each thread with the state that they lead to. What a read by the second of two threads may tell
 * depends on the byte's state, the site and the context of the reader. What the first one's
 * write makes of a byte, and what a thread does to a byte of its own, depends on the
 * byte's history and the site alone. */
#ifndef RUNTIME_CACHED_STEP_H
#define RUNTIME_CACHED_STEP_H

#include "loom/runtime/observe/handover.h"
#include "loom/runtime/observe/cells.h"

/* Of a read by the second thread, now. */
INLINE uint32_t step_key_shared(const struct thread *self)
{
	return (uint16_t)RELAXED_GET(self->context) | (RELAXED_GET(runtime.recycled) & 3) << 16 | 1u << 18;
}

/* Of an access to a byte of one's own. */
INLINE uint32_t step_key_own(enum access access)
{
	return 1u << 18 | (uint32_t)(access == ACCESS_WRITE) << 19;
}

/* Of a write by the first thread. */
INLINE uint32_t step_key_over(void)
{
	return 1u << 18 | 1u << 20 | (RELAXED_GET(runtime.recycled) & 3) << 16;
}

/* Of a row's byte as a state. */
INLINE uint32_t step_key_row(void)
{
	return 1u << 18 | 1u << 19 | 1u << 20;
}

#define STEP_MEETS (1u << 21) /* the access meets the other thread */

INLINE struct cached_step *cached_step_place(struct thread *self, uint64_t from)
{
	return &self->cached_steps[from * 0xff51afd7ed558ccdu >> 52];
}

/* Longer contexts do not fit into a state. */
INLINE bool state_tells(uint32_t context)
{
	return context >> (32 - STATE_HISTORY_BITS) == 0;
}

/* A cell's first half tells the writer. */
INLINE uint64_t cached_step_from(uint64_t low, uint64_t site, uint32_t state)
{
	return (low & ~(uint64_t)HISTORY(~0u)) << 32 | site << 32 | state;
}

/* The byte's state after such an access; false when that is not known. It may come with STEP_MEETS, where `met`
 * is. Looked at by one instruction: a signal handler may put another one in its place meanwhile. */
INLINE bool cached_step_get(struct thread *self, uint64_t from, uint32_t how, uint32_t *next, uint32_t *met)
{
	cell_bits found = *(const volatile cell_bits *)cached_step_place(self, from);
	uint64_t to = (uint64_t)found[1];
	uint32_t differ = (uint32_t)(to >> 32) ^ how;
	*next = (uint32_t)to;
	if ((uint64_t)found[0] != from || differ & ~(met ? STEP_MEETS : 0))
		return false;
	if (met)
		*met |= differ;
	return true;
}

INLINE void cached_step_put(struct thread *self, uint64_t from, uint32_t how, uint32_t next)
{
	struct cached_step *place = cached_step_place(self, from);
	RELAXED_SET(place->to, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(place->from, from);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(place->to, (uint64_t)how << 32 | next);
}

INLINE bool cached_step_find(struct thread *self, uint64_t low, uint64_t site, uint32_t state, uint32_t how,
			     uint32_t *next, uint32_t *met)
{
	return cached_step_get(self, cached_step_from(low, site, state), how, next, met);
}

INLINE void cached_step_note(struct thread *self, uint64_t low, uint64_t site, uint32_t state, uint32_t how,
			     uint32_t next)
{
	cached_step_put(self, cached_step_from(low, site, state), how, next);
}

/* A byte of a row (rows.c) as a state. */
INLINE uint32_t cached_step_at_row(struct thread *self, uint64_t byte)
{
	uint32_t state;
	if (!cached_step_get(self, byte, step_key_row(), &state, NULL)) {
		state = state_of_row(byte);
		cached_step_put(self, byte, step_key_row(), state);
	}
	return state;
}

/* A byte in this state, as a cell's first half. */
INLINE uint64_t low_of_byte(uint64_t low, uint32_t state)
{
	return (low & ~(HISTORY(~0u) | LOW_CONTEXT_BITS)) | STATE_HISTORY(state) |
	       (uint64_t)STATE_CONTEXT(state) << 32;
}

/* With the second thread's slot where the first one's is. */
INLINE uint64_t low_of_second(uint64_t low)
{
	return (uint64_t)OWNER_SLOT(LOW_OWNER(low)) << HISTORY_BITS;
}

/* What the cell of a granule with an array tells: two threads use it, this one as the second, or it is this
 * thread's own. */
INLINE bool low_is_second(const struct thread *self, uint64_t low)
{
	return LOW_OWNER(low) == (self->owner | FORM_ARRAY << 2 | MODE_ONE);
}

INLINE bool low_is_own_array(const struct thread *self, uint64_t low)
{
	return LOW_OWNER(low) == (self->owner | FORM_ARRAY << 2 | MODE_ALL);
}

/* Two threads use it, this one as the first. */
INLINE bool low_is_first(const struct thread *self, uint64_t low)
{
	return (LOW_OWNER(low) & 63) == (FORM_ARRAY << 2 | MODE_ONE) && HISTORY_WRITER(low) == self->slot;
}

/* What is left to do after an access to one byte. */
enum step_taken { STEP_NOT_KNOWN, STEP_TAKEN, STEP_TAKEN_LAST, STEP_TAKEN_MEETS };

/* A byte's next state. With the granule's last one the array may come to its end: when all are alike, or when the
 * first thread is `over` what the second one read. */
INLINE enum step_taken cached_step_store(uint32_t *state, uint32_t next, uint64_t address, bool over)
{
	if (next == *state)
		return STEP_TAKEN;
	*state = next;
	return address % 8 == 7 && (over || !STATE_HISTORY(state[-7] ^ next)) ? STEP_TAKEN_LAST : STEP_TAKEN;
}

/* A byte that two threads use: a read by the second one, a write by the first. */
INLINE enum step_taken cached_step_at_shared(struct thread *self, uint64_t address, uint64_t site,
					     enum access access)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	uint32_t *state = &array_at(HISTORY(low))->states[address % 8], next, met = 0;
	bool reads = access == ACCESS_READ;
	if (!(reads ? low_is_second(self, low) : low_is_first(self, low)) ||
	    !(reads ? cached_step_find(self, low, site, *state, step_key_shared(self), &next, &met)
		    : cached_step_find(self, low_of_second(low), site, STATE_HISTORY(*state), step_key_over(),
				       &next, &met)))
		return STEP_NOT_KNOWN;
	*(reads ? &cell->read : &cell->write) = (uint32_t)self->order;
	enum step_taken done = cached_step_store(state, reads ? next : STATE(next, (uint16_t)self->context),
						 address, !reads);
	return met ? STEP_TAKEN_MEETS : done;
}

/* Then, if it meets the other thread and the cell still names both; always true. */
INLINE bool cached_step_meet(struct thread *self, uint64_t address, enum access access)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	bool reads = access == ACCESS_READ;
	if (reads ? low_is_second(self, low) : low_is_first(self, low))
		handover_meet(self, reads ? HISTORY_WRITER(low) : OWNER_SLOT(LOW_OWNER(low)), access);
	if (address % 8 == 7)
		array_settle(self, cell);
	return true;
}

/* The same for several bytes of a granule, read: one for each state that they are in. All are known before the
 * first one changes. */
INLINE bool cached_step_at_bytes(struct thread *self, uint64_t word, uint64_t address, uint32_t length)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	uint32_t *states = &array_at(HISTORY(low))->states[address % 8], next[8], differ = 0, met = 0, i = 0;
	if (!low_is_second(self, low))
		return false;
	uint32_t how = step_key_shared(self);
	do {
		uint32_t old = RELAXED_GET(states[i]), then;
		if (!cached_step_find(self, low, WORD_SITE(word), old, how, &then, &met))
			return false;
		differ |= then ^ old;
		do
			next[i++] = then;
		while (i < length && states[i] == old);
	} while (i < length);
	cell->read = WORD_ORDER(word);
	if (differ) {
		for (i = 0; i < length; i++)
			RELAXED_SET(states[i], next[i]); /* a few: no call of memcpy */
		if (address % 8 + length == 8 && !STATE_HISTORY(states[(int)length - 8] ^ next[length - 1]))
			array_settle(self, cell);
	}
	if (met)
		context_once(self, HISTORY_WRITER(low), ACCESS_READ);
	return true;
}

/* An access to a byte of one's own. */
INLINE enum step_taken cached_step_at_own(struct thread *self, uint64_t address, uint64_t site,
					  enum access access)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	uint32_t *state = &array_at(HISTORY(low))->states[address % 8], next;
	if (!low_is_own_array(self, low) ||
	    !cached_step_find(self, 0, site, STATE_HISTORY(*state), step_key_own(access), &next, NULL))
		return STEP_NOT_KNOWN;
	next = STATE(next, access == ACCESS_WRITE ? (uint16_t)self->context : STATE_CONTEXT(*state));
	*(access == ACCESS_WRITE ? &cell->write : &cell->read) = (uint32_t)self->order;
	return cached_step_store(state, next, address, false);
}

/* The same for an int among bytes that differ from it, as long as its own are alike. */
INLINE bool cached_step_at_own_half(struct thread *self, uint64_t address, uint64_t site, uint64_t order,
				    enum access access)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell), both[2];
	uint32_t *states = &array_at(HISTORY(low))->states[address % 8], old = states[0], next;
	if (!low_is_own_array(self, low) || address % 4)
		return false;
	__builtin_memcpy(both, states, sizeof both);
	if ((both[0] ^ both[1]) | (both[0] ^ (old | (uint64_t)old << 32)) ||
	    !cached_step_find(self, 0, site, STATE_HISTORY(old), step_key_own(access), &next, NULL))
		return false;
	next = STATE(next, access == ACCESS_WRITE ? (uint16_t)self->context : STATE_CONTEXT(old));
	if (next != old) {
		if (address % 8 && STATE_HISTORY(states[-1]) == STATE_HISTORY(next))
			return false;
		both[0] = both[1] = next | (uint64_t)next << 32;
		__builtin_memcpy(states, both, sizeof both);
	}
	*(access == ACCESS_WRITE ? &cell->write : &cell->read) = (uint32_t)order;
	return true;
}

#endif
