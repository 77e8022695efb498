/* From an address range to the units in it: finds and locks granules, cuts them
 * where an access demands it, and hands each unit's cell to cell.c. Also forgets
 * the history of memory that ends its life. The cold ends of the hooks. */
#include "loom/runtime/runtime.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>

void granule_start(void)
{
	runtime_map(CELLS_START & ~4095ull, CELLS_SIZE + 4096);
	runtime_map((CELLS_START & ~4095ull) + UPPER_DISPLACEMENT, CELLS_SIZE + 4096);
	runtime_map(SPLITS_START, SPLITS_SIZE);
	runtime_map(SPLIT_BLOCKS_START, (size_t)SPLIT_BLOCKS_LIMIT * sizeof(struct split));
}

static uint32_t split_new(struct thread *self)
{
	uint32_t number = self->spare_splits.first;
	if (self->spare_splits.count) {
		self->spare_splits.count--;
		/* A spare block keeps the number of the next one in its first word. */
		self->spare_splits.first = (uint32_t)split_at(number)->cells[0].write;
		*split_at(number) = (struct split){ 0 };
		return number;
	}
	number = __atomic_add_fetch(&runtime.next_splits, 1, __ATOMIC_RELAXED);
	if (number >= SPLIT_BLOCKS_LIMIT)
		runtime_die("no more room for memory that is used byte by byte");
	return number;
}

static void split_free(struct thread *self, uint32_t number)
{
	split_at(number)->cells[0].write = self->spare_splits.first;
	self->spare_splits.first = number;
	self->spare_splits.count++;
}

void splits_recycle(void)
{
	for (uint32_t number = 1; number <= RELAXED_GET(runtime.next_splits); number++)
		for (int i = 0; i < 6; i++)
			recycle_cell(&split_at(number)->cells[i]);
}

/* The cell of the unit that starts at `offset` (0..7) of a granule. */
static struct cell *unit_cell(struct thread *self, uint64_t granule, uint32_t offset)
{
	if (offset % 4 == 0)
		return layout_cell(granule | offset);
	uint32_t *number = split_number(granule);
	if (!*number)
		*number = split_new(self);
	return &split_at(*number)->cells[offset < 4 ? offset - 1 : offset - 2];
}

/* ---- locks ---- */

/* Locks stand apart from the cells, since cells also change without lock. Each holds
 * the slot of its holder. */
#define LOCKS 16384u
static uint32_t locks[LOCKS];

/* Has the holder left by a jump or cancellation, or ended? */
static bool abandoned(const uint32_t *lock, uint32_t slot)
{
	const struct thread *holder = &runtime.threads[slot];
	return slot && (RELAXED_GET(holder->state) != THREAD_LIVE || RELAXED_GET(holder->held) != lock);
}

void granule_lock(struct thread *self, uint64_t granule)
{
	/* One lock for 512 bytes: walks through memory find the lock in their cache. */
	uint32_t *lock = &locks[runtime.controlled ? 0 : (granule >> 9) * 0x9e3779b97f4a7c15u >> 50];
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
	if (self->held && RELAXED_GET(*self->held) == self->slot) {
		/* It may have left in the middle of changing its spare lists: better lose them than walk them. */
		memset(&self->spare_readers, 0, sizeof self->spare_readers);
		memset(&self->spare_splits, 0, sizeof self->spare_splits);
		granule_unlock(self);
	}
	self->held = NULL;
}

/* The holders stayed in the parent. */
void granule_after_fork(void)
{
	memset(locks, 0, sizeof locks);
}

/* ---- cutting ---- */

/* A locked granule. */
struct granule {
	struct thread *self;
	uint64_t address;
	struct cell *first, *upper;
};

