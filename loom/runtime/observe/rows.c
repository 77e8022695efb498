/* Private granules of buffers and structures: where one thread alone was ever at a
 * granule, but not at all its bytes in the same way, the cell names a row with the sites
 * of each byte. Owner and orders are those of the whole granule, as with arrays (array.c);
 * walks over a buffer make and drop rows as they go. */
#include "loom/runtime/observe/cells.h"
#include "loom/runtime/observe/spare.h"

/* Rows come and go at every step of a walk, so those that were freed last are used again first: they are in
 * the cache. Not at once: a signal handler may have freed the one that its thread is just writing to. */
static uint32_t row_new(struct thread *self)
{
	uint32_t *hand = &self->rows_in_hand[self->next_in_hand % ROWS_IN_HAND], number = *hand;
	struct spare *spare = &self->spares[SPARE_ROWS];
	*hand = 0;
	if (!number) {
		number = spare_block(spare, SPARE_ROWS);
		if (!number)
			runtime_die("no more room for memory that is used byte by byte");
		__builtin_prefetch(row_at(spare_peek(spare)), 1); /* the next one will not be in the cache */
	}
	return number;
}

void row_free(struct thread *self, uint32_t number)
{
	uint32_t *hand = &self->rows_in_hand[self->next_in_hand++ % ROWS_IN_HAND], oldest = *hand;
	*hand = number;
	if (oldest)
		spare_give(&self->spares[SPARE_ROWS], SPARE_ROWS, oldest);
}

bool row_settle(struct thread *self, struct cell *cell)
{
	struct cell now = cell_get(cell);
	const struct row *row = row_at(now.history);
	uint64_t first = row->bytes[0], differ = 0;
	for (int i = 1; i < 8; i++)
		differ |= row->bytes[i] ^ first;
	if (differ || !first || !granule_enter(self)) /* a handler leaves spare lists alone */
		return false;
	uint64_t low =
		private_low(self->slot, FORM_WHOLE, ROW_WRITE_SITE(first)) + (now.write & PRIVATE_ORDER);
	uint64_t high = private_high(ROW_READ_SITE(first), now.read, ROW_CONTEXT(first));
	if (cell_swap(cell, now, cell_of(low, high)))
		row_free(self, now.history);
	granule_leave(self, true);
	return true;
}

/* What the access makes of bytes from..to of the row, and of the orders in a cell's second half. */
INLINE uint64_t step_row(struct thread *self, struct row *row, uint64_t orders, uint32_t from, uint32_t to,
			 uint64_t word, enum access access)
{
	uint64_t site = WORD_SITE(word), written = ROW_WRITE(site, self->context);
	bool fresh = false;
	for (uint32_t i = from; i < to; i++) {
		fresh |= !row->bytes[i];
		row->bytes[i] = access == ACCESS_WRITE ? written : row_read(row->bytes[i], site);
	}
	if (access == ACCESS_WRITE)
		return orders >> 32 << 32 | WORD_ORDER(word);
	if (fresh && cell_observes_edges())
		observe_edge(self, 0, 0, (uint32_t)site, self->context, false);
	return (uint32_t)orders | (uint64_t)WORD_ORDER(word) << 32;
}

/* ---- opening: some bytes of a granule that is whole or in halves, private or fresh ---- */

static bool is_own_or_fresh(const struct thread *self, struct cell cell)
{
	uint32_t slot = OWNER_SLOT(cell.owner);
	return slot ? slot == self->slot && OWNER_IS_PRIVATE(cell.owner) : OWNER_MODE(cell.owner) == MODE_ALL;
}

/* What such a cell says of each of its bytes, and its orders. */
static uint64_t byte_of(struct cell cell)
{
	uint64_t low = low_of(cell), high = high_of(cell);
	uint32_t write = (uint32_t)(low >> PRIVATE_ORDER_BITS) & WORD_SITE_MASK;
	return OWNER_SLOT(cell.owner) ? row_read(write ? ROW_WRITE(write, high) : 0, private_read_site(high))
				      : 0;
}

