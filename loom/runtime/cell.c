/* The history of one unit and what each further access to it teaches. Owners and
 * blocks of readers change under the granule's lock only; the rest may change
 * without it (cell_access), as on the fast path. Every word names its own thread,
 * so a cell that two threads change in the same instant may miss one of the two
 * accesses, but never invents one.
 *
 * Pairs (LOCON): a read after another thread's last write; a write after each
 * other thread's last read since that write, and after another thread's write.
 * Predecessors (AI, section 2.1): the last access by another thread, read or
 * write, even if this thread came in between; nil when there is none.
 * Edges (BUGABOO, 4.1): from the last writer, with its context at that time, to
 * every access by another thread. Events enter both contexts when data moves:
 * at the first access of a thread to what another wrote, as in section 3.3
 * ("recently") and as caches would see it; reading the same value again is no
 * new communication.
 *
 * Calm sites: once a site's shared reads have brought a thread nothing new a
 * thousand times in a row, its further reads of a value it has just read there are
 * passed over, until that value changes. Loops over shared tables would otherwise
 * pass every line of the table's cells from core to core, for nothing. */
#include "loom/runtime/runtime.h"

#include "model/run.h" /* enum pair_kind, enum context_event */

/* The number of the block of readers; 0, the empty block, when two threads' changes got mixed. */
static uint32_t block_of(const struct cell *cell)
{
	uint64_t read = RELAXED_GET(cell->read);
	return read >> 32 ? 0 : (uint32_t)read;
}

/* Both words are of one thread: was the read after the write? Orders may wrap. */
static bool read_is_since(const struct cell *cell)
{
	return WORD_SLOT(cell->read) &&
	       (!cell->write || (int32_t)(WORD_ORDER(cell->read) - WORD_ORDER(cell->write)) > 0);
}

/* The last access to the unit, 0 when there was none. The order is not valid in a MANY cell. */
static uint64_t last_access(const struct cell *cell, uint16_t owner)
{
	switch (OWNER_FLAGS(owner)) {
	case OWNER_ONE:
		return cell->read;
	case OWNER_MANY:
		return readers_at(block_of(cell))->latest;
	default:
		return read_is_since(cell) ? cell->read : cell->write;
	}
}

/* Notes the predecessor of an access of `self` and keeps the last access by another thread. */
static void meet(struct thread *self, struct cell *cell, uint16_t owner, uint64_t word)
{
	uint64_t last = last_access(cell, owner);
	if (last && WORD_SLOT(last) != self->slot)
		cell->before = WORD_SITE(last);
	else if (OWNER_FLAGS(owner) == OWNER_MANY)
		cell->before = WORD_ORDER(last);
	observe_predecessor(self, WORD_SITE(word), cell->before);
}

/* `latest` of a block of readers: the read, and in place of its order the site of
 * the last access by another thread, so that one store keeps both. */
static uint64_t latest_of(uint64_t word, uint32_t before)
{
	return word >> 32 << 32 | before;
}

/* An access to what another thread wrote; data moved if it is the first one since. */
static void communicate(struct thread *self, const struct cell *cell, uint64_t word, uint32_t context,
			bool write, bool first)
{
	uint64_t source = cell->write;
	if (runtime.options.line || !(runtime.options.observe & OBSERVE_EDGES))
		return; /* lines.c does it, or nobody asks */
	observe_edge(self, WORD_SITE(source), cell->context, WORD_SITE(word), context, write);
	if (!first)
		return;
	context_push(self, write ? EVENT_LOCAL_WRITE : EVENT_LOCAL_READ);
	context_send(WORD_SLOT(source), write ? EVENT_REMOTE_WRITE : EVENT_REMOTE_READ);
}

