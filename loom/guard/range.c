/* Hooks of accesses to many locations: copies, and rows that a loop's turns access. What
 * lies side by side is mostly in one state, so a state's next one is looked up once for
 * all cells that follow in the same.
 */
#include <cpuid.h>
#include <immintrin.h>

#include "loom/guard/guard.h"

#define RANGE_MOST 4096u /* locations: of a very long copy the beginning is guarded */

/* The state that an access of this thread at the site leaves in place of `state`, where its memo says that a plain
 * store will do; else GUARD_NO_STATE. */
static inline uint64_t next_by_memo(uint64_t state, uint64_t site)
{
	const struct guard_memo *memo = &unsnarl_guard_memos[site];

	if (__builtin_expect(site >= GUARD_MEMOS, 0))
		return GUARD_NO_STATE;
	if (state == memo->stable)
		return state;
	return (state ^ memo->own) >> GUARD_SITE_BITS == 0 ? memo->own : GUARD_NO_STATE;
}

/* The same, where the thread remembers it as a step. The memo has it then. */
static inline uint64_t next_by_step(uint64_t state, uint64_t site)
{
	struct guard_memo *memo = &unsnarl_guard_memos[site < GUARD_MEMOS ? site : 0];
	const struct guard_step *known = guard_step_of(state, (uint32_t)site);

	if (known->site != site || known->from != state || (known->to ^ state) >> GUARD_SITE_BITS)
		return GUARD_NO_STATE;
	*(known->to == state ? &memo->stable : &memo->own) = known->to;
	return known->to;
}

/* ---- runs: how many cells, from the first on, were in a state and came into the next ---- */

static inline uint64_t run_by_words(uint64_t *cells, uint64_t n, uint64_t state, uint64_t next)
{
	uint64_t i = 0;

	for (; i < n && __atomic_load_n(&cells[i], __ATOMIC_ACQUIRE) == state; i++)
		if (next != state)
			__atomic_store_n(&cells[i], next, __ATOMIC_RELEASE);
	return i;
}

/* By a step of which a plain store will not do. */
static uint64_t run_by_swaps(uint64_t *cells, uint64_t n, uint64_t state, uint64_t site)
{
	const struct guard_step *known = guard_step_of(state, (uint32_t)site);
	uint64_t i = 0;

	for (; i < n && known->site == site && known->from == state; i++, state = known->from)
		if (!__atomic_compare_exchange_n(&cells[i], &state, known->to, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			break;
	return i;
}

#define LANES 4u
#define WIDE __attribute__((target("avx2")))

/* Cells are loaded and stored as single words are, by every processor that has these vectors; nobody needs several of
 * the same moment. */
static inline WIDE bool are_all(const uint64_t *cells, unsigned vectors, __m256i state)
{
	__m256i differ = _mm256_setzero_si256();

	for (unsigned k = 0; k < vectors; k++)
		differ |= _mm256_loadu_si256((const __m256i *)cells + k) ^ state;
	return _mm256_testz_si256(differ, differ);
}

static inline WIDE void become_all(uint64_t *cells, unsigned vectors, __m256i state)
{
	for (unsigned k = 0; k < vectors; k++)
		_mm256_storeu_si256((__m256i *)cells + k, state);
}

static inline WIDE __attribute__((always_inline)) uint64_t run_by_vectors(uint64_t *cells, uint64_t n,
									  uint64_t state, uint64_t next)
{
	__m256i all = _mm256_set1_epi64x((long long)state), then = _mm256_set1_epi64x((long long)next);
	uint64_t i = 0;

	for (; i + 4 * LANES <= n && are_all(&cells[i], 4, all); i += 4 * LANES)
		if (next != state)
			become_all(&cells[i], 4, then);
	for (; i + LANES <= n && are_all(&cells[i], 1, all); i += LANES)
		if (next != state)
			become_all(&cells[i], 1, then);
	return i + run_by_words(&cells[i], n - i, state, next);
}

static WIDE __attribute__((noinline)) uint64_t run_widely(uint64_t *cells, uint64_t n, uint64_t state,
							  uint64_t next)
{
	return run_by_vectors(cells, n, state, next);
}

bool guard_has_vectors;

#define SAVED_YMM 6u /* of what the system keeps at a change of threads: both halves */

/* By cpuid itself: the compiler's own test asks in a constructor, which each observed run would pay for, and on a
 * virtual machine this instruction takes some twenty microseconds. */
void guard_rows_start(void)
{
	unsigned a, b, c, d, kept, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX))
		return;
	__asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
	guard_has_vectors =
		(kept & SAVED_YMM) == SAVED_YMM && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX2;
}

