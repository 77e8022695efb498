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
COLD unsnarl_guard_range(uint64_t address, uint64_t size, uint64_t site, uint64_t shift);
COLD unsnarl_guard_fresh_stack(uint64_t address, uint64_t size);

/* Differs a state from one of our own by no more than the last access's site? */
#define IS_OWN(difference) __builtin_expect((difference) >> GUARD_SITE_BITS == 0, 1)

HOOK unsnarl_hook_guard(uint64_t address, uint64_t site, uint64_t shift)
{
	uint64_t *cell = guard_cell_in(&unsnarl_guard_map, address, shift);
	const struct guard_memo *memo = &unsnarl_guard_memos[site];
	uint64_t state = __atomic_load_n(cell, __ATOMIC_ACQUIRE), own = memo->own;

	if (IS_OWN(state ^ own))
		__atomic_store_n(cell, own, __ATOMIC_RELEASE);
	else if (__builtin_expect(state != memo->stable, 0))
		unsnarl_guard(address, site);
}

/* Two neighbours at once, as numbers or vectors of twice the grain. */
HOOK unsnarl_hook_guard_two(uint64_t address, uint64_t site, uint64_t shift)
{
	uint64_t *cell = guard_cell_in(&unsnarl_guard_map, address, shift);
	const struct guard_memo *memo = &unsnarl_guard_memos[site];
	uint64_t first = __atomic_load_n(cell, __ATOMIC_ACQUIRE), own = memo->own;
	uint64_t second = __atomic_load_n(cell + 1, __ATOMIC_ACQUIRE);

	if (IS_OWN((first ^ own) | (second ^ own))) {
		__atomic_store_n(cell, own, __ATOMIC_RELEASE);
		__atomic_store_n(cell + 1, own, __ATOMIC_RELEASE);
	} else if (__builtin_expect(first != memo->stable || second != memo->stable, 0)) {
		unsnarl_guard_range(address, 2ull << shift, site, shift);
	}
}

/* Four, of wider vectors. */
HOOK unsnarl_hook_guard_four(uint64_t address, uint64_t site, uint64_t shift)
{
	uint64_t *cell = guard_cell_in(&unsnarl_guard_map, address, shift);
	const struct guard_memo *memo = &unsnarl_guard_memos[site];
	uint64_t own = memo->own, stable = memo->stable, differ = 0, changed = 0;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t state = __atomic_load_n(cell + i, __ATOMIC_ACQUIRE);

		differ |= state ^ own;
		changed |= state ^ stable;
	}
	if (IS_OWN(differ)) {
		for (unsigned i = 0; i < 4; i++)
			__atomic_store_n(cell + i, own, __ATOMIC_RELEASE);
	} else if (__builtin_expect(changed != 0, 0)) {
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
