/* Private granules of buffers: where one thread alone was ever at a granule, but not
 * at all its bytes in the same way, the cell names a row with the sites of each byte.
 * Owner and orders are those of the whole granule, as with arrays (array.c);
 * walks over a buffer make and drop rows as they go. */
#include "loom/runtime/runtime.h"
#include "loom/runtime/spare.h"

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

static struct cell row_cell(struct thread *self, uint32_t number, uint64_t orders)
{
	uint16_t owner = OWNER(self->slot, FORM_ARRAY | FORM_PRIVATE, MODE_ALL);
	return cell_of((uint64_t)owner << 48 | number, orders);
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

/* The first access to only some bytes of a granule that is private, or fresh. */
static bool open_row(struct thread *self, struct cell *cell, struct cell raw, uint32_t from, uint32_t to,
		     uint64_t word, enum access access)
{
	uint64_t low = low_of(raw), high = high_of(raw), byte = 0, orders = 0;
	if (raw.owner) {
		uint32_t write = (uint32_t)(low >> PRIVATE_ORDER_BITS) & WORD_SITE_MASK;
		byte = row_read(write ? ROW_WRITE(write, high) : 0, private_read_site(high));
		orders = order_of_private(low) | (uint64_t)order_of_private(high >> PRIVATE_READ_ORDER) << 32;
	}
	bool entered = granule_enter(self);
	uint32_t number = row_new(self);
	struct row *row = row_at(number);
	for (int i = 0; i < 8; i++)
		row->bytes[i] = byte;
	orders = step_row(self, row, orders, from, to, word, access);
	bool done = cell_swap(cell, raw, row_cell(self, number, orders));
	if (!done)
		row_free(self, number);
	granule_leave(self, entered);
	return done;
}

bool row_access(struct thread *self, struct cell *cell, uint32_t from, uint32_t to, uint64_t word,
		enum access access, uint32_t unit, bool element)
{
	struct cell raw = cell_get(cell);
	bool mine = OWNER_SLOT(raw.owner) == self->slot && OWNER_IS_PRIVATE(raw.owner);
	if (raw.owner && !mine)
		return false;
	if (OWNER_FORM(raw.owner) != FORM_ARRAY) {
		if (OWNER_FORM(raw.owner) == FORM_HALF || !open_row(self, cell, raw, from, to, word, access))
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
