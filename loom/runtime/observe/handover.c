/* Cells that change hands: what is rare where nothing new is learnt (handover.h). These
 * functions spare their callers' registers, so that the common case saves few. */
#include "loom/runtime/observe/handover.h"

void handover_settle_slowly(struct thread *self)
{
	cell_settle(self);
}

void handover_communicate(struct thread *self, uint32_t meets, enum access access)
{
	struct change change = { .meets = { (uint16_t)meets, (uint16_t)(meets >> 16) } };
	change_communicate(self, &change, access);
}

enum learnt handover_learn_edge(struct thread *self, uint64_t low, uint64_t high, uint64_t word,
				enum access access)
{
	struct cell raw = cell_of(low, high);
	struct change_key key = change_key(raw, word, access);
	struct change change;
	uint32_t before = learnt_count(self), context = self->context;
	if (!change_find(self, key, &change))
		return LEARNT_NOTHING;
	change_learn_edge_in(self, &change, cell_context(raw), context, word, access);
	RELAXED_SET(change_place(self, key)->edges[context & 1], edge_in(change_hash(key), raw, context));
	return before != learnt_count(self) ? LEARNT_EDGE : LEARNT_NOTHING;
}

void handover_make_private(uint64_t halves[2])
{
	struct cell fresh = cell_make_private(cell_of(halves[0], halves[1]));
	halves[0] = low_of(fresh);
	halves[1] = high_of(fresh);
}
