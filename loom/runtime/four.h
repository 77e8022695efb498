/* Glances at four bytes at once (glance.h has those at one): reads by the second of two threads
 * of four bytes that are not an int of their own, as a compressor's look at the next ones, in one
 * granule or in two. What they become is known by all four states together. */
#ifndef RUNTIME_FOUR_H
#define RUNTIME_FOUR_H

#include "loom/runtime/glance.h"

/* The bytes, and the first one's cell. Those from `in_first` on are in the next granule. */
struct four {
	struct cell *cell;
	uint64_t low;
	uint32_t *states[4], in_first;
};
#define FOUR_MEETS_IN_NEXT (GLANCE_MEETS << 1)

/* False when they are not all of the same two threads, this one the second. */
INLINE bool four_at(const struct thread *self, uint64_t address, struct four *four, bool across)
{
	four->cell = layout_whole(address);
	four->low = cell_low(four->cell);
	if (!low_is_second(self, four->low))
		return false;
	uint32_t *first = &array_at(HISTORY(four->low))->states[address % 8], *next = first;
	four->in_first = across ? (uint32_t)(8 - address % 8) : 4;
	if (across) {
		uint64_t low = cell_low(four->cell + 1);
		if ((low ^ four->low) & ~(uint64_t)HISTORY(~0u))
			return false;
		next = array_at(HISTORY(low))->states - four->in_first;
	}
	for (uint32_t i = 0; i < 4; i++)
		four->states[i] = (i < four->in_first ? first : next) + i;
	return true;
}

INLINE void four_load(const struct four *four, uint64_t both[2])
{
	for (uint32_t i = 0; i < 2; i++)
		both[i] = RELAXED_GET(*four->states[2 * i]) |
			  (uint64_t)RELAXED_GET(*four->states[2 * i + 1]) << 32;
}

INLINE uint64_t four_key(const struct thread *self, const struct four *four, uint64_t site)
{
	return glance_from(four->low, site, glance_shared(self) | four->in_first << 24);
}

INLINE struct wide_glance *four_place(struct thread *self, const uint64_t from[2], uint64_t key)
{
	uint64_t hash = (from[0] ^ key) * 0xff51afd7ed558ccdu + from[1] * 0x9e3779b97f4a7c15u;
	return &self->wide_glances[hash >> 32 & (WIDE_GLANCES - 1)];
}

/* What is left to do: GLANCE_MEETS, FOUR_MEETS_IN_NEXT, FOUR_LAST: the first granule's array may come to its end. */
#define FOUR_LAST 1u
#define FOUR_NOT (~0u)

/* What they become is looked at before whether it is theirs: a signal handler may put another one in its place
 * meanwhile. */
INLINE uint32_t glance_at_four(struct thread *self, uint64_t word, uint64_t address, bool across)
{
	struct four four;
	uint64_t from[2];
	if (!four_at(self, address, &four, across))
		return FOUR_NOT;
	uint64_t key = four_key(self, &four, WORD_SITE(word));
	four_load(&four, from);
	const struct wide_glance *place = four_place(self, from, key);
	uint64_t to[2] = { RELAXED_GET(place->to[0]), RELAXED_GET(place->to[1]) };
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	uint64_t left = RELAXED_GET(place->key) ^ key;
	if (RELAXED_GET(place->from[0]) != from[0] || RELAXED_GET(place->from[1]) != from[1] ||
	    left & ~(uint64_t)(GLANCE_MEETS | FOUR_MEETS_IN_NEXT))
		return FOUR_NOT;
	four.cell->read = WORD_ORDER(word);
	if (across)
		four.cell[1].read = WORD_ORDER(word);
	if (to[0] == from[0] && to[1] == from[1])
		return (uint32_t)left;
	for (uint32_t i = 0; i < 4; i++)
		RELAXED_SET(*four.states[i], (uint32_t)(to[i / 2] >> 32 * (i % 2)));
	const uint32_t *all = array_at(HISTORY(four.low))->states;
	bool last = (across || address % 8 == 4) && !STATE_HISTORY(all[0] ^ all[7]);
	return (uint32_t)left | (last ? FOUR_LAST : 0);
}

/* From now on they are known, if each of them is. Where the first granule's event changes the context, the second
 * one's bytes are read in another. */
INLINE void glance_learn_at_four(struct thread *self, uint64_t word, uint64_t address, bool across)
{
	struct four four;
	uint64_t from[2], to[2];
	uint32_t old[4], next[4], met = 0, met_in_next = 0;
	if (!four_at(self, address, &four, across))
		return;
	uint32_t n = four.in_first, context = RELAXED_GET(self->context_state);
	uint64_t key = four_key(self, &four, WORD_SITE(word));
	four_load(&four, from);
	__builtin_memcpy(old, from, sizeof old);
	if (!glance_next(self, four.low, WORD_SITE(word), old, n, next, &met) ||
	    (across && !glance_next(self, four.low, WORD_SITE(word), old + n, 4 - n, next + n, &met_in_next)) ||
	    (across && met && context_next(context, EVENT_LOCAL_READ, 1) != context))
		return;
	__builtin_memcpy(to, next, sizeof to);
	struct wide_glance *place = four_place(self, from, key);
	RELAXED_SET(place->key, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (int i = 0; i < 2; i++) {
		RELAXED_SET(place->from[i], from[i]);
		RELAXED_SET(place->to[i], to[i]);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	RELAXED_SET(place->key, key | met | met_in_next << 1);
}

/* The events, and the end of the first granule's array. */
INLINE void four_end(struct thread *self, uint64_t address, uint32_t left)
{
	struct cell *cell = layout_whole(address);
	uint32_t writer = HISTORY_WRITER(cell_low(cell));
	bool second = low_is_second(self, cell_low(cell));
	if (second && left & GLANCE_MEETS)
		hands_meet(self, writer, ACCESS_READ);
	if (left & FOUR_LAST)
		array_settle(self, cell);
	if (second && left & FOUR_MEETS_IN_NEXT)
		hands_meet(self, writer, ACCESS_READ);
}

#endif