/* Cuts the half at `half` (0 or 4) into units of `length`, copying the history. */
static void cut_half(struct granule *granule, uint32_t half, uint32_t length)
{
	struct cell *base = half ? granule->upper : granule->first;
	uint32_t old = OWNER_LENGTH(base->owner);
	for (uint32_t start = 0; start < 4; start += old) {
		struct cell *from = unit_cell(granule->self, granule->address, half + start);
		uint16_t owner = from->owner;
		for (uint32_t at = start + length; at < start + old; at += length)
			cell_copy(granule->self, unit_cell(granule->self, granule->address, half + at), from,
				  owner, length);
		from->owner = OWNER(OWNER_SLOT(owner), length, OWNER_FLAGS(owner));
	}
}

/* Makes [from, to) of the granule a union of whole units. */
static void cut(struct granule *granule, uint32_t from, uint32_t to)
{
	uint32_t length = OWNER_LENGTH(granule->first->owner);
	if (from == 0 && to == 8) {
		if (length == 0)
			granule->first->owner = OWNER(0u, 8u, 0u);
		return;
	}
	if (length == 8)
		cell_copy(granule->self, granule->upper, granule->first, granule->first->owner, 4);
	else if (length == 0)
		granule->upper->owner = OWNER(0u, 4u, 0u);
	else if (OWNER_LENGTH(granule->upper->owner) == 0)
		granule->upper->owner = OWNER(0u, 4u, 0u);
	if (length == 8 || length == 0)
		granule->first->owner =
			OWNER(OWNER_SLOT(granule->first->owner), 4u, OWNER_FLAGS(granule->first->owner));
	for (uint32_t half = 0; half < 8; half += 4) {
		uint32_t low = from > half ? from - half : 0, high = to < half + 4 ? to - half : 4;
		if (from >= half + 4 || to <= half || (low == 0 && high == 4))
			continue;
		uint32_t need = low % 2 == 0 && high % 2 == 0 ? 2 : 1;
		if (OWNER_LENGTH((half ? granule->upper : granule->first)->owner) > need)
			cut_half(granule, half, need);
	}
}

/* ---- accesses ---- */

static struct granule granule_open(struct thread *self, uint64_t address)
{
	struct granule granule = { .self = self, .address = address & ~7ull };
	granule.first = layout_cell(granule.address);
	granule.upper = layout_cell(granule.address | 4);
	granule_lock(self, granule.address);
	return granule;
}

static void touch(struct granule *granule, uint32_t offset, enum access access, uint64_t word)
{
	struct cell *cell = unit_cell(granule->self, granule->address, offset);
	uint16_t owner = cell->owner;
	if (access == ACCESS_READ)
		cell_read(granule->self, cell, &owner, word, granule->address + offset);
	else
		cell_write(granule->self, cell, &owner, word, granule->address + offset);
	RELAXED_SET(cell->owner, owner);
}

/* An access to bytes from..to of one granule, under its lock. */
static void access_locked(struct thread *self, uint64_t granule_address, uint32_t from, uint32_t to,
			  uint64_t word, enum access access, uint32_t *memo)
{
	struct granule granule = granule_open(self, granule_address);
	cut(&granule, from, to);
	uint32_t length = OWNER_LENGTH(granule.first->owner);
	for (uint32_t at = 0; at < to; at += length) {
		if (at == 4)
			length = OWNER_LENGTH(granule.upper->owner);
		if (at >= from)
			touch(&granule, at, access, word);
		if (at < 4 && at + length > 4)
			break; /* one unit of 8 */
	}
	memo_set(memo, unit_cell(self, granule.address, from)->before);
	granule_unlock(self);
}

void granule_access(struct thread *self, uint64_t word, uint64_t address, size_t size, enum access access,
		    uint32_t *memo)
{
	uint64_t end = address + size;
	while (address < end) {
		uint64_t granule = address & ~7ull;
		uint32_t from = (uint32_t)(address - granule);
		uint32_t to = end - granule < 8 ? (uint32_t)(end - granule) : 8;
		struct cell *cell = layout_cell(granule);
		if (from != 0 || to != 8 ||
		    (!cell_access(self, cell, word, granule, 8, access, memo) &&
		     !cell_access_locked(self, cell, word, granule, 8, access, memo)))
			access_locked(self, granule, from, to, word, access, memo);
		address = granule + 8;
	}
}

