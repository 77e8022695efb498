/* Granules that are cut in parts, each with a cell of its own: mostly the members of
 * a structure that several threads use. The granule's cell then names a block of eight
 * cells and says at which bytes parts begin; a part's cell is the one of its first byte.
 * Parts become smaller as accesses ask for it, and whole again when all have come to the
 * same. */
#include "loom/runtime/observe/readers.h"
#include "loom/runtime/observe/cells.h"
#include "loom/runtime/observe/spare.h"

static uint32_t cut_new(struct thread *self)
{
	uint32_t number = spare_block(&self->spares[SPARE_CUTS], SPARE_CUTS);
	if (!number)
		runtime_die("no more room for memory that is used in parts of 8 bytes");
	return number;
}

static void cut_free(struct thread *self, uint32_t number)
{
	spare_give(&self->spares[SPARE_CUTS], SPARE_CUTS, number);
}

/* ---- cutting: under the granule's lock; whoever takes a cell over meanwhile makes the swap fail ---- */

static const struct cell fresh_part = { .owner = OWNER(0u, FORM_PART, MODE_ALL) };

/* A cell for one byte of a granule with an array. */
static struct cell byte_of_array(struct thread *self, struct cell from, uint32_t byte, struct cell *home)
{
	uint32_t state = array_at(HISTORY(from.history))->states[byte];
	uint32_t history = STATE_HISTORY(state);
	if (!history) /* a byte that nobody touched */
		return fresh_part;
	if (OWNER_MODE(from.owner) == MODE_ONE && !history_at(history)->read) /* or only the first thread */
		return (struct cell){ .history = history,
				      .context = STATE_CONTEXT(state),
				      .owner = OWNER(HISTORY_WRITER(from.history), FORM_PART, MODE_ALL),
				      .write = from.write,
				      .read = from.write };
	struct history old = *history_at(history);
	if (OWNER_MODE(from.owner) == MODE_ONE && !old.write && !old.own) /* or only the second */
		return (struct cell){ .history = history_number(
					      (struct history){ .own = old.read, .before = old.before }),
				      .owner = OWNER(OWNER_SLOT(from.owner), FORM_PART, MODE_ALL),
				      .read = from.read };
	return cell_copy(self, array_byte(from, state), home, FORM_PART);
}

static struct cell cut_cell(uint32_t number, uint32_t starts)
{
	return (struct cell){ .history = number,
			      .context = (uint16_t)starts,
			      .owner = OWNER(0u, FORM_WHOLE, MODE_CUT) };
}

static void release_parts(struct thread *self, uint32_t number, uint32_t starts)
{
	for (; starts; starts &= starts - 1)
		cell_release(self, cut_at(number)->cells[__builtin_ctz(starts)]);
	cut_free(self, number);
}

static uint32_t fill_from_row(struct cell from, struct cell *cells)
{
	const uint64_t *bytes = row_at(from.history)->bytes;
	uint32_t starts = 0, slot = OWNER_SLOT(from.owner);
	for (uint32_t i = 0; i < 8; i++) {
		if (i && bytes[i] == bytes[i - 1])
			continue;
		uint64_t low =
			private_low(slot, FORM_PART, ROW_WRITE_SITE(bytes[i])) + (from.write & PRIVATE_ORDER);
		uint64_t high = private_high(ROW_READ_SITE(bytes[i]), from.read, ROW_CONTEXT(bytes[i]));
		cells[i] = bytes[i] ? cell_of(low, high) : fresh_part;
		starts |= 1u << i;
	}
	return starts;
}

/* Cells for what a granule consists of so far; where they begin. */
static uint32_t fill_parts(struct thread *self, struct cell lower, struct cell upper, struct cell *cells)
{
	uint32_t form = OWNER_FORM(lower.owner);
	if (form == FORM_ARRAY && OWNER_IS_PRIVATE(lower.owner))
		return fill_from_row(lower, cells);
	if (form == FORM_ARRAY) {
		for (uint32_t i = 0; i < 8; i++)
			cells[i] = byte_of_array(self, lower, i, &cells[i]);
		return 0xff;
	}
	cells[0] = form ? cell_copy(self, lower, &cells[0], FORM_PART) : fresh_part;
	if (form != FORM_HALF)
		return 1;
	cells[4] = cell_copy(self, upper, &cells[4], FORM_PART);
	return 1 | 1 << 4;
}

static void open_parts(struct thread *self, uint64_t granule)
{
	struct cell *first = layout_cell(granule), *second = layout_cell(granule | 4);
	for (;;) {
		struct cell lower = cell_get(first), upper = { 0 };
		if (cell_is_cut(lower))
			return;
		bool halves = OWNER_FORM(lower.owner) == FORM_HALF;
		if (halves)
			upper = cell_get(second);
		reread_put_everybodys(self, first, lower);
		reread_put_everybodys(self, second, upper);
		uint32_t number = cut_new(self);
		uint32_t starts = fill_parts(self, lower, upper, cut_at(number)->cells);
		if (cell_swap(first, lower, cut_cell(number, starts))) {
			cell_release(self, lower);
			if (halves) {
				cell_release(self, upper);
				cell_set(second, (struct cell){ 0 });
			}
			return;
		}
		release_parts(self, number, starts);
	}
}

