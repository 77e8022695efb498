/* Granules of buffers: accesses to some bytes of a granule that belongs to one
 * thread, or that one thread wrote and one other reads, leave it with one cell. Where
 * its bytes then have different histories, or were written in different contexts, the
 * cell names an array of eight. Walks over a buffer make and drop such arrays as they
 * go. Owner and orders are those of the whole granule: the order of an access is then that of the last one
 * of its kind to the granule, by the same thread. */
#include "loom/runtime/observe/change.h"
#include "loom/runtime/observe/cells.h"
#include "loom/runtime/observe/spare.h"

/* 0 when there are no more. */
static uint32_t array_new(struct thread *self)
{
	return spare_block(&self->spares[SPARE_ARRAYS], SPARE_ARRAYS);
}

void array_free(struct thread *self, uint32_t number)
{
	spare_give(&self->spares[SPARE_ARRAYS], SPARE_ARRAYS, number);
}

/* The context of what was not written does not count. */
static bool uniform(const struct array *bytes)
{
	uint32_t first = bytes->states[0];
	bool written = history_at(STATE_HISTORY(first))->write;
	for (int i = 1; i < 8; i++)
		if (written ? bytes->states[i] != first
			    : STATE_HISTORY(bytes->states[i]) != STATE_HISTORY(first))
			return false;
	return true;
}

bool array_put(struct thread *self, struct cell *cell, const struct array *bytes)
{
	*cell = array_byte(*cell, bytes->states[0]);
	uint32_t slot = OWNER_SLOT(cell->owner), mode = OWNER_MODE(cell->owner);
	cell->owner = OWNER(slot, FORM_WHOLE, mode);
	if (uniform(bytes))
		return true;
	uint32_t number = array_new(self);
	if (!number)
		return false;
	*array_at(number) = *bytes;
	cell->owner = OWNER(slot, FORM_ARRAY, mode);
	cell->history = (cell->history & ~HISTORY(~0u)) | number;
	cell->context = 0;
	return true;
}

/* ---- a granule in hand ---- */

struct bytes {
	struct cell raw, now; /* the cell as it was, and what it says */
	struct array all;     /* before, then after the access */
};

uint32_t state_of_row(uint64_t byte)
{
	struct history history = { .write = ROW_WRITE_SITE(byte), .own = ROW_READ_SITE(byte) };
	return STATE(history_number(history), ROW_CONTEXT(byte));
}

static void read_row(const struct row *row, struct array *all)
{
	for (int i = 0; i < 8; i++)
		all->states[i] = i && row->bytes[i] == row->bytes[i - 1] ? all->states[i - 1]
									 : state_of_row(row->bytes[i]);
}

static void open_bytes(const struct cell *cell, struct bytes *bytes)
{
	bytes->raw = cell_get(cell);
	bytes->now = cell_plain(bytes->raw);
	uint32_t number = HISTORY(bytes->now.history);
	if (OWNER_FORM(bytes->now.owner) != FORM_ARRAY)
		for (int i = 0; i < 8; i++)
			bytes->all.states[i] = STATE(number, bytes->now.context);
	else if (OWNER_IS_PRIVATE(bytes->raw.owner))
		read_row(row_at(bytes->raw.history), &bytes->all);
	else
		bytes->all = *array_at(number);
}

/* Puts the new state in place; false when the cell has changed meanwhile or there is no array left. */
static bool close_bytes(struct thread *self, struct cell *cell, const struct bytes *bytes, struct cell fresh)
{
	bool entered = granule_enter(self);
	bool put = array_put(self, &fresh, &bytes->all);
	bool done = put && cell_swap(cell, bytes->raw, fresh);
	if (done)
		cell_release(self, bytes->raw);
	else if (put)
		cell_release(self, fresh);
	granule_leave(self, entered);
	return done;
}

/* The first thread has overwritten all that the second one read: the granule is its own again. */
static bool second_is_gone(const struct bytes *bytes)
{
	if (OWNER_MODE(bytes->now.owner) != MODE_ONE)
		return false;
	for (int i = 0; i < 8; i++)
		if (history_at(STATE_HISTORY(bytes->all.states[i]))->read)
			return false;
	return true;
}

/* Mostly not: one look at the array, before all is copied. `same`: all states are, contexts included. */
static bool may_settle(uint64_t low, bool *same)
{
	if (OWNER_FORM(LOW_OWNER(low)) != FORM_ARRAY || OWNER_IS_PRIVATE(LOW_OWNER(low)))
		return false;
	const uint32_t *states = array_at(HISTORY(low))->states;
	uint32_t differ = 0;
	for (int i = 1; i < 8; i++)
		differ |= states[i] ^ states[0];
	bool one = OWNER_MODE(LOW_OWNER(low)) == MODE_ONE;
	bool read = history_at(STATE_HISTORY(states[0]))->read;
	*same = !differ && (!one || read);
	return !STATE_HISTORY(differ) || (one && !read && !history_at(STATE_HISTORY(states[7]))->read);
}