/* ---- forgetting ---- */

/* The bytes of one granule start a new life. */
static void forget_part(struct thread *self, uint64_t granule_address, uint32_t from, uint32_t to)
{
	struct cell *cell = layout_cell(granule_address);
	if (OWNER_LENGTH(cell->owner) == 8 && OWNER_FLAGS(cell->owner) != OWNER_MANY && from == 0 &&
	    to == 8) {
		*cell = (struct cell){ 0 };
		return;
	}
	struct granule granule = granule_open(self, granule_address);
	bool whole = from == 0 && to == 8;
	if (OWNER_LENGTH(granule.first->owner) && !whole)
		cut(&granule, from, to);
	uint32_t lower = OWNER_LENGTH(granule.first->owner), length = lower;
	for (uint32_t at = 0; length && at < to; at += length) {
		if (at == 4)
			length = OWNER_LENGTH(granule.upper->owner);
		if (at < from)
			continue;
		cell = unit_cell(self, granule.address, at);
		cell_clear(self, cell, cell->owner);
	}
	if (whole) {
		if (lower && (lower < 4 || length < 4)) {
			split_free(self, *split_number(granule.address));
			*split_number(granule.address) = 0;
		}
		if (lower && lower != 8)
			*granule.upper = (struct cell){ 0 };
		granule.first->owner = 0;
	}
	granule_unlock(self);
}

#define FORGET_BY_PAGE (1u << 17)

/* Forgets the granules of [start, end) whose cells begin in one page of shadow. */
static void forget_page(struct thread *self, uint64_t page, uint64_t start, uint64_t end)
{
	uint64_t first = (uint64_t)layout_cell(start);
	uint64_t skipped = page > first ? (page - first + 23) / 24 : 0;
	for (uint64_t granule = start + skipped * 8; granule < end; granule += 8) {
		const struct cell *cell = layout_cell(granule);
		if ((uint64_t)cell >= page + 4096)
			break;
		if (cell->owner)
			forget_part(self, granule, 0, 8);
	}
}

/* Page by page, only where shadow was touched; then the pages themselves are given back. */
static void forget_pages(struct thread *self, uint64_t start, uint64_t end)
{
	unsigned char present[256];
	uint64_t low = (uint64_t)layout_cell(start) & ~4095ull, high = (uint64_t)layout_cell(end - 8) + 24;
	for (uint64_t at = low; at < high; at += sizeof present * 4096) {
		uint64_t pages = (high - at + 4095) / 4096;
		pages = pages < sizeof present ? pages : sizeof present;
		if (mincore((void *)at, pages * 4096, present) != 0)
			memset(present, 1, sizeof present);
		for (uint64_t i = 0; i < pages; i++)
			if (present[i] & 1)
				forget_page(self, at + i * 4096, start, end);
	}
	for (uint64_t plane = 0; plane <= UPPER_DISPLACEMENT; plane += UPPER_DISPLACEMENT) {
		uint64_t from = ((uint64_t)layout_cell(start) + plane + 4095) & ~4095ull;
		uint64_t to = ((uint64_t)layout_cell(end) + plane) & ~4095ull;
		if (from < to)
			madvise((void *)from, to - from, MADV_DONTNEED);
	}
}

void granule_forget(struct thread *self, uint64_t address, size_t size)
{
	uint64_t end = address + size;
	if (size >= FORGET_BY_PAGE) {
		forget_pages(self, (address + 7) & ~7ull, end & ~7ull);
		return;
	}
	while (address < end) {
		uint64_t granule = address & ~7ull;
		uint32_t from = (uint32_t)(address - granule);
		uint32_t to = end - granule < 8 ? (uint32_t)(end - granule) : 8;
		if (layout_cell(granule)->owner)
			forget_part(self, granule, from, to);
		address = granule + 8;
	}
}
