/* The recorder (AI, Algorithm 1): for each location the last access and the last one by
 * another thread than that. One word of 64 bits holds both, so that to look and to note
 * is one compare and swap. The table is of a fixed size; where two locations compete for
 * a cell the newer one gets it, and of the older nobody knows then who came before:
 * nothing is ever said on the ground of what is not known.
 */
#include <malloc.h>

#include "loom/guard/guard.h"

#define CELL_BITS 20u /* 16 MiB of address space, of memory what is touched */
#define CELLS (1u << CELL_BITS)
#define LINE 64u
#define LINES (1u << 14) /* counters of recorded locations, by line of memory */

struct cell {
	uint64_t address; /* 0: never used */
	uint64_t pair;    /* low half: word of the last access; high half: of the last by another thread */
} __attribute__((aligned(16)));

static struct cell cells[CELLS];
/* How many cells hold locations of a line; several lines may share a counter. Blocks and stack variables that
 * begin a new life look here first: most of them were never recorded. */
static uint32_t lines[LINES];

/* Neighbours lie side by side, so that walks over memory are walks over cells. */
static inline struct cell *cell_of(uint64_t address)
{
	uint64_t granule = address >> 3;

	return &cells[(granule ^ granule >> CELL_BITS ^ (address & 7) << 12) & (CELLS - 1)];
}

static inline uint32_t *line_of(uint64_t address)
{
	uint64_t line = address / LINE;

	return &lines[(line ^ line >> 14) & (LINES - 1)];
}

bool guard_allows(uint32_t site, uint32_t before)
{
	const struct guard_data *data = unsnarl_guard_data;

	if (data->words && data->rows[(uint64_t)site * data->words + before / 64] >> before % 64 & 1)
		return true;
	if (data->words || data->any[site])
		return data->any[site];
	uint32_t low = data->starts[site], high = data->starts[site + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (data->members[middle] < before)
			low = middle + 1;
		else
			high = middle;
	}
	return low < data->starts[site + 1] && data->members[low] == before;
}

static inline bool may_follow(uint32_t site, uint32_t before)
{
	return before == GUARD_UNKNOWN || guard_allows(site, guard_word_site(before));
}

/* Of a pair: the last access by another thread than `self`. */
static inline uint32_t remote(uint64_t pair, uint32_t self)
{
	return guard_word_thread((uint32_t)pair) == self ? (uint32_t)(pair >> 32) : (uint32_t)pair;
}

uint32_t guard_predecessor(uint64_t address)
{
	struct cell *cell = cell_of(address);
	uint64_t held = __atomic_load_n(&cell->address, __ATOMIC_ACQUIRE);
	uint64_t pair = __atomic_load_n(&cell->pair, __ATOMIC_ACQUIRE);

	if (held == 0)
		return 0;
	if (held != address || __atomic_load_n(&cell->address, __ATOMIC_ACQUIRE) != address)
		return GUARD_UNKNOWN;
	return remote(pair, guard_self);
}

/* Both words of a cell at once; false when somebody changed it meanwhile. */
static bool replace(struct cell *cell, struct cell old, struct cell fresh)
{
	return __sync_bool_compare_and_swap((unsigned __int128 *)cell,
					    (unsigned __int128)old.pair << 64 | old.address,
					    (unsigned __int128)fresh.pair << 64 | fresh.address);
}

/* The cell becomes that of `address`. */
static void take_over(struct cell *cell, uint64_t address, uint32_t word)
{
	struct cell old = { .address = __atomic_load_n(&cell->address, __ATOMIC_ACQUIRE),
			    .pair = __atomic_load_n(&cell->pair, __ATOMIC_ACQUIRE) };

	/* A cell that had another location may have had this one before: who came earlier is not known then. */
	uint64_t before = old.address ? GUARD_UNKNOWN : 0;

	if (old.address == address || !replace(cell, old, (struct cell){ address, before << 32 | word }))
		return; /* another thread was faster: it is on record, we are not */
	__atomic_fetch_add(line_of(address), 1, __ATOMIC_RELAXED);
	if (old.address)
		__atomic_fetch_sub(line_of(old.address), 1, __ATOMIC_RELAXED);
}

/* Notes the access if it may follow what came before, or in any case with `must`. To look and to note is one
 * step: of two threads that wait for the same, one goes on and the other sees it. */
