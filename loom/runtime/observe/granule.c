/* From an address range to the cells in it. A granule has one cell, or one for each
 * half, or one for each part (parts.c). It starts whole; an access to an int cuts it in
 * halves, one to some bytes of what several threads use in parts. Those of one thread
 * have a row (rows.c), and accesses to the elements of a buffer leave it whole as long as
 * array.c can tell what it needs. Also forgets the history of memory that ends its life. */
#include "loom/runtime/observe/readers.h"
#include "loom/runtime/observe/cells.h"
#include "loom/runtime/observe/spare.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

void granule_start(void)
{
	runtime_map(CELLS_START & ~4095ull, CELLS_SIZE + 4096);
	runtime_map((CELLS_START & ~4095ull) + UPPER_DISPLACEMENT, CELLS_SIZE + 4096);
}

/* ---- locks ---- */

/* Locks stand apart from the cells, since cells also change without lock. Each holds
 * the slot of its holder. */
#define LOCKS 16384u
static uint32_t locks[LOCKS];
static HOT uint32_t only_lock; /* where one thread runs at a time */

/* Has the holder left by a jump or cancellation, or ended? */
static bool abandoned(const uint32_t *lock, uint32_t slot)
{
	const struct thread *holder = &runtime.threads[slot];
	return slot && (RELAXED_GET(holder->state) != THREAD_LIVE || RELAXED_GET(holder->held) != lock);
}

