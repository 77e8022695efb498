/* The fast path, inlined into programs: this file becomes bitcode that the
 * compiler wrapper links into every unit. One compare decides whether a location is
 * private to this thread and the site known there; another whether this thread's memo
 * of the site knows the location's state. Then the access is one or two stores. All else is a cold call that spills no registers. Unordered on
 * purpose: when two threads touch a cell in the same few nanoseconds one of the two
 * accesses may go missing. */
#include <stdint.h>

#include "loom/runtime/layout.h"

#define HOOK __attribute__((always_inline, visibility("hidden"))) void
#define COLD __attribute__((preserve_most, cold)) extern void

COLD unsnarl_miss_read8(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_read4(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_write8(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_write4(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_read16(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_write16(uint64_t word, uint64_t address, uint64_t memo);

/* `number` is the site's; with the order it makes the event's word, which only the cold calls need. */
#define WORD(word, number, order) ((word) + ((number) << WORD_SITE_SHIFT) + (uint32_t)(order))

/* `mine` is what a cell of this form begins with that is private to the thread: its owner. */
#define OWNER_OF(mine) ((uint16_t)((mine) >> 48))

#define ARGUMENTS                                                                                            \
	struct thread *self, uint64_t tag, uint64_t mine, uint64_t number, uint64_t order, uint64_t address, \
		const volatile uint8_t *mark, struct memo *memo

#define READ(length)                                                                                         \
	HOOK unsnarl_hook_read##length(ARGUMENTS)                                                            \
	{                                                                                                    \
		struct cell *cell = layout_cell##length(address);                                            \
		(void)self;                                                                                  \
		uint32_t past = cell_private_past(cell);                                                     \
		if (__builtin_expect(cell_is_private(cell, OWNER_OF(mine)), 1) &&                            \
		    __builtin_expect(*mark, 1) &&                                                            \
		    __builtin_expect(cell_private_read(cell, OWNER_OF(mine), number, order, past), 1))       \
			return;                                                                              \
		if (!cell_quick_read(cell, tag, (uint32_t)order, memo))                                      \
			unsnarl_miss_read##length(WORD(self->word, number, order), address, (uint64_t)memo); \
	}

#define WRITE(length)                                                                        \
	HOOK unsnarl_hook_write##length(ARGUMENTS)                                           \
	{                                                                                    \
		struct cell *cell = layout_cell##length(address);                            \
		if (__builtin_expect(cell_is_private(cell, OWNER_OF(mine)), 1) &&            \
		    __builtin_expect(*mark, 1))                                              \
			cell_private_write(cell, mine, number, self->context, order);        \
		else if (!cell_quick_write(cell, tag, self->context, (uint32_t)order, memo)) \
			unsnarl_miss_write##length(WORD(self->word, number, order), address, \
						   (uint64_t)memo);                          \
	}

READ(8)
READ(4)
WRITE(8)
WRITE(4)

/* Two whole granules, mostly in the same state. */
HOOK unsnarl_hook_read16(ARGUMENTS)
{
	struct cell *cell = layout_cell8(address);
	uint16_t owner = OWNER_OF(mine);
	uint32_t past = cell_private_past(cell), next = cell_private_past(cell + 1);
	if (__builtin_expect(cell_is_private(cell, owner) & cell_is_private(cell + 1, owner), 1) &&
	    __builtin_expect(*mark, 1)) {
		cell_private_read(cell, owner, number, order, past);
		cell_private_read(cell + 1, owner, number, order, next);
		return;
	}
	uint64_t first = cell_low(cell), second = cell_low(cell + 1);
	uint64_t state = low_without_context(first);
	if (__builtin_expect((state - tag) ^ memo->from | low_without_context(first ^ second), 0)) {
		unsnarl_miss_read16(WORD(self->word, number, order), address, (uint64_t)memo);
		return;
	}
	if (memo->to != state) {
		if (memo->to == MEMO_PASS)
			return;
		*(uint64_t *)cell = memo->to | (first & LOW_CONTEXT_BITS);
		*(uint64_t *)(cell + 1) = memo->to | (second & LOW_CONTEXT_BITS);
	}
	cell[0].read = cell[1].read = (uint32_t)order;
}

HOOK unsnarl_hook_write16(ARGUMENTS)
{
	struct cell *cell = layout_cell8(address);
	uint16_t owner = OWNER_OF(mine);
	if (__builtin_expect(cell_is_private(cell, owner) & cell_is_private(cell + 1, owner), 1) &&
	    __builtin_expect(*mark, 1)) {
		cell_private_write(cell, mine, number, self->context, order);
		cell_private_write(cell + 1, mine, number, self->context, order);
		return;
	}
	uint64_t first = cell_low(cell), second = cell_low(cell + 1);
	uint64_t to = memo->to | (uint64_t)(uint16_t)self->context << 32;
	if (__builtin_expect((low_without_context(first) - tag) ^ memo->from |
				     low_without_context(first ^ second),
			     0)) {
		unsnarl_miss_write16(WORD(self->word, number, order), address, (uint64_t)memo);
		return;
	}
	if ((to ^ first) | (to ^ second))
		*(uint64_t *)cell = *(uint64_t *)(cell + 1) = to;
	cell[0].write = cell[1].write = (uint32_t)order;
}

/* A loop header was reached, or a block behind a loop's exit. */
HOOK unsnarl_hook_loop(struct thread *self, uint64_t where, uint64_t iteration)
{
	struct loop_step *step = &self->loops[self->loop_steps++ % LOOP_RING];
	step->order = self->order;
	self->loop_where = step->where = where;
	self->loop_iteration = step->iteration = iteration;
}
