/* Glances: accesses to single bytes of a granule with an array (array.c) that teach
 * nothing, remembered by each thread. What a read by the second of two threads may tell
 * depends on the byte's state, the site and the context of the reader. What the first one's
 * write makes of a byte, and what a thread does to a byte of its own, depends on the
 * byte's history and the site alone. */
#ifndef RUNTIME_GLANCE_H
#define RUNTIME_GLANCE_H

#include "loom/runtime/runtime.h"

/* Of a read by the second thread, now. */
INLINE uint32_t glance_shared(const struct thread *self)
{
	return (uint16_t)RELAXED_GET(self->context) | (RELAXED_GET(runtime.recycled) & 3) << 16 | 1u << 18;
}

/* Of an access to a byte of one's own. */
INLINE uint32_t glance_own(enum access access)
{
	return 1u << 18 | (uint32_t)(access == ACCESS_WRITE) << 19;
}

/* Of a write by the first thread. */
INLINE uint32_t glance_over(void)
{
	return 1u << 18 | 1u << 20 | (RELAXED_GET(runtime.recycled) & 3) << 16;
}

#define GLANCE_MEETS (1u << 21) /* the access meets the other thread */

INLINE struct glance *glance_place(struct thread *self, uint64_t from)
{
	return &self->glances[from * 0xff51afd7ed558ccdu >> 52];
}

/* Longer contexts do not fit into a state. */
INLINE bool state_tells(uint32_t context)
{
	return context >> (32 - STATE_HISTORY_BITS) == 0;
}

/* A cell's first half tells the writer. */
INLINE uint64_t glance_from(uint64_t low, uint64_t site, uint32_t state)
{
	return (low & ~(uint64_t)HISTORY(~0u)) << 32 | site << 32 | state;
}

/* The byte's state after such an access; false when that is not known. It may come with GLANCE_MEETS, where `met`
 * is. A signal handler may put another one in its place meanwhile. */
INLINE bool glance_find(struct thread *self, uint64_t low, uint64_t site, uint32_t state, uint32_t how,
			uint32_t *next, bool *met)
{
	uint64_t from = glance_from(low, site, state);
	const struct glance *place = glance_place(self, from);
	uint64_t to = RELAXED_GET(place->to);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	bool same = RELAXED_GET(place->from) == from;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*next = (uint32_t)to;
	uint32_t found = (uint32_t)(to >> 32);
	if (!same || (found ^ how) & ~(met ? GLANCE_MEETS : 0) || RELAXED_GET(place->to) != to)
		return false;
	if (met)
		*met |= found & GLANCE_MEETS;
	return true;
}

INLINE void glance_note(struct thread *self, uint64_t low, uint64_t site, uint32_t state, uint32_t how,
			uint32_t next)
{
	uint64_t from = glance_from(low, site, state);
	struct glance *place = glance_place(self, from);
	RELAXED_SET(place->to, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(place->from, from);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(place->to, (uint64_t)how << 32 | next);
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

/* The state is stored, unless it is the granule's last one and the array may come to its end with it. */
INLINE bool glance_store(uint32_t *state, uint32_t next, uint64_t address)
{
	if (next != *state) {
		if (address % 8 == 7 && STATE_HISTORY(state[-1]) == STATE_HISTORY(next))
			return false;
		*state = next;
	}
	return true;
}

/* A further read of a byte by the second thread; calls nothing, as the next one. */
INLINE bool glance_second(struct thread *self, uint64_t address, uint64_t site)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	uint32_t *state = &array_at(HISTORY(low))->states[address % 8], next;
	if (!low_is_second(self, low) ||
	    !glance_find(self, low, site, *state, glance_shared(self), &next, NULL) ||
	    !glance_store(state, next, address))
		return false;
	cell->read = (uint32_t)self->order;
	return true;
}

/* An access to a byte of one's own. */
INLINE bool glance_own_byte(struct thread *self, uint64_t address, uint64_t site, enum access access)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell);
	uint32_t *state = &array_at(HISTORY(low))->states[address % 8], next;
	if (!low_is_own_array(self, low) ||
	    !glance_find(self, 0, site, STATE_HISTORY(*state), glance_own(access), &next, NULL))
		return false;
	next = STATE(next, access == ACCESS_WRITE ? (uint16_t)self->context : STATE_CONTEXT(*state));
	if (!glance_store(state, next, address))
		return false;
	*(access == ACCESS_WRITE ? &cell->write : &cell->read) = (uint32_t)self->order;
	return true;
}

/* The same for an int among bytes that differ from it, as long as its own are alike. */
INLINE bool glance_own_half(struct thread *self, uint64_t address, uint64_t site, uint64_t order,
			    enum access access)
{
	struct cell *cell = layout_whole(address);
	uint64_t low = cell_low(cell), both[2];
	uint32_t *states = &array_at(HISTORY(low))->states[address % 8], old = states[0], next;
	if (!low_is_own_array(self, low) || address % 4)
		return false;
	__builtin_memcpy(both, states, sizeof both);
	if ((both[0] ^ both[1]) | (both[0] ^ (old | (uint64_t)old << 32)) ||
	    !glance_find(self, 0, site, STATE_HISTORY(old), glance_own(access), &next, NULL))
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
