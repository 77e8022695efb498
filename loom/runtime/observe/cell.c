/* One cell and what each further access to all that it covers teaches. The owner of
 * a cell changes it by plain stores; everybody else by comparing and swapping all 16
 * bytes at once. A cell that two threads change in the same instant may miss one of
 * the two accesses, but never holds one that did not happen.
 *
 * Pairs (LOCON): a read after another thread's last write; a write after each
 * other thread's last read since that write, and after another thread's write.
 * Predecessors (AI, section 2.1): the last access by another thread, read or
 * write, even if this thread came in between; nil when there is none.
 * Edges (BUGABOO, 4.1): from the last writer, with its context at that time, to
 * every access by another thread. Events enter contexts as in section 3.3 and as
 * caches would see it: at the first access of a thread to what another wrote, and at
 * a write over what others have read since; reading the same value again is no new
 * communication. What nobody wrote has a null source: at a thread's first read,
 * and at all reads once several threads have read it. */
#include "loom/runtime/observe/reread.h"
#include "loom/runtime/observe/change.h"
#include "loom/runtime/observe/known_read.h"
#include "loom/runtime/observe/readers.h"
#include "loom/runtime/observe/cells.h"

#include "model/run.h" /* enum pair_kind, enum context_event */

static uint32_t writer_of(const struct cell *cell)
{
	return OWNER_MODE(cell->owner) == MODE_ALL ? OWNER_SLOT(cell->owner) : HISTORY_WRITER(cell->history);
}

static uint64_t event(uint32_t slot, uint32_t site, uint32_t order)
{
	return (uint64_t)slot << WORD_SLOT_SHIFT | (uint64_t)site << WORD_SITE_SHIFT | order;
}

/* ---- what an access teaches ---- */

bool cell_observes_edges(void)
{
	return !runtime.options.line && (runtime.options.observe & OBSERVE_EDGES); /* else lines.c does it */
}

/* An access to what another thread wrote, after `write`. */
static void after_write(struct thread *self, const struct cell *now, uint64_t write, uint64_t word,
			uint64_t address, enum access access)
{
	bool writes = access == ACCESS_WRITE;
	observe_pair(self, writes ? PAIR_WRITE_WRITE : PAIR_WRITE_READ, write, word, address);
	if (cell_observes_edges())
		observe_edge(self, WORD_SITE(write), now->context, WORD_SITE(word), self->context, writes);
}

/* Whose contexts an access enters, given the history before it. */
static void find_meets(const struct thread *self, const struct cell *now, const struct history *old,
		       enum access access, uint16_t meets[2])
{
	uint32_t a = writer_of(now), b = OWNER_MODE(now->owner) == MODE_ONE ? OWNER_SLOT(now->owner) : 0;
	bool writes = access == ACCESS_WRITE;
	meets[0] = meets[1] = 0;
	if (!cell_observes_edges())
		return;
	if (a != self->slot &&
	    (writes ? old->write || old->own : old->write && !(b == self->slot && old->read)))
		meets[0] = (uint16_t)a;
	if (writes && old->read && b != self->slot)
		meets[meets[0] != 0] = (uint16_t)b;
}

/* The same for a cell that many threads have read. */
static void communicate(struct thread *self, const struct cell *now, enum access access)
{
	struct change change;
	find_meets(self, now, history_at(HISTORY(now->history)), access, change.meets);
	change_communicate(self, &change, access);
}

/* Of the two threads that the cell names, A wrote or was here alone, B (MODE_ONE) read after that. */
static struct history learn_access(struct thread *self, const struct cell *now, const struct history *old,
				   uint64_t word, uint64_t address, enum access access)
{
	bool one = OWNER_MODE(now->owner) == MODE_ONE;
	uint32_t a = writer_of(now), b = one ? OWNER_SLOT(now->owner) : 0, own = old->own & ~OWN_LAST;
	bool is_a = a == self->slot, is_b = b == self->slot, last_is_b = old->read && !(old->own & OWN_LAST);
	uint32_t last = last_is_b ? old->read : own ? own : old->write;
	if (!last || (last_is_b ? is_b : is_a))
		last = old->before;
	uint32_t site = WORD_SITE(word);
	observe_predecessor(self, site, last);
	if (access == ACCESS_WRITE && own && !is_a)
		observe_pair(self, PAIR_READ_WRITE, event(a, own, one ? now->write : now->read), word,
			     address);
	if (access == ACCESS_WRITE && old->read && !is_b)
		observe_pair(self, PAIR_READ_WRITE, event(b, old->read, now->read), word, address);
	if (old->write && !is_a)
		observe_pair(self, access == ACCESS_WRITE ? PAIR_WRITE_WRITE : PAIR_WRITE_READ,
			     event(a, old->write, now->write), word, address);
	if (access == ACCESS_WRITE)
		return (struct history){ .write = site, .before = last };
	if (is_a || !a)
		return (struct history){ .write = old->write,
					 .own = site | (old->read ? OWN_LAST : 0),
					 .read = old->read,
					 .before = last };
	return (struct history){ .write = old->write, .own = own, .read = site, .before = last };
}

