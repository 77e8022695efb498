/* The recorder (AI, Algorithm 1): for each location the last access and the last one by
 * another thread than that. One word of 64 bits holds both, the location's state, so that
 * to look and to note is one compare and swap. cells.c says where states lie; inline.c is
 * what guarded code does by itself.
 */
#include "loom/guard/guard.h"

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

/* Of a state, low half: word of the last access; high half: of the last by another thread. */
static inline uint32_t last_of(uint64_t state)
{
	return (uint32_t)state;
}

/* The last access by another thread than `self`. */
static inline uint32_t remote(uint64_t state, uint32_t self)
{
	return guard_word_thread(last_of(state)) == self ? (uint32_t)(state >> 32) : last_of(state);
}

static inline uint64_t *cell_of(uint64_t address, uint32_t site)
{
	return guard_cell_in(&unsnarl_guard_map, address, unsnarl_guard_data->shifts[site]);
}

uint32_t guard_predecessor(uint64_t address, uint32_t site)
{
	return remote(__atomic_load_n(cell_of(address, site), __ATOMIC_ACQUIRE), guard_self);
}

/* The state after an access by `self`. Where all three accesses are alike, that is, where whatever may follow one
 * may follow the others, it is left as it is: whoever comes gets the same answer, and threads that read the
 * same memory do not write to the same cells. */
static inline uint64_t next_state(uint64_t state, uint32_t site, uint32_t self)
{
	const uint16_t *alike = unsnarl_guard_data->alike;
	uint32_t last = guard_word_site(last_of(state)), other = guard_word_site((uint32_t)(state >> 32));

	if (other && alike[last] == alike[site] && alike[other] == alike[site])
		return state;
	return (uint64_t)remote(state, self) << 32 | guard_word(site, self);
}

static inline bool allows(uint64_t state, uint32_t site, uint32_t self)
{
	return (state || !unsnarl_guard_data->own[site]) &&
	       guard_allows(site, guard_word_site(remote(state, self)));
}

bool guard_may_follow(uint64_t address, uint32_t site)
{
	return allows(__atomic_load_n(cell_of(address, site), __ATOMIC_ACQUIRE), site, guard_self);
}

/* Notes the access if it may follow what came before, or in any case with `must`. To look and to note is one
 * step: of two threads that wait for the same, one goes on and the other sees it. */
bool guard_note(uint64_t address, uint32_t site, bool must)
{
	uint64_t *cell = cell_of(address, site), state = __atomic_load_n(cell, __ATOMIC_ACQUIRE);

	for (;;) {
		uint64_t next = next_state(state, site, guard_self);

		if (!must && !allows(state, site, guard_self))
			return false;
		if (next == state)
			return true;
		if (!state)
			guard_cells_mark(address);
		if (__atomic_compare_exchange_n(cell, &state, next, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return true;
	}
}

/* Whatever is not a known step. */
static __attribute__((noinline)) void access_slowly(uint64_t address, uint32_t site)
{
	if (!guard_self)
		guard_register();
	if (!guard_settings.off && !guard_note(address, site, false))
		guard_stall(address, site);
}

/* A step within the sets, at a location that has been accessed; false when the slow way has to look. */
static inline bool step(uint64_t address, uint32_t site, uint32_t self)
{
	uint64_t *cell = cell_of(address, site), state = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
	bool own = guard_word_thread(last_of(state)) == self;

	if (!state || !guard_allows(site, guard_word_site(remote(state, self))))
		return false;
	uint64_t next = next_state(state, site, self);

	if (site < GUARD_MEMOS && own)
		unsnarl_guard_memos[site].own = state >> GUARD_SITE_BITS << GUARD_SITE_BITS | site;
	else if (site < GUARD_MEMOS && next == state)
		unsnarl_guard_memos[site].stable = state;
	if (next == state)
		return true;
	if (own) {
		/* A plain store, a twentieth of the time of a swap. Whoever comes in the very same moment is not on
		 * record then. */
		__atomic_store_n(cell, next, __ATOMIC_RELEASE);
		return true;
	}
	/* Fails when another thread came meanwhile: then the slow way looks again. */
	return __atomic_compare_exchange_n(cell, &state, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

GUARD_HOOK void unsnarl_guard(uint64_t address, uint64_t site)
{
	uint32_t self = guard_self;

	if (__builtin_expect(!self || guard_settings.off || !step(address, (uint32_t)site, self), 0))
		access_slowly(address, (uint32_t)site);
}

/* Of a very long copy the beginning is guarded. */
#define RANGE_MOST 4096u

/* Locations that lie whole in the range; when none does, those that it touches. At its ends a copy may share a
 * location with another copy's end that it has no byte in common with. */
GUARD_HOOK void unsnarl_guard_range(uint64_t address, uint64_t size, uint64_t site, uint64_t shift)
{
	uint64_t grain = 1ull << shift, first = (address + grain - 1) & ~(grain - 1),
		 end = (address + size) & ~(grain - 1);

	if (first >= end) {
		first = address & ~(grain - 1);
		end = address + size;
	}

	for (unsigned i = 0; i < RANGE_MOST && first < end; i++, first += grain)
		unsnarl_guard(first, site);
}

GUARD_HOOK void unsnarl_guard_ahead(uint64_t address, uint64_t site, uint64_t mutex)
{
	if (guard_settings.off)
		return;
	if (!guard_self)
		guard_register();
	if (!guard_may_follow(address, (uint32_t)site))
		guard_stall_ahead(address, (uint32_t)site, (const int *)(uintptr_t)mutex);
}

GUARD_HOOK void unsnarl_guard_locked(uint64_t address, uint64_t site, uint64_t mutex, uint64_t error)
{
	if (!guard_settings.off && !error && guard_self && !guard_may_follow(address, (uint32_t)site))
		guard_stall_locked(address, (uint32_t)site, (void *)(uintptr_t)mutex);
}
