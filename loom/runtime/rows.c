/* Private granules of buffers: where one thread alone was ever at a granule, but not
 * at all its bytes in the same way, the cell names a row with the sites of each byte.
 * Owner and orders are those of the whole granule, as with arrays (array.c);
 * walks over a buffer make and drop rows as they go. */
#include "loom/runtime/runtime.h"

static uint32_t row_new(struct thread *self)
{
	uint32_t number = spare_block(&self->spares[SPARE_ROWS], SPARE_ROWS);
	if (!number)
		runtime_die("no more room for memory that is used byte by byte");
	return number;
}

void row_free(struct thread *self, uint32_t number)
{
	spare_give(&self->spares[SPARE_ROWS], SPARE_ROWS, number);
}

static struct cell row_cell(struct thread *self, uint32_t number, struct cell like)
{
	like.history = number;
	like.context = 0;
	like.owner = OWNER(self->slot, FORM_ARRAY | FORM_PRIVATE, MODE_ALL);
	return like;
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
	uint64_t low = mark_of(self->slot, FORM_WHOLE, ROW_WRITE_SITE(first)) + (now.write & PRIVATE_ORDER);
	uint64_t high = private_high(ROW_READ_SITE(first), now.read, ROW_CONTEXT(first));
	if (cell_swap(cell, now, cell_of(low, high)))
		row_free(self, now.history);
	granule_leave(self, true);
	return true;
}

/* What the access makes of bytes from..to of the row. */
static void step_row(struct thread *self, struct row *row, struct cell *now, uint32_t from, uint32_t to,
		     uint64_t word, enum access access)
{
	uint64_t site = WORD_SITE(word), written = ROW_WRITE(site, self->context);
	bool fresh = false;
	for (uint32_t i = from; i < to; i++) {
		fresh |= !row->bytes[i];
		row->bytes[i] = access == ACCESS_WRITE ? written : row_read(row->bytes[i], site);
	}
	if (access == ACCESS_WRITE) {
		now->write = WORD_ORDER(word);
		return;
	}
	now->read = WORD_ORDER(word);
	if (fresh && cell_observes_edges())
		observe_edge(self, 0, 0, (uint32_t)site, self->context, false);
}

/* The first access to only some bytes of a granule that is private, or fresh. */
static bool open_row(struct thread *self, struct cell *cell, struct cell raw, uint32_t from, uint32_t to,
		     uint64_t word, enum access access)
{
	uint64_t low = low_of(raw), high = high_of(raw), byte = 0;
	struct cell now = { 0 };
	if (raw.owner) {
		uint32_t write = (uint32_t)(low >> PRIVATE_ORDER_BITS) & WORD_SITE_MASK;
		byte = row_read(write ? ROW_WRITE(write, high) : 0, private_read_site(high));
		now = (struct cell){ .write = order_of_private(low),
				     .read = order_of_private(high >> PRIVATE_READ_ORDER) };
	}
	bool entered = granule_enter(self);
	uint32_t number = row_new(self);
	struct row *row = row_at(number);
	for (int i = 0; i < 8; i++)
		row->bytes[i] = byte;
	step_row(self, row, &now, from, to, word, access);
	bool done = cell_swap(cell, raw, row_cell(self, number, now));
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
		struct cell now = raw;
		step_row(self, row_at(raw.history), &now, from, to, word, access);
		cell_set(cell, now);
	}
	cell_learn_nil(self, word, unit);
	if (to == 8 && (element || !from))
		row_settle(self, cell);
	return true;
}