/* Makes `word` this thread's last read since the write; says whether it is its first. */
static bool note_read(struct thread *self, struct cell *cell, uint16_t *owner, uint64_t word)
{
	uint32_t length = OWNER_LENGTH(*owner), flags = OWNER_FLAGS(*owner);
	if (flags == OWNER_MANY) {
		struct readers *readers = readers_at(block_of(cell));
		uint64_t *mine = readers_find(readers, self->slot);
		if (mine)
			*mine = word;
		else if (block_of(cell))
			readers_add(self, readers, word);
		readers->latest = latest_of(word, cell->before);
		return !mine;
	}
	bool mine = OWNER_SLOT(*owner) == self->slot;
	bool other_read = !mine && (flags == OWNER_ONE || read_is_since(cell));
	if (other_read) {
		uint32_t number = readers_new(self);
		readers_add(self, readers_at(number), cell->read);
		readers_add(self, readers_at(number), word);
		readers_at(number)->latest = latest_of(word, cell->before);
		cell->read = number;
		*owner = OWNER(0u, length, OWNER_MANY);
		return true;
	}
	cell->read = word;
	if (!mine)
		*owner = OWNER(self->slot, length, cell->write ? OWNER_ONE : 0u);
	return !mine;
}

void cell_read(struct thread *self, struct cell *cell, uint16_t *owner, uint64_t word, uint64_t address)
{
	meet(self, cell, *owner, word);
	bool first = note_read(self, cell, owner, word);
	if (first)
		context_notice(self);
	uint32_t context = self->context;
	if (cell->write && WORD_SLOT(cell->write) != self->slot) {
		observe_pair(self, PAIR_WRITE_READ, cell->write, word, address);
		communicate(self, cell, word, context, false, first);
	} else if (!cell->write && first && !runtime.options.line) {
		observe_edge(self, 0, 0, WORD_SITE(word), context, false);
	}
}

void cell_write(struct thread *self, struct cell *cell, uint16_t *owner, uint64_t word, uint64_t address)
{
	uint32_t flags = OWNER_FLAGS(*owner);
	if (flags || OWNER_SLOT(*owner) != self->slot)
		context_notice(self);
	uint32_t context = self->context;
	meet(self, cell, *owner, word);
	if (flags == OWNER_MANY) {
		uint32_t number = block_of(cell);
		for (struct readers *readers = readers_at(number);; readers = readers_at(readers->next)) {
			for (uint32_t i = 0; i < readers->n; i++)
				if (WORD_SLOT(readers->words[i]) != self->slot)
					observe_pair(self, PAIR_READ_WRITE, readers->words[i], word, address);
			if (!readers->next)
				break;
		}
		readers_free(self, number);
	} else {
		uint64_t read = flags == OWNER_ONE || read_is_since(cell) ? RELAXED_GET(cell->read) : 0;
		if (WORD_SLOT(read) && WORD_SLOT(read) != self->slot)
			observe_pair(self, PAIR_READ_WRITE, read, word, address);
	}
	if (cell->write && WORD_SLOT(cell->write) != self->slot) {
		observe_pair(self, PAIR_WRITE_WRITE, cell->write, word, address);
		communicate(self, cell, word, context, true, true);
	}
	cell->write = word;
	cell->read = 0;
	cell->context = (uint16_t)context;
	*owner = OWNER(self->slot, OWNER_LENGTH(*owner), 0u);
}

void cell_copy(struct thread *self, struct cell *to, const struct cell *from, uint16_t owner, uint32_t length)
{
	*to = *from;
	to->owner = OWNER(OWNER_SLOT(owner), length, OWNER_FLAGS(owner));
	if (OWNER_FLAGS(owner) == OWNER_MANY)
		to->read = readers_copy(self, block_of(from));
}

void cell_clear(struct thread *self, struct cell *cell, uint16_t owner)
{
	if (OWNER_FLAGS(owner) == OWNER_MANY)
		readers_free(self, block_of(cell));
	*cell = (struct cell){ .owner = OWNER(0u, OWNER_LENGTH(owner), 0u) };
}

#define CALM 1000u

