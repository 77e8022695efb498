/* The recorder (AI, Algorithm 1): for each location the last access and the last one by
 * another thread than that. One word of 64 bits holds both, the location's state, so that
 * to look and to note is one compare and swap. cells.c says where states lie; inline.c is
 * what guarded code does by itself.
 */
#include <malloc.h>

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

/* The state after an access by `self`. Where all three accesses are alike, that is, where whatever may follow one may
 * follow the others, it does not matter any more whose they were: the state says 'several threads', of which one
 * at least is not the next, and is the same for all of them. So threads that read the same memory do not write to
 * the same cells, and need one memo for all of it. */
static inline uint64_t next_state(uint64_t state, uint32_t site, uint32_t self)
{
	const uint16_t *alike = unsnarl_guard_data->alike;
	uint32_t last = guard_word_site(last_of(state)), other = guard_word_site((uint32_t)(state >> 32));

	if (other && alike[last] == alike[site] && alike[other] == alike[site])
		return (uint64_t)guard_word(last, GUARD_SEVERAL) << 32 | guard_word(last, GUARD_SEVERAL);
	return (uint64_t)remote(state, self) << 32 | guard_word(site, self);
}

/* Did the thread itself do the last access? */
static inline bool is_own(uint64_t state, uint32_t self)
{
	return guard_word_thread(last_of(state)) == self;
}

static inline bool allows(uint64_t state, uint32_t site, uint32_t self)
{
	uint32_t traits = unsnarl_guard_data->traits[site];

	return !(traits & GUARD_OWN && !state) && !(traits & GUARD_TURN && is_own(state, self)) &&
	       guard_allows(site, guard_word_site(remote(state, self)));
}

bool guard_may_follow(uint64_t address, uint32_t site)
{
	return allows(__atomic_load_n(cell_of(address, site), __ATOMIC_ACQUIRE), site, guard_self);
}

/* Notes the access if it may follow what came before, or in any case with `must`. To look and to note is one
 * step: of two threads that wait for the same, one goes on and the other sees it. */
