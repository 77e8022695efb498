/* The fast path, inlined into programs: this file becomes bitcode that the
 * compiler wrapper links into every unit. One compare decides whether a location is
 * private to this thread and the site known there; another whether this thread's memo
 * of the site knows the location's state. Then the access is one or two stores. All else is a cold call that spills no registers. Unordered on
 * purpose: when two threads touch a cell in the same few nanoseconds one of the two
 * accesses may go missing. */
#include <stdint.h>

#include "loom/runtime/observe/layout.h"

#define HOOK __attribute__((always_inline, visibility("hidden"))) void
#define COLD __attribute__((preserve_most, cold)) extern void

COLD unsnarl_miss_read8(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_read4(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_write8(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_write4(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_read16(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_write16(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_read32(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_miss_write32(uint64_t word, uint64_t address, uint64_t memo);
COLD unsnarl_alone_read(uint64_t word, uint64_t address, uint64_t size);
COLD unsnarl_alone_write(uint64_t word, uint64_t address, uint64_t size);
#define QUIET __attribute__((preserve_most, cold)) extern uint64_t
QUIET unsnarl_reads_quietly(uint64_t word, uint64_t address, uint64_t shape);
QUIET unsnarl_writes_quietly(uint64_t word, uint64_t address, uint64_t shape);

/* `number` is the site's; with the order it makes the event's word, which only the cold calls need. */
#define WORD(word, number, order) ((word) + ((number) << WORD_SITE_SHIFT) + (uint32_t)(order))

/* `mine` is what a cell of this form begins with that is private to the thread: its owner. */
#define OWNER_OF(mine) ((uint16_t)((mine) >> 48))

#define ARGUMENTS                                                                                            \
	struct thread *self, uint64_t tag, uint64_t mine, uint64_t number, uint64_t order, uint64_t address, \
		const volatile uint8_t *mark, struct memo *memos

#define READ(length)                                                                                   \
	HOOK unsnarl_hook_read##length(ARGUMENTS)                                                      \
	{                                                                                              \
		struct cell *cell = in_register(layout_cell##length(address));                         \
		(void)self;                                                                            \
		uint32_t past = cell_private_past(cell);                                               \
		if (__builtin_expect(cell_is_private(cell, OWNER_OF(mine)), 1) &&                      \
		    __builtin_expect(*mark, 1) &&                                                      \
		    __builtin_expect(cell_private_read(cell, OWNER_OF(mine), number, order, past), 1)) \
			return;                                                                        \
		if (!cell_quick_read(cell, tag, (uint32_t)order, memos))                               \
			unsnarl_miss_read##length(WORD(self->word, number, order), address,            \
						  (uint64_t)memos);                                    \
	}

#define WRITE(length)                                                                         \
	HOOK unsnarl_hook_write##length(ARGUMENTS)                                            \
	{                                                                                     \
		struct cell *cell = in_register(layout_cell##length(address));                \
		if (__builtin_expect(cell_is_private(cell, OWNER_OF(mine)), 1) &&             \
		    __builtin_expect(*mark, 1))                                               \
			cell_private_write(cell, mine, number, self->context, order);         \
		else if (!cell_quick_write(cell, tag, self->context, (uint32_t)order, memos)) \
			unsnarl_miss_write##length(WORD(self->word, number, order), address,  \
						   (uint64_t)memos);                          \
	}

READ(8)
READ(4)
WRITE(8)
WRITE(4)

/* Several whole granules, mostly in the same state: one decision for all. `order_of` tells the order of the
 * i-th. */
#define EACH_FROM(start) _Pragma("unroll") for (uint32_t i = start; i < n; i++)
#define EACH EACH_FROM(0)

#define SEVERAL(length)                                          \
	struct cell *cells = in_register(layout_cell8(address)); \
	const uint32_t n = (length) / 8;                         \
	uint64_t first = cell_low(cells), differ = 0;            \
	EACH_FROM(1) differ |= cell_low(cells + i) ^ first;      \
	const int private = !((first ^ mine | differ) >> 48);    \
	const struct memo *memo = memo_for(memos, first);        \
	const int known = !((low_without_context(first) - tag) ^ memo->from | low_without_context(differ));

#define READ_SEVERAL(length, order_of, miss)                                                                 \
	SEVERAL(length)                                                                                      \
	if (__builtin_expect(private, 1) && __builtin_expect(*mark, 1)) {                                    \
		EACH cell_private_read(cells + i, OWNER_OF(mine), number, order_of,                          \
				       cell_private_past(cells + i));                                        \
	} else if (__builtin_expect(!known, 0)) {                                                            \
		miss;                                                                                        \
	} else if (memo->to != MEMO_PASS) {                                                                  \
		if (memo->to != low_without_context(first))                                                  \
			EACH *(uint64_t *)(cells + i) = memo->to | (cell_low(cells + i) & LOW_CONTEXT_BITS); \
		EACH cells[i].read = (uint32_t)(order_of);                                                   \
	}

#define WRITE_SEVERAL(length, order_of, miss)                                        \
	SEVERAL(length)                                                              \
	uint32_t context = self->context;                                            \
	uint64_t to = memo->to | (uint64_t)(uint16_t)context << 32;                  \
	if (__builtin_expect(private, 1) && __builtin_expect(*mark, 1)) {            \
		EACH cell_private_write(cells + i, mine, number, context, order_of); \
	} else if (__builtin_expect(!known, 0)) {                                    \
		miss;                                                                \
	} else if (__builtin_expect(memo->to != MEMO_PASS, 1)) {                     \
		if ((to ^ first) | differ)                                           \
			EACH *(uint64_t *)(cells + i) = to;                          \
		EACH cells[i].write = (uint32_t)(order_of);                          \
	}

#define HOOK_SEVERAL(name, length, several)                                                   \
	HOOK unsnarl_hook_##name##length(ARGUMENTS)                                           \
	{                                                                                     \
		several(length, order,                                                        \
			unsnarl_miss_##name##length(WORD(self->word, number, order), address, \
						    (uint64_t)memos))                         \
	}
HOOK_SEVERAL(read, 16, READ_SEVERAL)
HOOK_SEVERAL(write, 16, WRITE_SEVERAL)
HOOK_SEVERAL(read, 32, READ_SEVERAL)
HOOK_SEVERAL(write, 32, WRITE_SEVERAL)

/* Accesses of `size` bytes each that stand side by side, with `step` from the order of one to the next, where
 * none of them teaches anything or meets anybody. If not, nothing is done; that and each access that follows
 * in the stretch is then hooked alone. */
#define HOOK_GROUP(name, length, several)                                                          \
	__attribute__((always_inline, visibility("hidden"))) uint64_t unsnarl_hook_##name##length( \
		ARGUMENTS, uint64_t size, uint64_t step, uint64_t together)                        \
	{                                                                                          \
		if (__builtin_expect(!together, 0))                                                \
			return 0;                                                                  \
		several(length, order + 8 * i / size * step,                                       \
			return unsnarl_##name##_quietly(WORD(self->word, number, order), address,  \
							GROUP_SHAPE(length, size, step)));         \
		return 1;                                                                          \
	}
HOOK_GROUP(reads, 32, READ_SEVERAL)
HOOK_GROUP(reads, 64, READ_SEVERAL)
HOOK_GROUP(reads, 128, READ_SEVERAL)
HOOK_GROUP(writes, 32, WRITE_SEVERAL)
HOOK_GROUP(writes, 64, WRITE_SEVERAL)
HOOK_GROUP(writes, 128, WRITE_SEVERAL)

/* One of them. */
#define HOOK_ALONE(name)                                                                        \
	HOOK unsnarl_hook_alone_##name(struct thread *self, uint64_t together, uint64_t number, \
				       uint64_t order, uint64_t address, uint64_t size)         \
	{                                                                                       \
		if (__builtin_expect(!together, 0))                                             \
			unsnarl_alone_##name(WORD(self->word, number, order), address, size);   \
	}
HOOK_ALONE(read)
HOOK_ALONE(write)

COLD unsnarl_lingers(void);

/* A turn of a loop that may wait for another thread. */
HOOK unsnarl_hook_wait(struct thread *self)
{
	if (__builtin_expect(--self->patience == 0, 0))
		unsnarl_lingers();
}

/* A loop header was reached, or a block behind a loop's exit. */
HOOK unsnarl_hook_loop(struct thread *self, uint64_t where, uint64_t iteration)
{
	struct loop_step *step = &self->loops[self->loop_steps++ % LOOP_RING];
	step->order = self->order;
	self->loop_where = step->where = where;
	self->loop_iteration = step->iteration = iteration;
}