/* All bytes are the same. */
static void settle_same(struct thread *self, struct cell *cell)
{
	struct cell raw = cell_get(cell);
	struct cell fresh = array_byte(raw, array_at(HISTORY(raw.history))->states[0]);
	fresh.owner = OWNER(OWNER_SLOT(raw.owner), FORM_WHOLE, OWNER_MODE(raw.owner));
	bool entered = granule_enter(self);
	if (cell_swap(cell, raw, fresh))
		array_free(self, HISTORY(raw.history));
	granule_leave(self, entered);
}

__attribute__((preserve_most)) void array_settle(struct thread *self, struct cell *cell)
{
	struct bytes bytes;
	bool same;
	if (!may_settle(cell_low(cell), &same) || self->held) /* a handler leaves spare lists alone */
		return;
	if (same) {
		settle_same(self, cell);
		return;
	}
	open_bytes(cell, &bytes);
	struct cell fresh = bytes.now;
	if (OWNER_FORM(fresh.owner) != FORM_ARRAY)
		return;
	if (second_is_gone(&bytes)) {
		fresh.owner = OWNER(HISTORY_WRITER(fresh.history), FORM_ARRAY, MODE_ALL);
		fresh.history = HISTORY(fresh.history);
		fresh.read = fresh.write;
	} else if (!uniform(&bytes.all)) {
		return;
	}
	close_bytes(self, cell, &bytes, fresh);
}

/* ---- accesses ---- */

/* The cell stays as it is but for orders and context, an array's histories change in place. */
static void change_in_place(struct thread *self, struct cell *cell, const struct bytes *bytes,
			    struct cell fresh, uint32_t from, uint32_t to)
{
	if (OWNER_FORM(bytes->now.owner) == FORM_ARRAY)
		for (uint32_t i = from; i < to; i++)
			array_at(HISTORY(bytes->now.history))->states[i] = bytes->all.states[i];
	fresh.owner = bytes->now.owner;
	fresh.history = bytes->now.history;
	cell_set(cell, fresh);
	if (to == 8 && OWNER_FORM(fresh.owner) == FORM_ARRAY)
		array_settle(self, cell);
}

/* A byte's state then. */
static uint32_t state_after(const struct thread *self, uint32_t old, uint32_t history, enum access access)
{
	return STATE(history, access == ACCESS_WRITE ? self->context : STATE_CONTEXT(old));
}

/* Of the thread whose granule it is. */
static bool step_bytes(struct thread *self, struct cell *cell, struct bytes *bytes, uint32_t from,
		       uint32_t to, uint64_t word, uint64_t granule, enum access access)
{
	bool changes = false;
	for (uint32_t i = from; i < to; i++) {
		uint32_t state = bytes->all.states[i];
		uint32_t old = STATE_HISTORY(state), next;
		if (old)
			next = history_step(self, old, WORD_SITE(word), access);
		else /* the first access to this byte */
			next = HISTORY(
				cell_learn(self, array_byte(bytes->now, 0), word, granule + i, access).next);
		bytes->all.states[i] = state_after(self, state, next, access);
		changes |= bytes->all.states[i] != state;
	}
	struct cell fresh = cell_after(self, bytes->now, true, word, access);
	if (changes && OWNER_FORM(bytes->now.owner) != FORM_ARRAY)
		return close_bytes(self, cell, bytes, fresh);
	change_in_place(self, cell, bytes, fresh, from, to);
	return true;
}

/* Of another thread: a read of what one thread alone was at, a write of all eight bytes, the first
 * access at all; or a further one of the two threads that the cell names. */
static bool learn_bytes(struct thread *self, struct cell *cell, struct bytes *bytes, uint32_t from,
			uint32_t to, uint64_t word, uint64_t granule, enum access access)
{
	struct cell now = bytes->now;
	if (!OWNER_FORM(now.owner))
		now.owner = OWNER(0u, FORM_WHOLE, MODE_ALL);
	bool changes = false, whole = OWNER_FORM(bytes->raw.owner) == FORM_WHOLE;
	struct change each[8];
	uint32_t n = 0;
	uint32_t old = 0, next = 0;
	for (uint32_t i = from; i < to; i++) {
		if (i == from || bytes->all.states[i] != old) {
			old = bytes->all.states[i];
			/* A whole granule's change is known by its cell as it is (quick_open). */
			struct cell byte = whole ? bytes->raw : array_byte(now, old);
			each[n] = cell_learn(self, byte, word, granule + i, access);
			next = state_after(self, old, HISTORY(each[n++].next), access);
		}
		changes |= next != old;
		bytes->all.states[i] = next;
	}
	now.owner = OWNER(OWNER_SLOT(now.owner), to - from == 8 ? (uint32_t)FORM_WHOLE : FORM_ARRAY,
			  OWNER_MODE(now.owner));
	struct cell fresh = cell_after(self, now, true, word, access);
	bool stays = (fresh.owner & ~(15u << 2)) == (bytes->now.owner & ~(15u << 2));
	if (stays && (!changes || OWNER_FORM(bytes->now.owner) == FORM_ARRAY))
		change_in_place(self, cell, bytes, fresh, from, to);
	else if (!close_bytes(self, cell, bytes, fresh))
		return false;
	self->together.on = true;
	for (uint32_t i = 0; i < n; i++)
		change_communicate(self, &each[i], access);
	context_end(self, access);
	return true;
}