void granule_lock(struct thread *self, uint64_t granule)
{
	/* One lock for 512 bytes: walks through memory find the lock in their cache. */
	uint32_t *lock = runtime.controlled ? &only_lock : &locks[(granule >> 9) * 0x9e3779b97f4a7c15u >> 50];
	self->held = lock;
	__atomic_signal_fence(
		__ATOMIC_SEQ_CST); /* a handler on this thread sees it before the lock is taken */
	for (uint32_t tries = 1, free = 0;; tries++, free = 0) {
		/* Acquire pairs with the release in granule_unlock: blocks as their last holder left them. */
		if (__atomic_compare_exchange_n(lock, &free, self->slot, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		if (tries % 64 == 0)
			sched_yield();
		if (tries % 4096 == 0 && abandoned(lock, free))
			__atomic_compare_exchange_n(lock, &free, 0, false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED);
		__builtin_ia32_pause();
	}
}

void granule_unlock(struct thread *self)
{
	__atomic_store_n(self->held, 0, __ATOMIC_RELEASE); /* pairs with granule_lock */
	self->held = NULL;
}

void granule_unlock_held(struct thread *self)
{
	if (!self->held)
		return;
	/* It may have left in the middle of changing its spare lists: better lose them than walk them. */
	memset(self->spares, 0, sizeof self->spares);
	if (RELAXED_GET(*self->held) == self->slot)
		granule_unlock(self);
	self->held = NULL;
}

/* A lock that nobody takes. */
static uint32_t nobodys;

bool granule_enter(struct thread *self)
{
	if (self->held)
		return false;
	self->held = &nobodys;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

void granule_leave(struct thread *self, bool entered)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (entered)
		self->held = NULL;
}

/* The holders stayed in the parent. */
void granule_after_fork(void)
{
	memset(locks, 0, sizeof locks);
	spare_after_fork();
}

/* ---- cutting: under the granule's lock; whoever takes a cell over meanwhile makes the swap fail ---- */

/* Cuts a whole granule in halves, one whose bytes differ in parts. */
static void cut_in_halves(struct thread *self, uint64_t granule)
{
	struct cell *first = layout_cell(granule), *second = layout_cell(granule | 4);
	for (;;) {
		struct cell now = cell_get(first);
		if (OWNER_FORM(now.owner) == FORM_HALF || cell_is_cut(now))
			return;
		if (OWNER_FORM(now.owner) == FORM_ARRAY) {
			parts_cut(self, granule, 0, 4);
			return;
		}
		struct cell lower = now;
		if (!now.owner) {
			lower.owner = OWNER(0u, FORM_HALF, MODE_ALL);
			cell_swap(first, now, lower);
			continue;
		}
		lower.owner = OWNER(OWNER_SLOT(now.owner), FORM_HALF | OWNER_IS_PRIVATE(now.owner),
				    OWNER_MODE(now.owner));
		reread_put_everybodys(self, first, now);
		cell_set(second, cell_copy(self, now, second, FORM_HALF));
		if (cell_swap(first, now, lower))
			return;
		cell_release(self, cell_get(second));
		cell_set(second, (struct cell){ 0 });
	}
}

/* ---- accesses ---- */

/* Bytes from..to of a granule with parts that begin and end there. */
static void access_parts(struct thread *self, struct cell cut, uint32_t from, uint32_t to, uint64_t word,
			 uint64_t granule, enum access access, uint32_t unit)
{
	struct cell *cells = cut_at(cut.history)->cells;
	uint32_t left = cut.context & ((1u << to) - 1) & ~((1u << from) - 1);
	self->together.on = true;
	for (; left; left &= left - 1) {
		uint32_t at = (uint32_t)__builtin_ctz(left);
		cell_access(self, &cells[at], word, granule + at, FORM_PART, access, unit);
	}
	context_end(self, access);
}

/* The first access to half of a fresh granule; false when it is to be tried again. The upper half's cell stays
 * as nobody has touched it, until somebody does. */
static bool take_fresh_half(struct thread *self, uint64_t granule, uint32_t from, uint64_t word,
			    enum access access, uint32_t unit)
{
	struct cell *first = layout_cell(granule), none = { 0 };
	if (from == 0)
		return cell_take_fresh(self, first, none, FORM_HALF, word, access, unit);
	cell_swap(first, none, (struct cell){ .owner = OWNER(0u, FORM_HALF, MODE_ALL) });
	return false;
}

/* Of one thread, as others left it. */
static bool is_own_array(const struct thread *self, struct cell now)
{
	return now.owner == OWNER(self->slot, FORM_ARRAY, MODE_ALL);
}

/* One try at an access to bytes from..to of a granule; false when its cells had to be cut for it. */
static bool access_granule(struct thread *self, uint64_t granule, uint32_t from, uint32_t to, uint64_t word,
			   enum access access, uint32_t unit, bool element)
{
	struct cell *first = layout_cell(granule), now = cell_get(first);
	uint32_t form = OWNER_FORM(now.owner);
	bool whole = from == 0 && to == 8, half = from % 4 == 0 && to - from == 4;
	if (cell_is_cut(now)) {
		if (!parts_fit(now.context, from, to)) {
			granule_lock(self, granule);
			parts_cut(self, granule, from, to);
			granule_unlock(self);
			return false;
		}
		access_parts(self, now, from, to, word, granule, access, unit);
		if (element && to == 8)
			parts_mend(self, granule);
		return true;
	}
	if (half && !element && !now.owner)
		return take_fresh_half(self, granule, from, word, access, unit);
	if (form == FORM_HALF && (whole || half)) {
		self->together.on = true;
		bool done = true;
		for (uint32_t at = from; at < to && done; at += 4)
			done = cell_access(self, layout_cell(granule | at), word, granule | at, FORM_HALF,
					   access, unit);
		context_end(self, access);
		return done;
	}
	if (whole && form != FORM_ARRAY && cell_access(self, first, word, granule, FORM_WHOLE, access, unit))
		return true;
	/* Of members too, unless another thread's is written: under control orders are exact. */
	bool member = !runtime.controlled && (form == FORM_ARRAY || !half) &&
		      (access == ACCESS_READ || is_own_array(self, now));
	if (form != FORM_HALF && (whole || element || member) &&
	    array_access(self, first, from, to, word, granule, access, unit))
		return true;
	bool row = form == FORM_ARRAY || !half; /* under control orders are exact */
	if (row && !runtime.controlled && row_access(self, granule, from, to, word, access, unit, element))
		return true;
	granule_lock(self, granule);
	if (half && !element)
		cut_in_halves(self, granule);
	else
		parts_cut(self, granule, from, to);
	granule_unlock(self);
	return false;
}

void granule_access(struct thread *self, uint64_t word, uint64_t address, size_t size, enum access access,
		    uint32_t unit, bool element)
{
	uint64_t end = address + size;
	while (address < end) {
		uint64_t granule = address & ~7ull;
		uint32_t from = (uint32_t)(address - granule);
		uint32_t to = end - granule < 8 ? (uint32_t)(end - granule) : 8;
		while (!access_granule(self, granule, from, to, word, access, unit, element))
			;
		address = granule + 8;
	}
}

/* ---- whose it is ---- */

/* Bytes from..to of one granule: only this thread's. */
static bool part_is_own(const struct thread *self, uint64_t granule, uint32_t from, uint32_t to)
{
	const struct cell *first = layout_cell(granule);
	struct cell now = cell_get(first);
	for (uint32_t i = from; i < to; i++) {
		struct cell cell = cell_is_cut(now) ? cut_at(now.history)->cells[part_of(now.context, i)]
				   : OWNER_FORM(now.owner) == FORM_HALF && i > 3 ? *layout_cell(granule | 4)
										 : now;
		if (OWNER_MODE(cell.owner) != MODE_ALL || OWNER_SLOT(cell.owner) != self->slot)
			return false;
	}
	return true;
}

bool granule_is_own(const struct thread *self, uint64_t address, size_t size)
{
	for (uint64_t granule = address & ~7ull; granule < address + size; granule += 8) {
		uint32_t from = granule < address ? (uint32_t)(address - granule) : 0;
		uint64_t left = address + size - granule;
		if (!part_is_own(self, granule, from, left < 8 ? (uint32_t)left : 8))
			return false;
	}
	return true;
}

/* ---- forgetting ---- */

static void forget_cell(struct thread *self, struct cell *cell, uint32_t form)
{
	struct cell now = cell_get(cell);
	cell_set(cell, (struct cell){ .owner = form ? OWNER(0u, form, MODE_ALL) : 0 });
	cell_release(self, now);
}

/* A granule of this thread's own with a row; should another thread come in this instant, the row is its to free. */
static bool forget_row(struct thread *self, struct cell *first)
{
	struct cell now = cell_get(first);
	uint64_t number = low_of(now) ^ row_low(self->slot);
	if (number >> 32 || !granule_enter(self))
		return false;
	bool done = cell_swap(first, now, (struct cell){ 0 });
	if (done)
		row_free(self, (uint32_t)number);
	granule_leave(self, true);
	return done;
}

/* Has the cell no block to give back? */
static bool is_plain(const struct cell *cell, uint32_t form)
{
	uint16_t owner = LOW_OWNER(cell_low(cell));
	return OWNER_FORM(owner) == form && OWNER_MODE(owner) < MODE_MANY;
}

/* Most granules are whole. */
static bool forget_whole(struct cell *cell)
{
	bool can = is_plain(cell, FORM_WHOLE);
	if (can)
		cell_set(cell, (struct cell){ 0 });
	return can;
}

/* The bytes of one granule start a new life. */
static void forget_part(struct thread *self, uint64_t granule, uint32_t from, uint32_t to)
{
	struct cell *first = layout_cell(granule), *second = layout_cell(granule | 4);
	const struct cell fresh = { .owner = OWNER(0u, FORM_HALF, MODE_ALL) };
	bool whole = from == 0 && to == 8, half = from % 4 == 0 && to - from == 4;
	if ((whole || half) && is_plain(first, FORM_HALF) &&
	    (to == 4 || !second->owner || is_plain(second, FORM_HALF))) {
		if (to == 8)
			cell_set(second, whole ? (struct cell){ 0 } : fresh);
		if (from == 0)
			cell_set(first, whole ? (struct cell){ 0 } : fresh);
		return;
	}
	if (whole ? forget_row(self, first) : row_forget(self, granule, from, to))
		return;
	granule_lock(self, granule);
	if (half)
		cut_in_halves(self, granule);
	struct cell now = cell_get(first);
	if (cell_is_cut(now) || (!whole && !half)) {
		parts_forget(self, granule, from, to);
	} else if (half) {
		forget_cell(self, layout_cell(granule | from), FORM_HALF);
	} else {
		if (OWNER_FORM(now.owner) == FORM_HALF)
			forget_cell(self, layout_cell(granule | 4), FORM_NONE);
		forget_cell(self, first, FORM_NONE);
	}
	granule_unlock(self);
}

#define FORGET_BY_PAGE (1u << 17)

/* Forgets the granules of [start, end) whose cells begin in one page of shadow. */
static void forget_page(struct thread *self, uint64_t page, uint64_t start, uint64_t end)
{
	uint64_t first = (uint64_t)layout_cell(start);
	uint64_t skipped = page > first ? (page - first + 15) / 16 : 0;
	for (uint64_t granule = start + skipped * 8; granule < end; granule += 8) {
		struct cell *cell = layout_cell(granule);
		if ((uint64_t)cell >= page + 4096)
			break;
		if (cell->owner && !forget_whole(cell))
			forget_part(self, granule, 0, 8);
	}
}

/* Page by page, only where shadow was touched. */
static void forget_present(struct thread *self, uint64_t start, uint64_t end, uint64_t low, uint64_t high)
{
	static unsigned char many[4096]
		__attribute__((aligned(8))); /* where one thread runs at a time: a whole stack at once */
	unsigned char few[256] __attribute__((aligned(8)));
	bool large = runtime.controlled && high - low > sizeof few * 4096;
	unsigned char *present = large ? many : few;
	uint64_t most = large ? sizeof many : sizeof few;
	for (uint64_t at = low; at < high; at += most * 4096) {
		uint64_t pages = (high - at + 4095) / 4096;
		pages = pages < most ? pages : most;
		if (mincore((void *)at, pages * 4096, present) != 0)
			memset(present, 1, most);
		for (uint64_t i = 0; i < pages; i++)
			if (i % 8 == 0 && i + 8 <= pages &&
			    *(const uint64_t *)(const void *)(present + i) == 0)
				i += 7;
			else if (present[i] & 1)
				forget_page(self, at + i * 4096, start, end);
	}
}

/* Then the pages themselves are given back. In a short run the blocks that their cells name need not be. */
static void forget_piece(struct thread *self, uint64_t start, uint64_t end)
{
	uint64_t low = (uint64_t)layout_cell(start) & ~4095ull, high = (uint64_t)layout_cell(end - 8) + 16;
	if (runtime.lean) {
		forget_present(self, start, end, low, low + 4096);
		forget_present(self, start, end, high & ~4095ull, high);
	} else {
		forget_present(self, start, end, low, high);
	}
	for (uint64_t plane = 0; plane <= UPPER_DISPLACEMENT; plane += UPPER_DISPLACEMENT) {
		uint64_t from = ((uint64_t)layout_cell(start) + plane + 4095) & ~4095ull;
		uint64_t to = ((uint64_t)layout_cell(end) + plane) & ~4095ull;
		if (from < to)
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
}

/* Piece by piece: lists of spare blocks grow meanwhile, into what was given back. A piece has its cells in whole
 * huge pages. */
#define FORGET_PIECE (2ull << 20)
static void forget_pages(struct thread *self, uint64_t start, uint64_t end)
{
	while (start < end) {
		uint64_t left = FORGET_PIECE - (uint64_t)layout_cell(start) % FORGET_PIECE;
		uint64_t next = start + left / 2 < end && !runtime.lean ? start + left / 2 : end;
		forget_piece(self, start, next);
		start = next;
	}
}

#define VARIABLE 64u /* bytes of one that is likely to be used in the same way again */

void granule_forget(struct thread *self, uint64_t address, size_t size, bool stack)
{
	uint64_t end = address + size;
	bool again = stack && size <= VARIABLE && !runtime.controlled;
	if (size >= FORGET_BY_PAGE) {
		forget_pages(self, (address + 7) & ~7ull, end & ~7ull);
		return;
	}
	while (address < end) {
		uint64_t granule = address & ~7ull;
		struct cell *cells = layout_cell(granule);
		if (granule == address && end - granule >= 32 &&
		    !(cells[0].owner | cells[1].owner | cells[2].owner | cells[3].owner)) {
			address += 32;
			continue;
		}
		uint32_t from = (uint32_t)(address - granule);
		uint32_t to = end - granule < 8 ? (uint32_t)(end - granule) : 8;
		bool whole = to - from == 8;
		if (cells->owner && !(whole && forget_whole(cells)) &&
		    !(whole && again && row_clear(self, granule)))
			forget_part(self, granule, from, to);
		address = granule + 8;
	}
}
