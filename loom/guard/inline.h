/* What guarded code and the guard's runtime share: where the cell of a location lies, and
 * what a thread remembers of each site so that most accesses need no call.
 */
#ifndef LOOM_GUARD_INLINE_H
#define LOOM_GUARD_INLINE_H

#include <stdint.h>

/* Programs, their heaps, libraries and stacks lie in three corners of the address space; within this many bits
 * no two of them meet. */
#ifndef GUARD_WINDOW_BITS
#define GUARD_WINDOW_BITS 42u
#endif
#define GUARD_GRAINS 4u /* locations of 1, 2, 4 and 8 bytes have maps of their own */
#ifndef GUARD_MEMOS
#define GUARD_MEMOS 256u /* sites with a memo: 4 KiB of every thread */
#endif
#define GUARD_NO_STATE UINT64_MAX
/* Where the guard is off all locations have this state, which is none that an access leaves: every memo begins
 * with it as the one that nothing changes. */
#define GUARD_OFF_STATE (UINT64_MAX << 32)

#define GUARD_BLOCK 256u /* bytes of the program's memory under one mark, which is a byte */

/* Cells of 8 bytes, one for each location. A mask of 0 leads to a cell and to a mark that stay 0: the guard is off
 * then, or has not begun. */
struct guard_map {
	uint64_t mask;
	uint64_t cells[GUARD_GRAINS]; /* address of the first, by the grain's logarithm */
	uint64_t marks;               /* address of the first: has a location of the block a state? */
};

/* What a thread did last at a site, when that needed no look at the set. `own` is a state that it left: where it
 * made the last access too, whatever that was, and the one before by another thread is the same, it leaves the
 * same state again. `stable` is a state that an access at the site does not change. */
struct guard_memo {
	uint64_t own, stable;
};
#define GUARD_SITE_BITS \
	16u /* lowest in a state: site of the last access; above it the thread, and who came before */

/* Cells of one grain lie side by side as their locations do. */
static inline uint64_t *guard_cell_in(const struct guard_map *map, uint64_t address, uint64_t shift)
{
	return (uint64_t *)(map->cells[shift] + ((address & map->mask) << (3 - shift)));
}

/* The marks of eight blocks, of which `address` is in one. */
static inline uint64_t guard_marks_around(const struct guard_map *map, uint64_t address)
{
	const uint64_t *words = (const uint64_t *)map->marks;

	return __atomic_load_n(&words[(address & map->mask) / GUARD_BLOCK / 8], __ATOMIC_RELAXED);
}

#endif