/* The cell gets an array, with bytes from..to in another state than the others; `fresh` tells the rest. False when
 * it is no longer `raw`, or there is no array left. */
static bool open_two(struct thread *self, struct cell *cell, struct cell raw, struct cell fresh,
		     uint32_t from, uint32_t to, uint32_t old, uint32_t next)
{
	bool entered = granule_enter(self), done = false;
	uint32_t number = array_new(self);
	if (number) {
		for (uint32_t i = 0; i < 8; i++)
			RELAXED_SET(array_at(number)->states[i], i >= from && i < to ? next : old);
		fresh.owner = OWNER(OWNER_SLOT(fresh.owner), FORM_ARRAY, OWNER_MODE(fresh.owner));
		fresh.history = (fresh.history & ~HISTORY(~0u)) | number;
		fresh.context = 0;
		done = cell_swap(cell, raw, fresh);
		if (!done)
			array_free(self, number);
	}
	granule_leave(self, entered);
	return done;
}

bool array_open(struct thread *self, struct cell *cell, struct cell raw, const struct change *change,
		uint32_t from, uint32_t to, uint64_t word)
{
	struct cell now = cell_plain(raw), fresh = change_cell(self, raw, change->next, word, ACCESS_READ);
	uint32_t old = STATE(HISTORY(now.history), now.context),
		 next = STATE(HISTORY(change->next), now.context);
	if (!arrays_can_tell() || OWNER_MODE(fresh.owner) != MODE_ONE || next == old ||
	    !open_two(self, cell, raw, fresh, from, to, old, next))
		return false;
	change_learn_edge(self, change, now.context, word, ACCESS_READ);
	change_communicate(self, change, ACCESS_READ);
	return true;
}

bool array_replace_row(struct thread *self, struct cell *cell, struct cell raw, struct cell fresh,
		       const struct array *bytes)
{
	if (!arrays_can_tell())
		return false;
	bool entered = granule_enter(self), done = false;
	uint32_t number = array_new(self);
	if (number) {
		for (uint32_t i = 0; i < 8; i++)
			RELAXED_SET(array_at(number)->states[i], bytes->states[i]);
		fresh.history |= number;
		done = cell_swap(cell, raw, fresh);
		if (done)
			row_free(self, raw.history);
		else
			array_free(self, number);
	}
	granule_leave(self, entered);
	return done;
}

/* The same in a whole granule of this thread's own. */
static bool open_own(struct thread *self, struct cell *cell, uint32_t from, uint32_t to, uint64_t word,
		     enum access access)
{
	struct cell now = cell_get(cell);
	uint32_t old = STATE(HISTORY(now.history), now.context);
	if (now.owner != OWNER(self->slot, FORM_WHOLE, MODE_ALL) || !HISTORY(now.history) || to - from == 8)
		return false;
	uint32_t next = history_step(self, HISTORY(now.history), WORD_SITE(word), access);
	next = STATE(next, access == ACCESS_WRITE ? self->context : now.context);
	if (next != old)
		return open_two(self, cell, now, cell_after(self, now, true, word, access), from, to, old,
				next);
	*(access == ACCESS_WRITE ? &cell->write : &cell->read) = WORD_ORDER(word);
	return true;
}

bool array_access(struct thread *self, struct cell *cell, uint32_t from, uint32_t to, uint64_t word,
		  uint64_t granule, enum access access, uint32_t unit)
{
	for (int tries = 0; tries < 100; tries++) {
		struct bytes bytes;
		uint16_t owner = cell_get(cell).owner;
		if (!owner || (OWNER_SLOT(owner) == self->slot && OWNER_IS_PRIVATE(owner)))
			return row_access(self, granule, from, to, word, access, unit, true);
		if (!arrays_can_tell())
			return false;
		if (open_own(self, cell, from, to, word, access))
			return true;
		open_bytes(cell, &bytes);
		owner = bytes.now.owner;
		uint32_t form = OWNER_FORM(owner), mode = OWNER_MODE(owner), slot = OWNER_SLOT(owner);
		if ((form && form != FORM_WHOLE && form != FORM_ARRAY) || mode > MODE_ONE)
			return false;
		uint32_t a = mode == MODE_ONE ? HISTORY_WRITER(bytes.now.history) : slot;
		if (mode == MODE_ALL && slot == self->slot) {
			if (step_bytes(self, cell, &bytes, from, to, word, granule, access))
				return true;
			continue;
		}
		bool can = !slot || (access == ACCESS_WRITE
					     ? a == self->slot || to - from == 8
					     : mode == MODE_ALL || slot == self->slot || a == self->slot);
		if (!can)
			return false;
		if (learn_bytes(self, cell, &bytes, from, to, word, granule, access))
			return true;
	}
	return false;
}