void parts_cut(struct thread *self, uint64_t granule, uint32_t from, uint32_t to)
{
	open_parts(self, granule);
	struct cell *first = layout_cell(granule), now = cell_get(first);
	struct cell *cells = cut_at(now.history)->cells;
	uint32_t edges[] = { from, to }, starts = now.context;
	for (int i = 0; i < 2; i++) {
		uint32_t edge = edges[i];
		if (edge == 8 || starts >> edge & 1)
			continue;
		const struct cell *part = &cells[part_of(starts, edge)];
		reread_put_everybodys(self, part, cell_get(part));
		cells[edge] = cell_copy(self, cell_get(part), &cells[edge], FORM_PART);
		starts |= 1u << edge;
	}
	cell_set(first, cut_cell(now.history, starts));
}

/* ---- one whole again ---- */

#define LATER(a, b) (((a) - (b) & PRIVATE_ORDER) <= PRIVATE_ORDER / 2) /* of two orders */

/* When all parts are private to one thread and the same but for their orders. */
static bool join_private(const struct cell *cells, uint32_t starts, struct cell *all)
{
	uint64_t low = low_of(cells[0]), high = high_of(cells[0]);
	if (!OWNER_IS_PRIVATE(cells[0].owner))
		return false;
	for (; starts; starts &= starts - 1) {
		struct cell part = cell_get(&cells[__builtin_ctz(starts)]);
		uint64_t next = low_of(part), next_high = high_of(part);
		bool same = next >> PRIVATE_ORDER_BITS == low >> PRIVATE_ORDER_BITS &&
			    next_high << PRIVATE_ORDER_BITS == high << PRIVATE_ORDER_BITS;
		if (!same)
			return false;
		low = LATER(next, low) ? next : low;
		high = LATER(next_high >> PRIVATE_READ_ORDER, high >> PRIVATE_READ_ORDER) ? next_high : high;
	}
	*all = cell_of(low, high);
	all->owner = OWNER(OWNER_SLOT(all->owner), FORM_WHOLE | FORM_PRIVATE, MODE_ALL);
	return true;
}

/* When all have come to the same threads, as after a walk: then an array can tell what differs. */
static bool join_others(struct thread *self, const struct cell *cells, uint32_t starts, struct cell *all)
{
	struct cell fresh = cell_plain(cell_get(&cells[0])), cell = fresh;
	struct array each;
	uint32_t parties = fresh.history & ~HISTORY(~0u);
	if (OWNER_MODE(fresh.owner) > MODE_ONE || !OWNER_SLOT(fresh.owner) || !arrays_can_tell())
		return false;
	for (uint32_t i = 0; i < 8; i++) {
		if (starts >> i & 1)
			cell = cell_plain(cell_get(&cells[i]));
		if (cell.owner != fresh.owner || (cell.history & ~HISTORY(~0u)) != parties)
			return false;
		each.states[i] = STATE(HISTORY(cell.history), cell.context);
		if (order_is_later(cell.write, fresh.write))
			fresh.write = cell.write;
		if (order_is_later(cell.read, fresh.read))
			fresh.read = cell.read;
	}
	*all = fresh;
	return array_put(self, all, &each);
}

void parts_mend(struct thread *self, uint64_t granule)
{
	struct cell *first = layout_cell(granule), fresh;
	granule_lock(self, granule);
	struct cell now = cell_get(first);
	if (cell_is_cut(now)) {
		const struct cell *cells = cut_at(now.history)->cells;
		bool joined = OWNER_IS_PRIVATE(cells[0].owner)
				      ? join_private(cells, now.context, &fresh)
				      : join_others(self, cells, now.context, &fresh);
		if (joined) {
			cell_set(first, fresh);
			cut_free(self, now.history);
		}
	}
	granule_unlock(self);
}

/* ---- forgetting, under the granule's lock ---- */

void parts_forget(struct thread *self, uint64_t granule, uint32_t from, uint32_t to)
{
	parts_cut(self, granule, from, to);
	struct cell *first = layout_cell(granule), now = cell_get(first);
	uint32_t within = ((1u << to) - 1) & ~((1u << from) - 1);
	for (uint32_t left = now.context & within; left; left &= left - 1)
		cell_release(self, cut_at(now.history)->cells[__builtin_ctz(left)]);
	if (from == 0 && to == 8) {
		struct cell *second = layout_cell(granule | 4);
		if (second->owner) /* an owner's store came late when the granule was cut */
			cell_set(second, (struct cell){ 0 });
		cell_set(first, (struct cell){ 0 });
		cut_free(self, now.history);
		return;
	}
	cut_at(now.history)->cells[from] = fresh_part;
	cell_set(first, cut_cell(now.history, (now.context & ~within) | 1u << from));
}
