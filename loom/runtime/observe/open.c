/* Whether the order of an access and of what others did at its place can still be turned round. What a
 * thread did before its last synchronisation call is closed: who comes after that call comes after it. What
 * it did since is open: it may as well stand before it yet. Two reads have no order. Only under control,
 * where nobody else changes a cell meanwhile. */
#include "loom/runtime/observe/cells.h"
#include "loom/runtime/observe/readers.h"

#include <string.h>

/* Reads that are passed over leave no order, so the first one after the call must not be. */
void observe_close(struct thread *self)
{
	self->closed = self->order;
	if (self->has_rereads)
		memset(self->rereads, 0, sizeof self->rereads);
	self->has_rereads = false;
}

/* A cell that another thread alone was at. */
static bool owned_is_open(struct cell cell, bool writes)
{
	uint32_t slot = OWNER_SLOT(cell.owner);
	bool array = OWNER_FORM(cell.owner) == FORM_ARRAY;
	if (OWNER_IS_PRIVATE(cell.owner) && !array)
		cell = cell_plain(cell);
	const struct history *history = array ? NULL : history_at(HISTORY(cell.history));
	return ((array || history->write) && control_is_open(slot, cell.write)) ||
	       (writes && (array || history->own) && control_is_open(slot, cell.read));
}

/* Two threads; the order that the cell keeps of the first may be that of a read after its write. Who reads
 * the same value again has met its writer before. */
static bool shared_is_open(const struct thread *self, struct cell cell, bool writes)
{
	uint32_t first = HISTORY_WRITER(cell.history), second = OWNER_SLOT(cell.owner);
	bool array = OWNER_FORM(cell.owner) == FORM_ARRAY;
	if (!writes && !array && second == self->slot)
		return false;
	bool written = array || writes || history_at(HISTORY(cell.history))->write;
	return (written && first != self->slot && control_is_open(first, cell.write)) ||
	       (writes && second != self->slot && control_is_open(second, cell.read));
}

static bool read_by_many_is_open(const struct thread *self, const struct cell *place, struct cell cell,
				 bool writes)
{
	uint32_t writer = HISTORY_WRITER(cell.history);
	bool open = history_at(HISTORY(cell.history))->write && writer != self->slot &&
		    control_is_open(writer, cell.write);
	if (!writes && !open)
		return false;
	struct readers_walk readers = { .number = readers_of(place, cell.read) };
	for (uint64_t read; (read = readers_next(&readers));) {
		if (WORD_SLOT(read) == self->slot && !writes)
			return false;
		open |= writes && WORD_SLOT(read) != self->slot &&
			control_is_open(WORD_SLOT(read), WORD_ORDER(read));
	}
	return open;
}

static bool cell_is_open(const struct thread *self, const struct cell *place, bool writes)
{
	struct cell cell = cell_get(place);
	switch (OWNER_MODE(cell.owner)) {
	case MODE_ALL:
		return OWNER_SLOT(cell.owner) && OWNER_SLOT(cell.owner) != self->slot &&
		       owned_is_open(cell, writes);
	case MODE_ONE:
		return shared_is_open(self, cell, writes);
	default:
		return read_by_many_is_open(self, place, cell, writes);
	}
}

/* Bytes from..to of one granule. */
static bool part_is_open(const struct thread *self, uint64_t granule, uint32_t from, uint32_t to, bool writes)
{
	const struct cell *first = layout_cell(granule);
	struct cell now = cell_get(first);
	if (cell_is_cut(now)) {
		const struct cell *cells = cut_at(now.history)->cells;
		for (uint32_t i = from; i < to; i++) {
			uint32_t part = part_of(now.context, i);
			if ((i == from || part == i) && cell_is_open(self, &cells[part], writes))
				return true;
		}
		return false;
	}
	if (OWNER_FORM(now.owner) != FORM_HALF)
		return cell_is_open(self, first, writes);
	return (from < 4 && cell_is_open(self, first, writes)) ||
	       (to > 4 && cell_is_open(self, layout_cell(granule | 4), writes));
}

bool granule_is_open(const struct thread *self, uint64_t address, size_t size, enum access access)
{
	for (uint64_t granule = address & ~7ull; granule < address + size; granule += 8) {
		uint32_t from = granule < address ? (uint32_t)(address - granule) : 0;
		uint64_t left = address + size - granule;
		if (part_is_open(self, granule, from, left < 8 ? (uint32_t)left : 8, access == ACCESS_WRITE))
			return true;
	}
	return false;
}