/* ---- rows ---- */

/* Whatever the states are. */
static __attribute__((noinline)) GUARD_HOOK void row_in_runs(uint64_t address, uint64_t n, uint64_t site,
							     uint64_t shift)
{
	uint64_t *cells = guard_cell_in(&unsnarl_guard_map, address, shift);

	while (n) {
		uint64_t state = __atomic_load_n(cells, __ATOMIC_ACQUIRE), next = next_by_memo(state, site),
			 done;

		if (next == GUARD_NO_STATE)
			next = next_by_step(state, site);
		if (next == GUARD_NO_STATE)
			done = state ? run_by_swaps(cells, n, state, site) : 0; /* no mark yet */
		else
			done = (guard_has_vectors ? run_widely : run_by_words)(cells, n, state, next);
		if (!done) {
			guard_one(cells, address, (uint32_t)site);
			done = 1;
		}
		cells += done;
		address += done << shift;
		n -= done;
	}
}

/* Mostly all are in one state, of which the memo knows. */
static WIDE __attribute__((noinline)) GUARD_HOOK void row_at_once(uint64_t address, uint64_t n, uint64_t site,
								  uint64_t shift)
{
	uint64_t *cells = guard_cell_in(&unsnarl_guard_map, address, shift);
	uint64_t state = __atomic_load_n(cells, __ATOMIC_ACQUIRE), next = next_by_memo(state, site), done = 0;

	if (next != GUARD_NO_STATE)
		done = run_by_vectors(cells, n, state, next);
	if (done != n)
		row_in_runs(address + (done << shift), n - done, site, shift);
}

/* There are no cells while the guard is off, or has not begun. */
static __attribute__((noinline, cold)) GUARD_HOOK bool begin(void)
{
	if (!guard_self)
		guard_register();
	return unsnarl_guard_map.mask != 0;
}

/* The row begins and ends with a location. */
GUARD_HOOK void unsnarl_guard_row(uint64_t address, uint64_t n, uint64_t site, uint64_t shift)
{
	if (__builtin_expect(!unsnarl_guard_map.mask, 0) && !begin())
		return;
	if (guard_has_vectors)
		row_at_once(address, n, site, shift);
	else
		row_in_runs(address, n, site, shift);
}

/* Locations that lie whole in the range; when none does, those that it touches. At its ends a copy may share a
 * location with another copy's end that it has no byte in common with. */
GUARD_HOOK void unsnarl_guard_range(uint64_t address, uint64_t size, uint64_t site, uint64_t shift)
{
	uint64_t grain = 1ull << shift, first = (address + grain - 1) & -grain,
		 end = (address + size) & -grain;

	if (first >= end) {
		first = address & -grain;
		end = (address + size + grain - 1) & -grain;
	}
	uint64_t n = (end - first) >> shift;

	unsnarl_guard_row(first, n < RANGE_MOST ? n : RANGE_MOST, site, shift);
}

GUARD_HOOK void unsnarl_guard_strided(uint64_t address, uint64_t times, uint64_t form, uint64_t named)
{
	uint64_t step = form >> 32, shift = named & 0xff, n = (uint32_t)form >> shift, site = named >> 8;

	if (__builtin_expect(!unsnarl_guard_map.mask, 0) && !begin())
		return;
	for (; times; times--, address += step) {
		uint64_t *cells = guard_cell_in(&unsnarl_guard_map, address, shift);

		for (uint64_t i = 0; i < n; i++) {
			uint64_t state = __atomic_load_n(&cells[i], __ATOMIC_ACQUIRE),
				 next = next_by_memo(state, site);

			if (next == GUARD_NO_STATE)
				guard_one(&cells[i], address + (i << shift), (uint32_t)site);
			else if (next != state)
				__atomic_store_n(&cells[i], next, __ATOMIC_RELEASE);
		}
	}
}
