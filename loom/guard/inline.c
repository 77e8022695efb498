/* The fast path of guarded accesses, inlined into programs: this file becomes bitcode that
 * a guarded build links into every unit. An access whose location is in a state that the
 * thread's memo of the site knows is a load, a compare and at most a store; all else is a
 * cold call that spills no registers.
 */
#include "loom/guard/inline.h"

#define HOOK __attribute__((always_inline, visibility("hidden"))) void
#define COLD __attribute__((preserve_most, cold)) extern void

extern struct guard_map unsnarl_guard_map;
extern __thread struct guard_memo unsnarl_guard_memos[GUARD_MEMOS];

COLD unsnarl_guard(uint64_t address, uint64_t site);
COLD unsnarl_guard_two(uint64_t address, uint64_t site, uint64_t shift);
COLD unsnarl_guard_range(uint64_t address, uint64_t size, uint64_t site, uint64_t shift);
COLD unsnarl_guard_fresh_stack(uint64_t address, uint64_t size);

/* Differs a state from one of our own by no more than the last access's site? */
#define IS_OWN(difference) __builtin_expect((difference) >> GUARD_SITE_BITS == 0, 1)

HOOK unsnarl_hook_guard(uint64_t address, uint64_t site, uint64_t shift)
{
	uint64_t *cell = guard_cell_in(&unsnarl_guard_map, address, shift);
	const struct guard_memo *memo = &unsnarl_guard_memos[site];
	uint64_t state = __atomic_load_n(cell, __ATOMIC_ACQUIRE), own = memo->own;

	if (IS_OWN(state ^ own)) {
		/* Lines that only this thread reads on stay clean, those that several read are not taken away. */
		if (state != own)
			__atomic_store_n(cell, own, __ATOMIC_RELEASE);
	} else if (__builtin_expect(state != memo->stable, 0))
		unsnarl_guard(address, site);
}

typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));

/* Are all of these 0 but for the last access's site? By lanes of 32 bits, which every x86-64 processor can compare. */
static inline int is_own(pair difference)
{
	typedef uint32_t quad __attribute__((vector_size(16)));
	quad rest = (quad)(difference >> GUARD_SITE_BITS) == 0;

	return __builtin_ia32_movmskps((__attribute__((vector_size(16))) float)rest) == 15;
}

/* Two neighbours at once, as numbers or vectors of twice the grain. Each half of a pair is loaded and stored as one,
 * as every x86-64 processor does it, and nobody needs both of the same moment. */
HOOK unsnarl_hook_guard_two(uint64_t address, uint64_t site, uint64_t shift)
{
	pair *cells = (pair *)guard_cell_in(&unsnarl_guard_map, address, shift);
	const struct guard_memo *memo = &unsnarl_guard_memos[site];
	pair own = { memo->own, memo->own }, states = *(volatile pair *)cells;

	__atomic_signal_fence(__ATOMIC_ACQ_REL); /* the processor keeps this order, the compiler is told to */
	if (__builtin_expect(is_own(states ^ own), 1))
		*(volatile pair *)cells = own;
	else if (__builtin_expect(states[0] != memo->stable || states[1] != memo->stable, 0))
		unsnarl_guard_two(address, site, shift);
}

/* Four, of wider vectors. */
HOOK unsnarl_hook_guard_four(uint64_t address, uint64_t site, uint64_t shift)
{
	pair *cells = (pair *)guard_cell_in(&unsnarl_guard_map, address, shift);
	const struct guard_memo *memo = &unsnarl_guard_memos[site];
	pair own = { memo->own, memo->own }, stable = { memo->stable, memo->stable };
	pair low = *(volatile pair *)cells, high = *(volatile pair *)(cells + 1);

	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	if (__builtin_expect(is_own((low ^ own) | (high ^ own)), 1)) {
		*(volatile pair *)cells = own;
		*(volatile pair *)(cells + 1) = own;
	} else {
		pair changed = (low ^ stable) | (high ^ stable);

		if (__builtin_expect((changed[0] | changed[1]) != 0, 0))
			unsnarl_guard_range(address, 4ull << shift, site, shift);
	}
}

/* A variable on the stack begins a new life, where mostly no guarded access has ever been. */
HOOK unsnarl_hook_fresh_stack(uint64_t address, uint64_t size)
{
	uint64_t marks = guard_marks_around(&unsnarl_guard_map, address);

	if (size > 1)
		marks |= guard_marks_around(&unsnarl_guard_map, address + size - 1);
	if (__builtin_expect(marks != 0 || size > 8ull * GUARD_BLOCK, 0))
		unsnarl_guard_fresh_stack(address, size);
}