bool guard_note(uint64_t address, uint32_t site, bool must)
{
	struct cell *cell = cell_of(address);
	uint32_t word = guard_word(site, guard_self);

	for (;;) {
		uint64_t held = __atomic_load_n(&cell->address, __ATOMIC_ACQUIRE);
		uint64_t pair = __atomic_load_n(&cell->pair, __ATOMIC_ACQUIRE);

		if (held != address) {
			if (!held && !must && !guard_allows(site, 0))
				return false;
			take_over(cell, address, word);
			return true;
		}
		uint32_t before = remote(pair, guard_self);

		if (!must && !may_follow(site, before))
			return false;
		if (__atomic_compare_exchange_n(&cell->pair, &pair, (uint64_t)before << 32 | word, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
}

/* Whatever is not a known step within a known cell. */
static __attribute__((noinline)) void access_slowly(uint64_t address, uint32_t site)
{
	if (!guard_self)
		guard_register();
	if (!guard_settings.off && !guard_note(address, site, false))
		guard_stall(address, site);
}

/* A known step within a known cell; false when the slow way has to look. */
static inline bool step(uint64_t address, uint32_t site, uint32_t self)
{
	struct cell *cell = cell_of(address);
	uint32_t word = guard_word(site, self);

	/* Pairs with the swaps below and in replace(): address first, then what belongs to it. */
	if (__builtin_expect(__atomic_load_n(&cell->address, __ATOMIC_ACQUIRE) != address, 0))
		return false;
	uint64_t pair = __atomic_load_n(&cell->pair, __ATOMIC_ACQUIRE);

	if ((uint32_t)pair == word)
		return true; /* the same access again, and nobody came between */
	uint32_t before = remote(pair, self);

	if (!may_follow(site, before))
		return false;
	uint64_t fresh = (uint64_t)before << 32 | word;

	if (guard_word_thread((uint32_t)pair) == self) {
		/* The last access was our own: a plain store, a twentieth of the time of a swap. Whoever comes in
		 * the very same moment is not on record then. */
		__atomic_store_n(&cell->pair, fresh, __ATOMIC_RELEASE);
		return true;
	}
	/* Fails when another thread came meanwhile, or took the cell: then the slow way looks again. */
	return __atomic_compare_exchange_n(&cell->pair, &pair, fresh, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

GUARD_HOOK void unsnarl_guard(uint64_t address, uint64_t site)
{
	uint32_t self = guard_self;

	if (__builtin_expect(!self || !step(address, (uint32_t)site, self), 0))
		access_slowly(address, (uint32_t)site);
}

/* Of a long copy the beginning is guarded. */
#define RANGE_MOST 64u

GUARD_HOOK void unsnarl_guard_range(uint64_t address, uint64_t size, uint64_t site, uint64_t shift)
{
	uint64_t grain = 1ull << shift, first = address & ~(grain - 1), end = address + size;
	uint32_t self = guard_self;

	for (unsigned i = 0; i < RANGE_MOST && first < end; i++, first += grain)
		if (__builtin_expect(!self || !step(first, (uint32_t)site, self), 0)) {
			access_slowly(first, (uint32_t)site);
			self = guard_self;
		}
}

/* ---- memory that begins a new life ---- */

/* The location keeps its cell, and nobody has been there. */
static void forget_cell(uint64_t address)
{
	struct cell *cell = cell_of(address);
	struct cell old = { .address = __atomic_load_n(&cell->address, __ATOMIC_ACQUIRE),
			    .pair = __atomic_load_n(&cell->pair, __ATOMIC_ACQUIRE) };

	if (old.address == address && old.pair)
		replace(cell, old, (struct cell){ address, 0 });
}

static void forget_all_in(uint64_t address, uint64_t end)
{
	for (uint32_t i = 0; i < CELLS; i++) {
		uint64_t held = __atomic_load_n(&cells[i].address, __ATOMIC_ACQUIRE);

		if (held >= address && held < end)
			forget_cell(held);
	}
}

void guard_forget(uint64_t address, uint64_t size)
{
	if (size > (uint64_t)CELLS * LINE) {
		forget_all_in(address, address + size);
		return;
	}
	for (uint64_t line = address & ~(uint64_t)(LINE - 1); line < address + size; line += LINE) {
		if (!__atomic_load_n(line_of(line), __ATOMIC_RELAXED))
			continue;
		for (uint64_t at = line < address ? address : line; at < line + LINE && at < address + size;
		     at++)
			forget_cell(at);
	}
}

GUARD_HOOK void unsnarl_guard_fresh_stack(uint64_t address, uint64_t size)
{
	guard_forget(address, size);
	if (unsnarl_guard_data->nrules)
		guard_rules_forget(address, size);
}

GUARD_HOOK void unsnarl_guard_fresh(uint64_t block)
{
	if (block)
		unsnarl_guard_fresh_stack(block, malloc_usable_size((void *)(uintptr_t)block));
}

GUARD_HOOK void unsnarl_guard_ahead(uint64_t address, uint64_t site, uint64_t mutex)
{
	if (!guard_self)
		guard_register();
	if (!guard_settings.off && !may_follow((uint32_t)site, guard_predecessor(address)))
		guard_stall_ahead(address, (uint32_t)site, (const int *)(uintptr_t)mutex);
}
