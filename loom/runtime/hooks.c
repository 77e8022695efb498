/* The fast path, inlined into programs: this file becomes bitcode that the
 * compiler wrapper links into every unit. One load and compare decides whether
 * the location belongs to this thread alone, a second whether this site has met
 * this history before; then the access is two stores. All else is a cold call that
 * spills no registers. Unordered on purpose: when two threads touch a cell in the
 * same few nanoseconds one of the two accesses may go missing. */
#include <stdint.h>

#include "loom/runtime/layout.h"

#define HOOK __attribute__((always_inline, visibility("hidden"))) void
#define COLD __attribute__((preserve_most, cold)) extern void

COLD unsnarl_read8(uint64_t word, uint64_t address, struct memo *memo);
COLD unsnarl_read4(uint64_t word, uint64_t address, struct memo *memo);
COLD unsnarl_write8(uint64_t word, uint64_t address, struct memo *memo);
COLD unsnarl_write4(uint64_t word, uint64_t address, struct memo *memo);

static inline struct cell *whole(struct cell *cells, uint64_t address)
{
	return (struct cell *)((char *)cells + 2 * (address & ADDRESS_MASK));
}

static inline struct cell *half(struct cell *cells, uint64_t address)
{
	return (struct cell *)((char *)cells + 2 * (address & ADDRESS_MASK) + ((address & 4) << UPPER_SHIFT));
}

HOOK unsnarl_hook_read8(struct thread *self, struct cell *cells, uint16_t owner, uint64_t word,
			uint64_t address, struct memo *memo)
{
	struct cell *cell = whole(cells, address);
	if (!cell_quick_read(cell, owner | FORM_WHOLE << 2, word, memo) && !reads_again(self, cell, word))
		unsnarl_read8(word, address, memo);
}

HOOK unsnarl_hook_write8(struct thread *self, struct cell *cells, uint16_t owner, uint64_t word,
			 uint64_t address, struct memo *memo)
{
	if (!cell_quick_write(whole(cells, address), owner | FORM_WHOLE << 2, self->context, word, memo))
		unsnarl_write8(word, address, memo);
}

HOOK unsnarl_hook_read4(struct thread *self, struct cell *cells, uint16_t owner, uint64_t word,
			uint64_t address, struct memo *memo)
{
	struct cell *cell = half(cells, address);
	if (!cell_quick_read(cell, owner | FORM_HALF << 2, word, memo) && !reads_again(self, cell, word))
		unsnarl_read4(word, address, memo);
}

HOOK unsnarl_hook_write4(struct thread *self, struct cell *cells, uint16_t owner, uint64_t word,
			 uint64_t address, struct memo *memo)
{
	if (!cell_quick_write(half(cells, address), owner | FORM_HALF << 2, self->context, word, memo))
		unsnarl_write4(word, address, memo);
}

/* A loop header was reached, or a block behind a loop's exit. */
HOOK unsnarl_hook_loop(struct thread *self, uint64_t where, uint64_t iteration)
{
	struct loop_step *step = &self->loops[self->loop_steps++ % LOOP_RING];
	step->order = self->order;
	self->loop_where = step->where = where;
	self->loop_iteration = step->iteration = iteration;
}
