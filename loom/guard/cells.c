/* Where states of locations lie: a map of cells for each grain that the set has, reserved
 * once and backed by memory where guarded accesses touch it. Memory that begins a new life
 * is forgotten; marks by block of memory spare most of it the look.
 */
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loom/guard/guard.h"

#define WINDOW (1ull << GUARD_WINDOW_BITS)
#define BLOCK GUARD_BLOCK
#define PAGE 4096u            /* the least that can be given back */
#define GIVEN_BACK (1u << 20) /* bytes of cells from which on their memory is given back */

static uint64_t no_cells[4]; /* as many as one hook looks at; 0 until it is known that the guard is off */
#define NOWHERE (uint64_t)(uintptr_t)no_cells
static const uint64_t no_marks;

/* Guarded code of the program itself reaches both without a detour; libraries by the second name. */
__attribute__((visibility("hidden"))) struct guard_map unsnarl_guard_map_here = {
	.cells = { NOWHERE, NOWHERE, NOWHERE, NOWHERE }, .marks = (uint64_t)(uintptr_t)&no_marks
};
__attribute__((visibility("hidden"))) __thread struct guard_memo unsnarl_guard_memos_here[GUARD_MEMOS] = {
	[0 ... GUARD_MEMOS - 1] = { GUARD_NO_STATE, GUARD_OFF_STATE }
};
extern struct guard_map unsnarl_guard_map __attribute__((alias("unsnarl_guard_map_here")));
extern __thread struct guard_memo unsnarl_guard_memos[GUARD_MEMOS]
	__attribute__((alias("unsnarl_guard_memos_here")));

static uint8_t *marks; /* by block of the window */

/* By direct calls: an observed program under guard has functions of its own between itself and libc. */
static void *reserve(uint64_t size)
{
	long memory = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == -1)
		return NULL;
	/* One location must not cost a huge page, nor a core file the whole window. */
	syscall(SYS_madvise, memory, size, MADV_NOHUGEPAGE);
	syscall(SYS_madvise, memory, size, MADV_DONTDUMP);
	return (void *)memory;
}

/* Does the set keep accesses to locations of this grain? */
static bool is_used(unsigned shift)
{
	const struct guard_data *data = unsnarl_guard_data;

	for (uint32_t site = 1; site <= data->nsites; site++)
		if (data->shifts[site] == shift && !data->any[site])
			return true;
	return false;
}

bool guard_cells_start(void)
{
	struct guard_map map = unsnarl_guard_map_here;

	/* The largest first: 32 TiB for bytes find a place only where nothing is yet. */
	for (unsigned shift = 0; shift < GUARD_GRAINS; shift++) {
		if (!is_used(shift))
			continue;
		map.mask = WINDOW - 1;
		map.cells[shift] = (uint64_t)(uintptr_t)reserve(WINDOW << (3 - shift));
		if (!map.cells[shift])
			return false;
	}
	marks = map.mask ? reserve(WINDOW / BLOCK) : NULL;
	if (map.mask && !marks)
		return false;
	if (marks)
		map.marks = (uint64_t)(uintptr_t)marks;
	unsnarl_guard_map_here = map;
	return true;
}

void guard_cells_off(void)
{
	for (unsigned i = 0; i < 4; i++)
		__atomic_store_n(&no_cells[i], GUARD_OFF_STATE, __ATOMIC_RELAXED);
}

static inline uint8_t *mark_of(uint64_t address)
{
	return &marks[(address & (WINDOW - 1)) / BLOCK];
}

void guard_cells_mark(uint64_t address)
{
	if (marks)
		__atomic_store_n(mark_of(address), 1, __ATOMIC_RELAXED);
}

/* ---- memory that begins a new life ---- */

/* Of large blocks the memory of the cells is given back, which empties them as well. */
static void empty(uint64_t cells, uint64_t size)
{
	uint64_t first = (cells + PAGE - 1) & ~(uint64_t)(PAGE - 1),
		 end = (cells + size) & ~(uint64_t)(PAGE - 1);
	int saved = errno;

	if (size >= GIVEN_BACK && syscall(SYS_madvise, first, end - first, MADV_DONTNEED) == 0) {
		memset((void *)(uintptr_t)cells, 0, first - cells);
		memset((void *)(uintptr_t)end, 0, cells + size - end);
	} else {
		memset((void *)(uintptr_t)cells, 0, size);
	}
	errno = saved;
}

static void forget_stretch(uint64_t address, uint64_t size)
{
	for (unsigned shift = 0; shift < GUARD_GRAINS; shift++) {
		uint64_t first = address >> shift << shift, end = address + size;

		if (unsnarl_guard_map_here.cells[shift] != NOWHERE)
			empty((uint64_t)(uintptr_t)guard_cell_in(&unsnarl_guard_map_here, first, shift),
			      (end - first + (1ull << shift) - 1) >> shift << 3);
	}
}

/* Has any block of this a mark? Mostly none has: eight at a time, and their neighbours, are asked first. */
static bool has_marks(uint64_t address, uint64_t size)
{
	uint64_t step = 8ull * BLOCK, last = (address + size - 1) & ~(step - 1);

	for (uint64_t at = address & ~(step - 1); at <= last; at += step)
		if (guard_marks_around(&unsnarl_guard_map_here, at))
			return true;
	return false;
}

/* Only stretches of blocks that have a mark are touched. */
void guard_forget(uint64_t address, uint64_t size)
{
	uint64_t end = address + size, from = 0;

	if (!marks || !size || !has_marks(address, size))
		return;
	for (uint64_t block = address & ~(uint64_t)(BLOCK - 1); block < end; block += BLOCK) {
		uint64_t begin = block < address ? address : block;

		if (!__atomic_load_n(mark_of(block), __ATOMIC_RELAXED)) {
			if (from)
				forget_stretch(from, block - from);
			from = 0;
			continue;
		}
		from = from ? from : begin;
		if (begin == block && block + BLOCK <= end)
			__atomic_store_n(mark_of(block), 0, __ATOMIC_RELAXED);
	}
	if (from)
		forget_stretch(from, end - from);
}

GUARD_HOOK void unsnarl_guard_fresh_stack(uint64_t address, uint64_t size)
{
	guard_forget(address, size);
	if (unsnarl_guard_data->nrules)
		guard_rules_forget(address, size);
}

GUARD_HOOK void unsnarl_guard_fresh(uint64_t block)
{
	/* Where nothing is kept, as with the guard off, the block's size need not be asked for. */
	if (block && (marks || unsnarl_guard_data->nrules))
		unsnarl_guard_fresh_stack(block, malloc_usable_size((void *)(uintptr_t)block));
}