/* Where the access's edge comes from. */
static uint32_t edge_source(const struct thread *self, const struct cell *now, const struct history *old,
			    enum access access)
{
	uint32_t b = OWNER_MODE(now->owner) == MODE_ONE ? OWNER_SLOT(now->owner) : 0;
	bool is_a = writer_of(now) == self->slot, is_b = b == self->slot, own = old->own & ~OWN_LAST;
	if (!cell_observes_edges())
		return EDGE_NONE;
	if (old->write)
		return is_a ? EDGE_NONE : old->write;
	bool again = (is_a && own && !old->read) || (is_b && old->read && !own);
	return access == ACCESS_READ && !again ? EDGE_FROM_NOBODY : EDGE_NONE;
}

struct cell cell_after(struct thread *self, struct cell now, bool read, uint64_t word, enum access access)
{
	uint32_t form = OWNER_FORM(now.owner), a = writer_of(&now);
	bool alone = !a || (a == self->slot && OWNER_MODE(now.owner) == MODE_ALL);
	if (access == ACCESS_WRITE) {
		now.context = (uint16_t)self->context;
		now.write = WORD_ORDER(word);
		/* Unless the other thread has read the rest of a granule. */
		if (form != FORM_ARRAY || a != self->slot) {
			now.owner = OWNER(self->slot, form, MODE_ALL);
			now.read = now.write;
		}
	} else if (alone) {
		now.read = WORD_ORDER(word);
		now.owner = OWNER(self->slot, form, MODE_ALL);
	} else if (a == self->slot) {
		now.write = WORD_ORDER(word);
	} else {
		/* The owner's accesses keep the order of the last one. */
		if (OWNER_MODE(now.owner) == MODE_ALL && read && order_is_later(now.read, now.write))
			now.write = now.read;
		now.read = WORD_ORDER(word);
		now.owner = OWNER(self->slot, form, MODE_ONE);
	}
	now.history = OWNER_MODE(now.owner) == MODE_ONE ? a << HISTORY_BITS : 0;
	return now;
}

struct change cell_learn(struct thread *self, struct cell raw, uint64_t word, uint64_t address,
			 enum access access)
{
	struct change_key key = change_key(raw, word, access);
	struct change change;
	/* Couples want to see every pair for a while. */
	bool looks = !self->couples_left && !runtime.lean && !self->meets_open;
	if (LIKELY(looks) && change_find(self, key, &change)) {
		change_learn_edge(self, &change, cell_context(raw), word, access);
		return change;
	}
	struct cell now = cell_plain(raw);
	const struct history *old = history_at(HISTORY(now.history));
	struct cell fresh = cell_after(self, now, old->own, word, access);
	fresh.history |= history_number(learn_access(self, &now, old, word, address, access));
	change = (struct change){ .next = low_without_context(low_of(fresh)),
				  .before = old->before,
				  .source = edge_source(self, &now, old, access) };
	find_meets(self, &now, old, access, change.meets);
	change_learn_edge(self, &change, now.context, word, access);
	if (looks)
		change_note(self, key, change);
	return change;
}

/* ---- several readers ---- */

/* A thread that reads the value for the first time, or in a way that the block cannot tell; false when the
 * cell has changed meanwhile. A block that is given up, here or by a writer, is not handed out again soon
 * (spare.c); what others note in it in the same instant is missed. */
