/* Cells that are private to a thread (layout.h): from and to the way that all other
 * cells are kept in, and the access that the quick parts leave to the runtime. */
#include "loom/runtime/observe/cells.h"

struct cell cell_plain(struct cell cell)
{
	if (!OWNER_IS_PRIVATE(cell.owner))
		return cell;
	if (OWNER_FORM(cell.owner) == FORM_ARRAY) { /* its histories are not in the cell */
		cell.owner = OWNER(OWNER_SLOT(cell.owner), FORM_ARRAY, MODE_ALL);
		cell.history = 0;
		return cell;
	}
	uint64_t low = low_of(cell), high = high_of(cell);
	uint32_t slot = OWNER_SLOT(cell.owner);
	struct history history = { .write = (uint32_t)(low >> PRIVATE_ORDER_BITS) & WORD_SITE_MASK,
				   .own = private_read_site(high) };
	struct cell plain = { .history = history_number(history),
			      .context = (uint16_t)high,
			      .owner = OWNER(slot, OWNER_FORM(cell.owner), MODE_ALL),
			      .write = order_of_private(low) };
	plain.read = history.own ? order_of_private(high >> PRIVATE_READ_ORDER) : plain.write;
	return plain;
}

/* The same when the cell may be private, and as it was if not. */
struct cell cell_make_private(struct cell plain)
{
	const struct history *history = history_at(HISTORY(plain.history));
	uint32_t slot = OWNER_SLOT(plain.owner), form = OWNER_FORM(plain.owner);
	if (OWNER_MODE(plain.owner) != MODE_ALL || !slot || history->before || history->read ||
	    form == FORM_ARRAY)
		return plain;
	uint64_t low = private_low(slot, form, history->write) + (plain.write & PRIVATE_ORDER);
	return cell_of(low, private_high(history->own, plain.read, plain.context));
}

void cell_learn_nil(struct thread *self, uint64_t word, uint32_t unit)
{
	if (site_is_marked(WORD_SITE(word)))
		return;
	observe_predecessor(self, WORD_SITE(word), 0);
	if (unit && self->tag != TAG_NEVER && !(runtime.controlled && control_must_see(WORD_SITE(word))))
		site_mark(WORD_SITE(word));
}

bool cell_take_fresh(struct thread *self, struct cell *cell, struct cell raw, uint32_t form, uint64_t word,
		     enum access access, uint32_t unit)
{
	uint32_t site = WORD_SITE(word);
	bool writes = access == ACCESS_WRITE;
	uint64_t low = private_low(self->slot, form, writes ? site : 0) + (WORD_ORDER(word) & PRIVATE_ORDER);
	uint64_t high = writes ? (uint16_t)self->context : private_high(site, WORD_ORDER(word), 0);
	if (!cell_swap(cell, raw, cell_of(low, high)))
		return false;
	cell_learn_nil(self, word, unit);
	if (!writes && cell_observes_edges())
		observe_edge(self, 0, 0, site, self->context, false);
	return true;
}

/* An access by the thread whose private cell it is. */
void cell_step_private(struct thread *self, struct cell *cell, uint64_t word, enum access access,
		       uint32_t unit)
{
	uint64_t mine = private_low(self->slot, OWNER_FORM(cell->owner), 0);
	cell_learn_nil(self, word, unit);
	if (access == ACCESS_READ)
		cell_private_read(cell, LOW_OWNER(mine), WORD_SITE(word), WORD_ORDER(word),
				  cell_private_past(cell));
	else
		cell_private_write(cell, mine, WORD_SITE(word), self->context, WORD_ORDER(word));
}