static bool note_access(uint64_t address, uint32_t site, bool must, struct guard_note *note)
{
	uint64_t *cell = cell_of(address, site), state = __atomic_load_n(cell, __ATOMIC_ACQUIRE);

	for (;;) {
		uint64_t next = next_state(state, site, guard_self);

		if (!must && !allows(state, site, guard_self))
			return false;
		note->before = state;
		note->after = next;
		if (next == state)
			return true;
		if (!state)
			guard_cells_mark(address);
		if (__atomic_compare_exchange_n(cell, &state, next, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return true;
	}
}

bool guard_note(uint64_t address, uint32_t site, bool must)
{
	struct guard_note note;

	return note_access(address, site, must, &note);
}

bool guard_note_for_now(uint64_t address, uint32_t site, struct guard_note *note)
{
	return note_access(address, site, false, note);
}

bool guard_note_undo(uint64_t address, uint32_t site, const struct guard_note *note)
{
	uint64_t state = note->after;

	return __atomic_compare_exchange_n(cell_of(address, site), &state, note->before, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Whatever is not a known step. */
static __attribute__((noinline)) void access_slowly(uint64_t address, uint32_t site)
{
	if (!guard_self)
		guard_register();
	if (!guard_settings.off && !guard_note(address, site, false))
		guard_stall(address, site);
}

__thread struct guard_step guard_steps[GUARD_STEPS] __attribute__((tls_model("initial-exec")));

/* Makes the step; false when another thread came meanwhile. */
static inline bool take_step(uint64_t *cell, uint64_t state, uint64_t next, uint64_t address, uint32_t site)
{
	if (next == state) {
		if (site < GUARD_MEMOS)
			unsnarl_guard_memos[site].stable = state;
		return true;
	}
	if ((next ^ state) >> GUARD_SITE_BITS == 0) {
		/* The thread's own. A plain store, a twentieth of the time of a swap. Whoever comes in the very same
		 * moment is not on record then. */
		if (site < GUARD_MEMOS)
			unsnarl_guard_memos[site].own = next;
		__atomic_store_n(cell, next, __ATOMIC_RELEASE);
		return true;
	}
	if (!state)
		guard_cells_mark(address);
	return __atomic_compare_exchange_n(cell, &state, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* A step within the sets; false when the slow way has to look. */
static bool step(uint64_t *cell, uint64_t state, uint64_t address, uint32_t site, uint32_t self)
{
	if (!allows(state, site, self))
		return false;
	struct guard_step *known = guard_step_of(state, site);

	known->site = site;
	known->from = state;
	known->to = next_state(state, site, self);
	if (site < GUARD_MEMOS && guard_word_thread(last_of(state)) == self && known->to == state)
		unsnarl_guard_memos[site].own = state;
	return take_step(cell, state, known->to, address, site);
}

/* No known step. It spills what it needs, so that those who call it seldom do not. */
static __attribute__((noinline)) GUARD_HOOK void access_rarely(uint64_t *cell, uint64_t state,
							       uint64_t address, uint32_t site)
{
	uint32_t self = guard_self;

	if (__builtin_expect(!self, 0))
		access_slowly(address, site);
	else if (!guard_settings.off && !step(cell, state, address, site, self))
		access_slowly(address, site);
}

GUARD_HOOK void guard_one(uint64_t *cell, uint64_t address, uint32_t site)
{
	uint64_t state = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
	const struct guard_step *known = guard_step_of(state, site);

	/* No site is 0, so what was never filled is not known. */
	if (known->site != site || known->from != state || !take_step(cell, state, known->to, address, site))
		access_rarely(cell, state, address, site);
}

GUARD_HOOK void unsnarl_guard(uint64_t address, uint64_t site)
{
	guard_one(cell_of(address, (uint32_t)site), address, (uint32_t)site);
}

/* The same step of two neighbours at once, where their cells lie so that the processor can. */
static inline bool take_both(uint64_t *cell, uint64_t state, uint64_t next)
{
	typedef unsigned __int128 both __attribute__((may_alias));
	both from = (both)state << 64 | state, to = (both)next << 64 | next;

	return (next ^ state) >> GUARD_SITE_BITS && (uintptr_t)cell % sizeof(both) == 0 &&
	       __sync_bool_compare_and_swap((both *)cell, from, to);
}

/* Two neighbours, mostly in one state. */
GUARD_HOOK void unsnarl_guard_two(uint64_t address, uint64_t site, uint64_t shift)
{
	uint64_t *cell = guard_cell_in(&unsnarl_guard_map, address, shift);
	uint64_t state = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
	const struct guard_step *known = guard_step_of(state, (uint32_t)site);

	bool is_known = known->site == site && known->from == state;

	if (is_known && state && take_both(cell, state, known->to))
		return;
	if (!is_known || !take_step(cell, state, known->to, address, (uint32_t)site))
		access_rarely(cell, state, address, (uint32_t)site);
	if (!is_known || __atomic_load_n(cell + 1, __ATOMIC_ACQUIRE) != state ||
	    !take_step(cell + 1, state, known->to, address + (1ull << shift), (uint32_t)site))
		guard_one(cell + 1, address + (1ull << shift), (uint32_t)site);
}

#define FREED_MOST 64u /* bytes, as observed builds see a block that is freed in free runs */
#define PAGE 4096u

/* Of a freed block's bytes some were never touched, and some lie behind what the program asked for: they come after
 * nobody, which is no news. Its size is asked for, since behind it lies another block; but not where it begins a page:
 * nothing of malloc's need stand before it there. Its life is over then: a library without hooks may begin the next one,
 * and nobody would say so. */
GUARD_HOOK void unsnarl_guard_freed(uint64_t block, uint64_t site, uint64_t shift)
{
	uint64_t size = 1ull << shift;

	if (!block || (guard_self && guard_settings.off))
		return;
	if (block % PAGE)
		size = malloc_usable_size((void *)(uintptr_t)block);
	uint64_t end = block + (size < FREED_MOST ? size : FREED_MOST);

	for (uint64_t at = block; at < end; at += 1ull << shift) {
		uint64_t *cell = guard_cell_in(&unsnarl_guard_map, at, shift);

		if (__atomic_load_n(cell, __ATOMIC_ACQUIRE))
			guard_one(cell, at, (uint32_t)site);
	}
	guard_forget(block, size);
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