static bool site_is_calm(const struct thread *self, uint64_t word)
{
	const struct calm *calm = &self->calm[WORD_SITE(word) % 512];
	return calm->site == WORD_SITE(word) && calm->count >= CALM;
}

/* Counts a shared read of this site that brought `news` or not. */
static void note_calm(struct thread *self, uint64_t word, bool news)
{
	struct calm *calm = &self->calm[WORD_SITE(word) % 512];
	if (calm->site != WORD_SITE(word) || news)
		*calm = (struct calm){ .site = WORD_SITE(word) };
	else if (calm->count < CALM)
		calm->count++;
}

/* A read of a value that several threads have read, this one among them. Only this
 * thread stores to its own word. Two threads that read in the same instant may
 * leave either one as the latest; a block that a writer frees meanwhile is not
 * handed out again soon (readers.c). */
static bool read_among_many(struct thread *self, struct cell *cell, uint64_t word, uint64_t address)
{
	if (!readers_find(readers_at(block_of(cell)), self->slot))
		return false;
	uint32_t news = self->news;
	uint16_t owner = OWNER(0u, 0u, OWNER_MANY);
	cell_read(self, cell, &owner, word, address);
	note_calm(self, word, news != self->news);
	struct read_again *again = again_place(self, cell);
	if (cell->write && self->owner != OWNER_NEVER && site_is_calm(self, word))
		*again = (struct read_again){ .cell = cell, .value = again_value(cell, word) };
	else if (again->cell == cell)
		again->cell = NULL;
	return true;
}

/* The same when this thread is the only reader. */
static bool read_alone(struct thread *self, struct cell *cell, uint64_t word, uint64_t address)
{
	uint16_t owner = cell->owner;
	if (WORD_SITE(cell->read) == WORD_SITE(word) && site_is_calm(self, word)) {
		cell->read = word;
		return true;
	}
	uint32_t news = self->news;
	cell_read(self, cell, &owner, word, address);
	note_calm(self, word, news != self->news);
	return true;
}

/* Unlocked changes keep the owner: another thread that takes the unit over in the same
 * instant may cost this one access, never a whole turn. */
bool cell_access(struct thread *self, struct cell *cell, uint64_t word, uint64_t address, uint32_t length,
		 enum access access, uint32_t *memo)
{
	uint16_t owner = RELAXED_GET(cell->owner);
	if (owner == OWNER(self->slot, length, 0u)) {
		if (access == ACCESS_READ)
			cell_read(self, cell, &owner, word, address);
		else
			cell_write(self, cell, &owner, word, address);
		memo_set(memo, cell->before);
		return true;
	}
	if (access != ACCESS_READ || OWNER_LENGTH(owner) != length)
		return false;
	if (OWNER_FLAGS(owner) == OWNER_MANY)
		return read_among_many(self, cell, word, address);
	return owner == OWNER(self->slot, length, OWNER_ONE) && read_alone(self, cell, word, address);
}

bool cell_access_locked(struct thread *self, struct cell *cell, uint64_t word, uint64_t address,
			uint32_t length, enum access access, uint32_t *memo)
{
	/* Pages of shadow come to be here, not while a lock is held. */
	if (!RELAXED_GET(cell->owner))
		__atomic_fetch_or(&cell->owner, 0, __ATOMIC_RELAXED);
	granule_lock(self, address & ~7ull);
	uint16_t owner = RELAXED_GET(cell->owner);
	if (owner == 0 && length == 8)
		owner = OWNER(0u, 8u, 0u); /* a fresh granule */
	bool fits = OWNER_LENGTH(owner) == length;
	if (fits) {
		if (access == ACCESS_READ)
			cell_read(self, cell, &owner, word, address);
		else
			cell_write(self, cell, &owner, word, address);
		RELAXED_SET(cell->owner, owner);
		memo_set(memo, cell->before);
	}
	granule_unlock(self);
	return fits;
}