static bool read_first(struct thread *self, struct cell *cell, struct cell now, uint64_t word,
		       uint64_t address)
{
	granule_lock(self, address & ~7ull);
	struct cell then = cell_get(cell), fresh = then;
	bool same = then.owner == now.owner && then.read == now.read && then.history == now.history;
	if (same)
		fresh.read = readers_add(self, then.read, word, cell);
	if (fresh.read != then.read) {
		same = cell_swap(cell, then, fresh);
		readers_free(self, same ? then.read : fresh.read);
	}
	granule_unlock(self);
	return same;
}

/* A read of a value that several threads have read; false when the cell has changed meanwhile. */
static bool read_among_many(struct thread *self, struct cell *cell, struct cell now, uint64_t word,
			    uint64_t address)
{
	uint32_t number = readers_of(cell, now.read), before = learnt_apart_from_context(self);
	reread_put_latest(self, cell, now);
	uint32_t list = readers_list(cell, number);
	enum reading reading = readers_read(self, number, word);
	if (!number)
		observe_predecessor(self, WORD_SITE(word), 0);
	else if (reading != READING_AGAIN && !read_first(self, cell, now, word, address))
		return false;
	uint32_t write = history_at(HISTORY(now.history))->write;
	if (write && writer_of(&now) != self->slot)
		after_write(self, &now, event(writer_of(&now), write, now.write), word, address, ACCESS_READ);
	else if (!write && cell_observes_edges())
		observe_edge(self, 0, 0, WORD_SITE(word), self->context, false);
	if (reading == READING_FIRST)
		communicate(self, &now, ACCESS_READ);
	note_shared_read(self, word, before != learnt_apart_from_context(self));
	if (self->owner == OWNER_NEVER || must_be_seen(WORD_SITE(word)))
		return true;
	bool exhausted = site_is_exhausted(self, word);
	note_reread(self, cell, now, word, reading != READING_FIRST && exhausted);
	if (exhausted && !runtime.controlled && list && list_names(list, READER(word)))
		note_listed_reread(self, now, list, word);
	return true;
}

/* The third thread that reads a value: all become a block. */
static bool become_many(struct thread *self, struct cell *cell, struct cell now, uint64_t word,
			uint64_t address)
{
	uint32_t a = writer_of(&now), b = OWNER_SLOT(now.owner), history = HISTORY(now.history);
	struct history old = *history_at(history);
	bool entered = granule_enter(self);
	uint32_t own = old.own & ~OWN_LAST, last = old.own & OWN_LAST ? own : old.read;
	const uint64_t all[] = { event(a, own, now.write), event(b, old.read, now.read), word };
	uint32_t number = readers_new(self, cell, own ? all : all + 1, own ? 3 : 2, last);
	struct cell fresh = { .history = history_number((struct history){ .write = old.write }) |
					 a << HISTORY_BITS,
			      .context = now.context,
			      .owner = OWNER(0u, OWNER_FORM(now.owner), MODE_MANY),
			      .write = now.write,
			      .read = number };
	bool done = cell_swap(cell, now, fresh);
	if (!done)
		readers_free(self, number);
	granule_leave(self, entered);
	if (!done)
		return false;
	observe_predecessor(self, WORD_SITE(word), last);
	if (old.write)
		after_write(self, &now, event(a, old.write, now.write), word, address, ACCESS_READ);
	else if (cell_observes_edges())
		observe_edge(self, 0, 0, WORD_SITE(word), self->context, false);
	communicate(self, &now, ACCESS_READ);
	return true;
}

static uint32_t last_of_another(const struct thread *self, const struct cell *cell, struct cell now,
				uint32_t readers)
{
	uint64_t latest = readers_latest(readers);
	return WORD_SLOT(latest) == self->slot ? readers_last(self, readers)
					       : WORD_SITE(last_read(cell, now, latest));
}