static uint64_t orders_of(struct cell cell)
{
	uint64_t low = low_of(cell), high = high_of(cell);
	uint64_t read = private_read_site(high) ? order_of_private(high >> PRIVATE_READ_ORDER) : 0;
	return OWNER_SLOT(cell.owner) ? order_of_private(low) | read << 32 : 0;
}

/* The later one, 0 = none. */
static uint32_t later(uint64_t a, uint64_t b)
{
	bool first = (uint32_t)a && (!(uint32_t)b || order_is_later((uint32_t)a, (uint32_t)b));
	return (uint32_t)(first ? a : b);
}

/* A row for the granule; 0 when it is not this thread's alone. Of halves under the granule's lock. */
static uint32_t row_for(struct thread *self, struct cell lower, const struct cell *second, uint64_t *orders)
{
	struct cell upper = lower;
	if (OWNER_FORM(lower.owner) == FORM_HALF)
		upper = cell_get(second);
	if (!is_own_or_fresh(self, lower) || !is_own_or_fresh(self, upper))
		return 0;
	uint32_t number = row_new(self);
	struct row *row = row_at(number);
	uint64_t low = byte_of(lower), high = byte_of(upper);
	for (int i = 0; i < 4; i++) {
		row->bytes[i] = low;
		row->bytes[4 + i] = high;
	}
	uint64_t a = orders_of(lower), b = orders_of(upper);
	*orders = later(a, b) | (uint64_t)later(a >> 32, b >> 32) << 32;
	return number;
}

static bool open_row(struct thread *self, uint64_t granule, struct cell raw, uint32_t from, uint32_t to,
		     uint64_t word, enum access access)
{
	struct cell *first = layout_whole(granule), *second = layout_cell(granule | 4);
	bool halves = OWNER_FORM(raw.owner) == FORM_HALF, entered = false;
	if (halves)
		granule_lock(self, granule);
	else
		entered = granule_enter(self);
	uint64_t orders = 0;
	uint32_t number = row_for(self, raw, second, &orders);
	bool done = false;
	if (number) {
		orders = step_row(self, row_at(number), orders, from, to, word, access);
		done = cell_swap(first, raw, cell_of(row_low(self->slot) | number, orders));
		if (!done)
			row_free(self, number);
	}
	if (halves && done)
		cell_set(second, (struct cell){ 0 });
	if (halves)
		granule_unlock(self);
	else
		granule_leave(self, entered);
	return done;
}

bool row_access(struct thread *self, uint64_t granule, uint32_t from, uint32_t to, uint64_t word,
		enum access access, uint32_t unit, bool element)
{
	struct cell *cell = layout_whole(granule), raw = cell_get(cell);
	if (!is_own_or_fresh(self, raw))
		return false;
	if (OWNER_FORM(raw.owner) != FORM_ARRAY) {
		if (!open_row(self, granule, raw, from, to, word, access))
			return false;
	} else {
		uint64_t orders = step_row(self, row_at(raw.history), high_of(raw), from, to, word, access);
		cell_set(cell, cell_of(low_of(raw), orders));
	}
	cell_learn_nil(self, word, unit);
	if (to == 8 && (element || !from))
		row_settle(self, cell);
	return true;
}

/* ---- forgetting ---- */

/* Of a granule with a row of this thread's own, else NULL. */
static uint64_t *own_bytes(const struct thread *self, uint64_t granule)
{
	uint64_t number = cell_low(layout_whole(granule)) ^ row_low(self->slot);
	return number >> 32 ? NULL : row_at((uint32_t)number)->bytes;
}

bool row_forget(const struct thread *self, uint64_t granule, uint32_t from, uint32_t to)
{
	uint64_t *bytes = own_bytes(self, granule);
	for (uint32_t i = from; bytes && i < to; i++)
		bytes[i] = 0;
	return bytes;
}

bool row_clear(const struct thread *self, uint64_t granule)
{
	uint64_t *bytes = own_bytes(self, granule), differ = 0;
	for (int i = 1; bytes && i < 8; i++)
		differ |= bytes[i] ^ bytes[0];
	return differ && row_forget(self, granule, 0, 8);
}
