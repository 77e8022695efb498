/* The fast path, inlined into programs: this file becomes bitcode that the
 * compiler wrapper links into every unit. One load and compare decides whether
 * the location belongs to this thread alone and whether this site has met this
 * predecessor before; then the access is one store. All else is a cold call
 * that spills no registers. The low bits of an address are left in: a misaligned one
 * finds no cell and goes to the call. Unordered on purpose: a cell that two threads touch
 * in the same few nanoseconds may miss one of the two accesses. */
#include <stdint.h>

#include "loom/runtime/layout.h"

#define HOOK __attribute__((always_inline, visibility("hidden"))) void
#define COLD __attribute__((preserve_most, cold)) extern void

COLD unsnarl_read8(uint64_t word, uint64_t address, uint32_t *memo);
COLD unsnarl_read4(uint64_t word, uint64_t address, uint32_t *memo);
COLD unsnarl_write8(uint64_t word, uint64_t address, uint32_t *memo);
COLD unsnarl_write4(uint64_t word, uint64_t address, uint32_t *memo);

#define LIKELY(x) __builtin_expect(!!(x), 1)

static inline __attribute__((always_inline)) int mine(const struct cell *cell, uint16_t owner,
						      const uint32_t *memo)
{
	return cell->owner == owner && MEMO(memo, cell->before) == cell->before;
}

HOOK unsnarl_hook_read8(struct thread *self, struct cell *cells, uint16_t owner, uint64_t word,
			uint64_t address, uint32_t *memo)
{
	struct cell *cell = (struct cell *)((char *)cells + 3 * (address & (ADDRESS_MASK | 7)));
	if (LIKELY(mine(cell, owner | 8 << 2, memo)))
		cell->read = word;
	else if (!reads_again(self, cell, word, 8))
		unsnarl_read8(word, address, memo);
}

HOOK unsnarl_hook_write8(struct thread *self, struct cell *cells, uint16_t owner, uint64_t word,
			 uint64_t address, uint32_t *memo)
{
	struct cell *cell = (struct cell *)((char *)cells + 3 * (address & (ADDRESS_MASK | 7)));
	if (LIKELY(mine(cell, owner | 8 << 2, memo))) {
		cell->write = word;
		cell->context = (uint16_t)self->context;
	} else {
		unsnarl_write8(word, address, memo);
	}
}

HOOK unsnarl_hook_read4(struct thread *self, struct cell *cells, uint16_t owner, uint64_t word,
			uint64_t address, uint32_t *memo)
{
	struct cell *cell = (struct cell *)((char *)cells + 3 * (address & (ADDRESS_MASK | 3)) +
					    ((address & 4) << UPPER_SHIFT));
	if (LIKELY(mine(cell, owner | 4 << 2, memo)))
		cell->read = word;
	else if (!reads_again(self, cell, word, 4))
		unsnarl_read4(word, address, memo);
}

HOOK unsnarl_hook_write4(struct thread *self, struct cell *cells, uint16_t owner, uint64_t word,
			 uint64_t address, uint32_t *memo)
{
	struct cell *cell = (struct cell *)((char *)cells + 3 * (address & (ADDRESS_MASK | 3)) +
					    ((address & 4) << UPPER_SHIFT));
	if (LIKELY(mine(cell, owner | 4 << 2, memo))) {
		cell->write = word;
		cell->context = (uint16_t)self->context;
	} else {
		unsnarl_write4(word, address, memo);
	}
}

/* A loop header was reached, or a block behind a loop's exit. */
HOOK unsnarl_hook_loop(struct thread *self, uint64_t where, uint64_t iteration)
{
	struct loop_step *step = &self->loops[self->loop_steps++ % LOOP_RING];
	step->order = self->order;
	self->loop_where = step->where = where;
	self->loop_iteration = step->iteration = iteration;
}
