/* Changes of cells by other threads than their owner, remembered by each thread: all
 * that an access teaches, but for contexts, depends on the state of the cell and the
 * site, so that one look-up tells the next state and whom the access meets; another
 * whether its edge, which contexts are part of, is logged. */
#ifndef RUNTIME_CHANGE_H
#define RUNTIME_CHANGE_H

#include "loom/runtime/observe/cells.h"

struct change_key {
	uint64_t state, event;
};

/* A private cell has its sites in both halves, and orders between them. */
INLINE struct change_key change_key(struct cell raw, uint64_t word, enum access access)
{
	uint64_t low = low_of(raw), high = high_of(raw);
	uint64_t event = WORD_SITE(word) | (uint64_t)(access == ACCESS_WRITE) << 22 | 1ull << 61 |
			 (uint64_t)(RELAXED_GET(runtime.recycled) & 3) << 62;
	if (!OWNER_IS_PRIVATE(raw.owner))
		return (struct change_key){ low_without_context(low), event };
	return (struct change_key){ low & ~PRIVATE_ORDER, event | (uint64_t)private_read_site(high) << 39 };
}

INLINE uint64_t change_hash(struct change_key key)
{
	return (key.state ^ key.event * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
}

INLINE struct change *change_place(struct thread *self, struct change_key key)
{
	return &self->changes[change_hash(key) >> 53];
}

/* A signal handler may put another one in its place meanwhile. */
INLINE bool change_find(struct thread *self, struct change_key key, struct change *out)
{
	const struct change *place = change_place(self, key);
	if (place->state != key.state || place->event != key.event)
		return false;
	*out = *place;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return RELAXED_GET(place->state) == key.state && RELAXED_GET(place->event) == key.event;
}

INLINE void change_note(struct thread *self, struct change_key key, struct change change)
{
	struct change *place = change_place(self, key);
	RELAXED_SET(place->event, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	change.state = key.state;
	change.event = change.edges[0] = change.edges[1] = 0;
	*place = change;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(place->event, key.event);
}

INLINE void change_learn_edge_in(struct thread *self, const struct change *change, uint32_t source_context,
				 uint32_t context, uint64_t word, enum access access)
{
	if (change->source == EDGE_FROM_NOBODY)
		observe_edge(self, 0, 0, WORD_SITE(word), context, false);
	else if (change->source != EDGE_NONE)
		observe_edge(self, change->source, source_context, WORD_SITE(word), context,
			     access == ACCESS_WRITE);
}

INLINE void change_learn_edge(struct thread *self, const struct change *change, uint32_t source_context,
			      uint64_t word, enum access access)
{
	change_learn_edge_in(self, change, source_context, self->context, word, access);
}

/* The cell then. An owner's accesses keep the order of the last one where another thread reads. */
INLINE struct cell change_cell(struct thread *self, struct cell raw, uint64_t next, uint64_t word,
			       enum access access)
{
	uint32_t write = raw.write, read = raw.read;
	uint16_t context = access == ACCESS_WRITE ? (uint16_t)self->context : cell_context(raw);
	bool alone = OWNER_MODE(raw.owner) == MODE_ALL;
	if (OWNER_IS_PRIVATE(raw.owner)) {
		uint64_t high = high_of(raw);
		write = order_of_private(low_of(raw));
		read = private_read_site(high) ? order_of_private(high >> PRIVATE_READ_ORDER) : write;
	}
	if (access == ACCESS_WRITE) {
		write = WORD_ORDER(word);
		read = OWNER_MODE(LOW_OWNER(next)) == MODE_ALL ? write : read;
	} else if (alone || OWNER_SLOT(raw.owner) == self->slot) {
		write = alone && order_is_later(read, write) ? read : write;
		read = WORD_ORDER(word);
	} else {
		write = WORD_ORDER(word);
	}
	return cell_of(next | (uint64_t)context << 32, (uint64_t)read << 32 | write);
}

/* Its events enter the contexts. */
INLINE void change_communicate(struct thread *self, const struct change *change, enum access access)
{
	for (int i = 0; i < 2; i++)
		if (change->meets[i])
			context_meet(self, change->meets[i], access);
	if (!self->together.on)
		context_end(self, access);
}

/* The cell becomes that, unless it is no longer `raw`. */
INLINE bool cell_hand_over(struct thread *self, struct cell *cell, struct cell raw,
			   const struct change *change, uint64_t word, uint64_t address, enum access access)
{
	struct cell fresh = change_cell(self, raw, change->next, word, access);
	if (UNLIKELY(!change->before)) /* it may have been a byte of an array that nobody had touched */
		fresh = cell_make_private(fresh);
	if (!cell_swap(cell, raw, fresh))
		return false;
	change_communicate(self, change, access);
	if (OWNER_MODE(raw.owner) == MODE_ALL && self->owner != OWNER_NEVER)
		self->taken = (struct taken){ .cell = cell,
					      .word = word,
					      .address = address,
					      .before = change->before,
					      .owner = owner_in_plain(raw.owner),
					      .access = (uint16_t)access };
	return true;
}

#endif