static bool write_after_many(struct thread *self, struct cell *cell, struct cell now, uint64_t word,
			     uint64_t address)
{
	struct readers_walk readers = { .number = readers_of(cell, now.read) };
	uint32_t last = last_of_another(self, cell, now, readers.number);
	uint32_t write = history_at(HISTORY(now.history))->write;
	struct cell fresh = {
		.history = history_number((struct history){ .write = WORD_SITE(word), .before = last }),
		.context = (uint16_t)self->context,
		.owner = OWNER(self->slot, OWNER_FORM(now.owner), MODE_ALL),
		.write = WORD_ORDER(word),
		.read = WORD_ORDER(word),
	};
	if (!cell_swap(cell, now, fresh))
		return false;
	observe_predecessor(self, WORD_SITE(word), last);
	if (write && writer_of(&now) != self->slot)
		after_write(self, &now, event(writer_of(&now), write, now.write), word, address,
			    ACCESS_WRITE);
	for (uint64_t read; (read = readers_next(&readers));) {
		if (WORD_SLOT(read) == self->slot)
			continue;
		observe_pair(self, PAIR_READ_WRITE, last_read(cell, now, read), word, address);
		if (cell_observes_edges())
			context_meet(self, WORD_SLOT(read), ACCESS_WRITE);
	}
	communicate(self, &now, ACCESS_WRITE);
	bool entered = granule_enter(self);
	readers_free(self, readers_of(cell, now.read));
	granule_leave(self, entered);
	return true;
}

/* ---- one access ---- */

/* Half of what an access to a whole granule needs is not for its memos: the fast path would take it for all. */
static bool has_memos(uint16_t owner, uint32_t unit)
{
	return unit && !(unit & FORM_NO_MEMOS) && !(unit == FORM_WHOLE && OWNER_FORM(owner) == FORM_HALF);
}

/* Of the thread whose cell it is. */
static void step(struct thread *self, struct cell *cell, struct cell now, uint64_t word, enum access access,
		 uint32_t unit)
{
	uint64_t low = low_of(now);
	if (!history_at(now.history)->before) { /* it was an array */
		cell_set(cell, cell_make_private(now));
		cell_step_private(self, cell, word, access, unit);
		return;
	}
	now.history = history_step(self, now.history, WORD_SITE(word), access);
	if (access == ACCESS_WRITE) {
		now.context = (uint16_t)self->context;
		now.write = WORD_ORDER(word);
	} else {
		now.read = WORD_ORDER(word);
	}
	if (has_memos(now.owner, unit) && self->owner != OWNER_NEVER && !must_be_seen(WORD_SITE(word)))
		memo_learn(self, WORD_SITE(word), low, low_of(now));
	cell_set(cell, now);
}

/* Of another one, or of one of two; false when the cell is no longer `raw`. */
static bool take_over(struct thread *self, struct cell *cell, struct cell raw, uint64_t word,
		      uint64_t address, enum access access)
{
	struct change change = cell_learn(self, raw, word, address, access);
	return cell_hand_over(self, cell, raw, &change, word, address, access);
}

#define SOON 256u /* accesses of this thread */

/* Between its check and its store an owner on the fast path may have written over what this thread
 * put into the cell, as if it had not been there. A little later that shows: the cell is the other's
 * again, and still has the predecessor from before. Then the access is put in once more. */
void cell_settle(struct thread *self)
{
	struct taken taken = self->taken;
	self->taken.cell = NULL;
	struct cell raw = cell_get(taken.cell);
	if (LIKELY(owner_in_plain(raw.owner) != taken.owner))
		return;
	uint32_t before = history_at(HISTORY(cell_plain(raw).history))->before;
	if (before == taken.before && before != WORD_SITE(taken.word) &&
	    (uint32_t)self->order - WORD_ORDER(taken.word) < SOON)
		take_over(self, taken.cell, raw, taken.word, taken.address, taken.access);
}

/* One of two threads reads again. */
static void read_again(struct thread *self, struct cell *cell, struct cell now, uint64_t word,
		       uint64_t address, uint32_t unit)
{
	const struct history *old = history_at(HISTORY(now.history));
	bool is_b = OWNER_SLOT(now.owner) == self->slot;
	uint32_t before = learnt_count(self);
	struct change change = cell_learn(self, now, word, address, ACCESS_READ);
	note_shared_read(self, word, before != learnt_count(self));
	bool there = (is_b ? old->read : old->own & ~OWN_LAST) == WORD_SITE(word);
	bool exhausted =
		there && self->owner != OWNER_NEVER && !runtime.controlled && site_is_exhausted(self, word);
	if (exhausted && has_memos(now.owner, unit))
		memo_learn(self, WORD_SITE(word), low_of(now), MEMO_PASS);
	else
		cell_set(cell, change_cell(self, now, change.next, word, ACCESS_READ));
	if (runtime.controlled && self->owner != OWNER_NEVER && !must_be_seen(WORD_SITE(word)) &&
	    before == learnt_count(self) && !change.meets[0] && !change.meets[1] &&
	    has_memos(now.owner, unit))
		known_read_note(self, low_of(now), WORD_SITE(word), HISTORY(change.next));
}

