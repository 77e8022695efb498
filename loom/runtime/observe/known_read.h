/* Known reads: further reads of a cell that two threads use which teach nothing and are no
 * communication. Each thread remembers them by the state of the cell, the site and its own
 * context, in the table of its cached steps (cached_step.h), which have other bits of `to`
 * set. */
#ifndef RUNTIME_KNOWN_READ_H
#define RUNTIME_KNOWN_READ_H

#include "loom/runtime/observe/cells.h"

INLINE uint64_t known_read_key(const struct thread *self, uint64_t site)
{
	return (uint64_t)(uint16_t)self->context << 22 | site << 38 |
	       (uint64_t)(RELAXED_GET(runtime.recycled) & 3) << 60 | 1ull << 62;
}

INLINE struct cached_step *known_read_place(struct thread *self, uint64_t low, uint64_t site)
{
	return &self->cached_steps[(low ^ site * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu >> 52];
}

/* The history after a read that teaches nothing; false when that is not known. A signal handler may
 * put another one in its place meanwhile. */
INLINE bool known_read_find(struct thread *self, uint64_t low, uint64_t site, uint32_t *history)
{
	const struct cached_step *place = known_read_place(self, low, site);
	uint64_t to = RELAXED_GET(place->to);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	bool same = RELAXED_GET(place->from) == low;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*history = HISTORY(to);
	return same && to - HISTORY(to) == known_read_key(self, site) && RELAXED_GET(place->to) == to;
}

INLINE void known_read_note(struct thread *self, uint64_t low, uint64_t site, uint32_t history)
{
	struct cached_step *place = known_read_place(self, low, site);
	RELAXED_SET(place->to, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(place->from, low);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(place->to, known_read_key(self, site) | history);
}

/* Of a cell, by one of the two threads that it names; `low` has no other form at this site. */
INLINE bool known_read_take(struct thread *self, struct cell *cell, uint64_t low, uint64_t word)
{
	uint32_t history;
	if (!known_read_find(self, low, WORD_SITE(word), &history))
		return false;
	if (history != HISTORY(low))
		*(volatile uint64_t *)cell = low - HISTORY(low) + history;
	*(OWNER_SLOT(LOW_OWNER(low)) == self->slot ? &cell->read : &cell->write) = WORD_ORDER(word);
	return true;
}

#endif
