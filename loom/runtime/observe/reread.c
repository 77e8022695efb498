/* Reads that were passed over (reread.h) at another site than the reader's last one that its
 * block of readers knows: who needs to know looks it up, or has it put into the block. The
 * list of readers then names the site as if the thread had read there in the first place; who
 * came last stays, and nothing is observed. */
#include "loom/runtime/observe/reread.h"
#include "loom/runtime/observe/readers.h"
#include "loom/runtime/observe/cells.h"

static bool is_many(struct cell cell)
{
	return OWNER_MODE(cell.owner) == MODE_MANY;
}

bool reread_put(struct thread *self, uint32_t at)
{
	static const struct cell none;
	/* Between the stores that move a place there may have been a signal handler that needed it. */
	uint32_t name = self->moved[at];
	const struct cell *cell = name ? moved_cell(name, at) : &none;
	struct cell now = cell_get(cell);
	uint64_t last = self->rereads[at];
	bool is_old = !is_many(now) || (last ^ reread_value(cell, low_of(now), now.write)) > REREAD_SITE_BITS;
	if (!is_old && !readers_correct(self, cell, now.read, self->slot, last & WORD_SITE_MASK))
		return false;
	self->rereads[at] = 0;
	return true;
}

void reread_put_all(struct thread *thread)
{
	for (uint32_t at = 0; at < REREADS; at++)
		if (thread->rereads[at] & REREAD_MOVED)
			reread_put(thread, at);
}

static void put_one(struct thread *self, const struct cell *cell, struct cell now, uint32_t number,
		    uint64_t read)
{
	uint64_t last = last_read(cell, now, read);
	if (WORD_SITE(last) != WORD_SITE(read))
		readers_correct(self, cell, number, WORD_SLOT(read), WORD_SITE(last));
}

void reread_put_latest(struct thread *self, const struct cell *cell, struct cell now)
{
	uint32_t number = readers_of(cell, now.read);
	uint64_t latest = readers_latest(number);
	if (self->owner != OWNER_NEVER && WORD_SLOT(latest) != self->slot)
		put_one(self, cell, now, number, latest);
}

void reread_put_everybodys(struct thread *self, const struct cell *cell, struct cell now)
{
	struct readers_walk walk = { .number = is_many(now) ? readers_of(cell, now.read) : 0 };
	uint32_t number = walk.number;
	for (uint64_t read; (read = readers_next(&walk));)
		put_one(self, cell, now, number, read);
}