/* One attempt; false when another thread came between. */
static bool attempt(struct thread *self, struct cell *cell, struct cell raw, uint64_t word, uint64_t address,
		    enum access access, uint32_t unit)
{
	uint32_t mode = OWNER_MODE(raw.owner);
	bool mine = OWNER_SLOT(raw.owner) == self->slot;
	if (mine && OWNER_IS_PRIVATE(raw.owner)) {
		cell_step_private(self, cell, word, access, unit);
		return true;
	}
	if (!OWNER_SLOT(raw.owner) && mode == MODE_ALL)
		return cell_take_fresh(self, cell, raw, OWNER_FORM(raw.owner), word, access, unit);
	if (mine && mode == MODE_ALL) {
		step(self, cell, raw, word, access, unit);
		return true;
	}
	if (mode == MODE_MANY)
		return access == ACCESS_READ ? read_among_many(self, cell, raw, word, address)
					     : write_after_many(self, cell, raw, word, address);
	if (mode == MODE_ONE && access == ACCESS_READ) {
		if (!mine && HISTORY_WRITER(raw.history) != self->slot)
			return become_many(self, cell, raw, word, address);
		read_again(self, cell, raw, word, address, unit);
		return true;
	}
	return take_over(self, cell, raw, word, address, access);
}

/* The first access to the upper half of a granule in halves; false when it is in halves no more. */
static bool take_upper_half(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			    enum access access, uint32_t unit)
{
	const struct cell *first = layout_whole(address);
	if (OWNER_FORM(cell_get(first).owner) != FORM_HALF ||
	    !cell_take_fresh(self, cell, (struct cell){ 0 }, FORM_HALF, word, access, unit))
		return false;
	if (OWNER_FORM(cell_get(first).owner) == FORM_HALF)
		return true;
	cell_set(cell, (struct cell){ 0 }); /* it was cut in between */
	return false;
}

bool cell_access(struct thread *self, struct cell *cell, uint64_t word, uint64_t address, uint32_t form,
		 enum access access, uint32_t unit)
{
	for (;;) {
		struct cell now = cell_get(cell);
		if (!OWNER_FORM(now.owner) && form == FORM_WHOLE) { /* a fresh granule */
			if (cell_take_fresh(self, cell, now, FORM_WHOLE, word, access, unit))
				return true;
			continue;
		}
		if (!OWNER_FORM(now.owner) && form == FORM_HALF && address & 4)
			return take_upper_half(self, cell, word, address, access, unit);
		if (OWNER_FORM(now.owner) != form || OWNER_MODE(now.owner) == MODE_CUT)
			return false;
		if (attempt(self, cell, now, word, address, access, unit))
			return true;
	}
}

/* In a signal handler that interrupted its thread where spare lists change. */
bool cell_access_lightly(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			 uint32_t form, enum access access, uint32_t unit)
{
	struct cell now = cell_get(cell);
	uint32_t slot = OWNER_SLOT(now.owner), mode = OWNER_MODE(now.owner);
	bool third = mode == MODE_ONE && slot != self->slot && HISTORY_WRITER(now.history) != self->slot;
	return OWNER_FORM(now.owner) == form && mode <= MODE_ONE && !(third && access == ACCESS_READ) &&
	       attempt(self, cell, now, word, address, access, unit);
}

struct cell cell_copy(struct thread *self, struct cell from, struct cell *home, uint32_t form)
{
	uint32_t private = OWNER_IS_PRIVATE(from.owner);
	from.owner = OWNER(OWNER_SLOT(from.owner), form | private, OWNER_MODE(from.owner));
	if (OWNER_MODE(from.owner) == MODE_MANY)
		from.read = readers_copy(self, from.read, home);
	return from;
}

void cell_release(struct thread *self, struct cell cell)
{
	if (OWNER_MODE(cell.owner) == MODE_MANY)
		readers_free(self, cell.read);
	else if (OWNER_FORM(cell.owner) == FORM_ARRAY && OWNER_IS_PRIVATE(cell.owner))
		row_free(self, cell.history);
	else if (OWNER_FORM(cell.owner) == FORM_ARRAY)
		array_free(self, HISTORY(cell.history));
}
