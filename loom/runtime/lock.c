/* Who may change a cell's owner. A cell is locked in its own owner word, so that
 * whoever takes a unit over touches no other line; what concerns several cells of a
 * granule is done under one of a table of locks besides. Both kinds name their
 * holder: what a thread held that left by a jump or has died is taken over. */
#include "loom/runtime/runtime.h"

#include <sched.h>
#include <string.h>

static bool is_gone(uint32_t slot)
{
	return RELAXED_GET(runtime.threads[slot].state) != THREAD_LIVE;
}

static void lock_pause(uint32_t tries)
{
	if (tries % 64 == 0)
		sched_yield();
	__builtin_ia32_pause();
}

/* ---- one cell ---- */

/* The holder of a locked cell will not come back: the lock becomes this thread's, and since the
 * holder may have left in the middle, the history ends. */
static bool inherit(struct thread *self, struct cell *cell, uint16_t owner)
{
	uint32_t holder = OWNER_SLOT(owner);
	if (!is_gone(holder) && RELAXED_GET(runtime.threads[holder].cell) == cell)
		return false;
	if (!__atomic_compare_exchange_n(&cell->owner, &owner, OWNER(self->slot, OWNER_LENGTH(owner), OWNER_BUSY),
					 false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	lock_clear(cell);
	return true;
}

void lock_clear(struct cell *cell)
{
	cell->write = cell->read = 0;
	cell->before = 0;
}

/* Locks the cell; returns its owner as it was. */
uint16_t lock_cell(struct thread *self, struct cell *cell)
{
	RELAXED_SET(self->cell, cell);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* a handler on this thread sees it before the lock is taken */
	for (uint32_t tries = 1;; tries++) {
		uint16_t owner = RELAXED_GET(cell->owner);
		uint16_t busy = OWNER(self->slot, OWNER_LENGTH(owner), OWNER_BUSY);
		/* Acquire pairs with the release in lock_leave: the cell as its last holder left it. */
		if (OWNER_FLAGS(owner) != OWNER_BUSY &&
		    __atomic_compare_exchange_n(&cell->owner, &owner, busy, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return owner;
		if (tries % 4096 == 0 && OWNER_FLAGS(owner) == OWNER_BUSY && inherit(self, cell, owner))
			return OWNER(0u, OWNER_LENGTH(owner), 0u);
		lock_pause(tries);
	}
}

void lock_leave(struct thread *self, struct cell *cell, uint16_t owner)
{
	__atomic_store_n(&cell->owner, owner, __ATOMIC_RELEASE); /* pairs with lock_cell */
	RELAXED_SET(self->cell, NULL);
}

/* ---- a granule as a whole ---- */

#define LOCKS 4096u
static uint32_t locks[LOCKS];

void lock_granule(struct thread *self, uint64_t granule)
{
	uint32_t *lock = &locks[(granule >> 3) * 0x9e3779b97f4a7c15u >> 52];
	self->held = lock;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* as in lock_cell */
	for (uint32_t tries = 1, free = 0;; tries++, free = 0) {
		/* Acquire pairs with the release in unlock_granule: blocks as their last holder left them. */
		if (__atomic_compare_exchange_n(lock, &free, self->slot, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		if (tries % 4096 == 0 && free &&
		    (is_gone(free) || RELAXED_GET(runtime.threads[free].held) != lock))
			__atomic_compare_exchange_n(lock, &free, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		lock_pause(tries);
	}
}

void unlock_granule(struct thread *self)
{
	__atomic_store_n(self->held, 0, __ATOMIC_RELEASE); /* pairs with lock_granule */
	self->held = NULL;
}

/* ---- leaving by a jump, and forks ---- */

void lock_abandon(struct thread *self)
{
	struct cell *cell = self->cell;
	if (cell || self->held) {
		/* It may have left in the middle of changing its spare lists: better lose them than walk them. */
		memset(&self->spare_readers, 0, sizeof self->spare_readers);
		memset(&self->spare_splits, 0, sizeof self->spare_splits);
	}
	uint16_t owner = cell ? RELAXED_GET(cell->owner) : 0;
	if (cell && OWNER_FLAGS(owner) == OWNER_BUSY && OWNER_SLOT(owner) == self->slot) {
		lock_clear(cell);
		lock_leave(self, cell, OWNER(0u, OWNER_LENGTH(owner), 0u));
	}
	if (self->held && RELAXED_GET(*self->held) == self->slot)
		unlock_granule(self);
	self->cell = NULL;
	self->held = NULL;
}

/* The holders stayed in the parent: their cells are inherited when somebody comes to them. */
void lock_after_fork(void)
{
	memset(locks, 0, sizeof locks);
}
