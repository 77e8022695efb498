/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Granules that several threads have touched, as long as their cell has room for
 * what pairs need: who wrote each byte last, of two threads, and who has read it
 * since, one thread in the cell and some at a place of the granule's own. Of each of
 * them one order is kept. So bytes that are handed over one by one take the line of
 * memory that their cell has anyway. All else is left to parts.c. */
#include "loom/grind/parts.h"

#define MOST_THREAD 0xffffu /* no thread, in `writers` */
#define MORE_READERS 5u

struct more {
	eight read[MORE_READERS];
	uint32_t reader[MORE_READERS], order[MORE_READERS];
};
_Static_assert(sizeof(struct more) <= MORE_SIZE, "each has its place");

/* What one thread has read since it was written. */
struct seen {
	eight *read;
	uint32_t *reader, *order;
};

static struct more *more_of(struct shared *cell)
{
	return (struct more *)(MORE_BASE + ((Addr)cell - CELLS_BASE) / CELL_SIZE * MORE_SIZE);
}

static struct seen seen_at(struct shared *cell, uint32_t i)
{
	struct more *more = more_of(cell);

	if (!i)
		return (struct seen){ &cell->read, &cell->reader, &cell->read_order };
	return (struct seen){ &more->read[i - 1], &more->reader[i - 1], &more->order[i - 1] };
}

static bool find_seen(struct shared *cell, uint32_t thread, struct seen *seen)
{
	for (uint32_t i = 0; i <= cell->more; i++) {
		*seen = seen_at(cell, i);
		if (*seen->reader == thread)
			return true;
	}
	return false;
}

/* Of a thread that has none; false: there is no room. */
static bool add_seen(struct shared *cell, uint32_t thread, struct seen *seen)
{
	uint32_t i = 0;

	while (i <= cell->more && *seen_at(cell, i).read)
		i++;
	if (i > MORE_READERS)
		return false;
	if (i > cell->more)
		cell->more = (uint8_t)i;
	*seen = seen_at(cell, i);
	*seen->read = 0;
	*seen->reader = thread;
	return true;
}

/* The site for every byte. */
static eight all_bytes(uint32_t site)
{
	uint64_t four = site * 0x0001000100010001u;

	return (eight)four << 64 | four;
}

#define BELOW(n) (((eight)1 << 16 * (n)) - 1)
static const eight below[9] = { 0,        BELOW(1), BELOW(2), BELOW(3), BELOW(4),
				BELOW(5), BELOW(6), BELOW(7), ~(eight)0 };

static eight in_range(uint32_t from, uint32_t to)
{
	return below[to] & ~below[from];
}

static uint32_t site_at_byte(const eight *sites, uint32_t at)
{
	return ((const uint16_t *)sites)[at];
}

static eight written_by(const struct shared *cell, uint32_t writer)
{
	eight sites = 0;

	if (!cell->second)
		return writer ? 0 : cell->write;
	for (uint32_t at = 0; at < 8; at++)
		if ((cell->second >> at & 1) == writer)
			sites |= cell->write & in_range(at, at + 1);
	return sites;
}

/* ---- accesses ---- */

struct access {
	Addr granule;
	uint32_t from, to;
	uint64_t word;
	eight range;
	uint32_t me;
};

/* What a thread did to those bytes comes before the access. */
static void tell(const struct access *access, uint32_t kind, uint32_t thread, uint32_t order, eight sites)
{
	uint32_t last = 0, tail = WORD_SITE(access->word);

	if (!(sites & access->range))
		return;
	for (uint32_t at = access->from; at < access->to; at++) {
		uint32_t site = site_at_byte(&sites, at);

		if (site && site != last && !pair_is_known(kind, thread, site, tail))
			found_pair(kind, thread, (uint64_t)site << WORD_ORDER_BITS | order_of(order, thread),
				   access->word, access->granule + at);
		last = site;
	}
}

static void tell_writers(const struct shared *cell, const struct access *access, uint32_t kind)
{
	for (uint32_t i = 0; i < 2; i++)
		if (cell->writers[i] != MOST_THREAD && cell->writers[i] != access->me)
			tell(access, kind, cell->writers[i], cell->write_order[i], written_by(cell, i));
}

static bool shared_read(struct shared *cell, const struct access *access)
{
	eight sites = all_bytes(WORD_SITE(access->word)) & access->range;
	struct seen seen;
	bool known = find_seen(cell, access->me, &seen);

	if (!known && !add_seen(cell, access->me, &seen))
		return false;
	if ((*seen.read & access->range) != sites || !grind.thread->has_couples)
		tell_writers(cell, access, WRITE_READ);
	*seen.read = (*seen.read & ~access->range) | sites;
	*seen.order = (uint32_t)WORD_ORDER(access->word);
	return true;
}

/* Who writes takes the place of a writer who is overwritten; 2: there is none. */
static uint32_t writer_place(const struct shared *cell, const struct access *access)
{
	for (uint32_t i = 0; i < 2; i++)
		if (cell->writers[i] == access->me)
			return i;
	for (uint32_t i = 0; i < 2; i++)
		if (!(written_by(cell, i) & ~access->range))
			return i;
	return 2;
}

/* Nobody has to know any more of what others than the writer did. */
static bool is_private(struct shared *cell, uint32_t writer)
{
	for (uint32_t i = 0; i <= cell->more; i++) {
		struct seen seen = seen_at(cell, i);

		if (*seen.read && *seen.reader != cell->writers[writer])
			return false;
	}
	return !written_by(cell, !writer);
}

static void to_cell(struct shared *shared, uint32_t writer)
{
	struct cell *cell = (struct cell *)shared;
	uint32_t me = shared->writers[writer], write_order = shared->write_order[writer];
	struct seen seen;
	bool reads = find_seen(shared, me, &seen);
	eight read = reads ? *seen.read : 0;
	uint32_t read_order = reads ? *seen.order : 0;

	shared->read = read;
	for (uint32_t half = 0; half < 2; half++) {
		cell->write_order[half] = write_order;
		cell->read_order[half] = read_order;
		cell->tags[half] = tag_of(me) | TAG_FULL;
	}
	cell->parts = NULL;
}

static bool shared_write(struct shared *cell, const struct access *access)
{
	uint32_t writer = writer_place(cell, access);
	uint32_t bytes = 0xffu >> (8 - access->to) & 0xffu << access->from;

	if (writer == 2 || access->me >= MOST_THREAD)
		return false;
	for (uint32_t i = 0; i <= cell->more; i++) {
		struct seen seen = seen_at(cell, i);

		if (*seen.reader != access->me)
			tell(access, READ_WRITE, *seen.reader, *seen.order, *seen.read);
		*seen.read &= ~access->range;
	}
	tell_writers(cell, access, WRITE_WRITE);
	cell->write = (cell->write & ~access->range) | (all_bytes(WORD_SITE(access->word)) & access->range);
	cell->second = (uint8_t)(writer ? cell->second | bytes : cell->second & ~bytes);
	cell->writers[writer] = (uint16_t)access->me;
	cell->write_order[writer] = (uint32_t)WORD_ORDER(access->word);
	if (is_private(cell, writer))
		to_cell(cell, writer);
	return true;
}

bool shared_access(struct cell *cell, Addr granule, uint32_t from, uint32_t to, uint64_t word, bool write)
{
	struct access access = { granule, from, to, word, in_range(from, to), grind.thread->number };

	if (WORD_SITE(word) >= QUICK_SITES)
		return false;
	return (write ? shared_write : shared_read)((struct shared *)cell, &access);
}

static bool are_all(const eight *sites, uint32_t at, SizeT size, uint32_t site)
{
	const uint16_t *first = (const uint16_t *)sites + at;
	uint64_t four = site * 0x0001000100010001u;

	switch (size) {
	case 1:
		return *first == site;
	case 2:
		return *(const uint32_t *)first == (uint32_t)four;
	case 4:
		return *(const uint64_t *)first == four;
	default:
		return size == 8 && *(const uint64_t *)first == four &&
		       *(const uint64_t *)(first + 4) == four;
	}
}

bool shared_read_again(struct cell *cell, uint32_t from, SizeT size, uint32_t site, uint64_t order)
{
	struct seen seen;

	if (!grind.thread->has_couples || !find_seen((struct shared *)cell, grind.thread->number, &seen) ||
	    from + size > 8 || !are_all(seen.read, from, size, site))
		return false;
	*seen.order = (uint32_t)order;
	return true;
}

void shared_forget(struct cell *cell, uint32_t from, uint32_t to)
{
	struct shared *shared = (struct shared *)cell;

	shared->write &= ~in_range(from, to);
	for (uint32_t i = 0; i <= shared->more; i++)
		*seen_at(shared, i).read &= ~in_range(from, to);
	if (!from && to == 8)
		cell->parts = NULL;
}

/* ---- from a cell, and to parts ---- */

static eight in_half(const uint16_t *sites, uint32_t half)
{
	return *(const eight *)sites & in_range(4 * half, 4 * half + 4);
}

static void keep_later(uint32_t *order, uint32_t other, uint32_t thread)
{
	if (order_of(other, thread) > order_of(*order, thread))
		*order = other;
}

/* A half of a cell that a thread had to itself. */
static void take_half(struct shared *fresh, const struct cell *cell, uint32_t half, uint32_t owner)
{
	eight written = in_half(cell->write, half), read = in_half(cell->read, half);
	uint32_t writer = fresh->writers[0] != MOST_THREAD && fresh->writers[0] != owner;
	struct seen seen;

	if (written) {
		if (fresh->writers[writer] == MOST_THREAD)
			fresh->write_order[writer] = cell->write_order[half];
		fresh->writers[writer] = (uint16_t)owner;
		fresh->second |= (uint8_t)(writer ? 0xf << 4 * half : 0);
		fresh->write |= written;
		keep_later(&fresh->write_order[writer], cell->write_order[half], owner);
	}
	if (!read)
		return;
	if (!find_seen(fresh, owner, &seen)) {
		add_seen(fresh, owner, &seen);
		*seen.order = cell->read_order[half];
	}
	*seen.read |= read;
	keep_later(seen.order, cell->read_order[half], owner);
}

bool shared_make(struct cell *cell, Addr granule)
{
	struct cell before = *cell;
	struct shared *shared = (struct shared *)cell;

	for (uint32_t half = 0; half < 2; half++)
		if (tag_thread(before.tags[half]) != NOBODY && tag_thread(before.tags[half]) >= MOST_THREAD)
			return false;
	*shared = (struct shared){ .reader = NOBODY,
				   .writers = { MOST_THREAD, MOST_THREAD },
				   .tags = { TAG_SHARED | TAG_INSIDE, TAG_SHARED | TAG_INSIDE } };
	for (uint32_t half = 0; half < 2; half++) {
		uint32_t owner = tag_thread(before.tags[half]);

		if (owner == NOBODY)
			continue;
		note_stack(granule, owner);
		take_half(shared, &before, half, owner);
	}
	return true;
}

static struct part part_of_byte(struct shared *cell, uint32_t at)
{
	uint32_t writer = cell->second >> at & 1, site = site_at_byte(&cell->write, at);
	struct part part = { .from = (uint8_t)at,
			     .to = (uint8_t)(at + 1),
			     .writer = site ? cell->writers[writer] : 0,
			     .last_thread = NOBODY,
			     .other_thread = NOBODY };

	if (site)
		part.write = (uint64_t)site << WORD_ORDER_BITS |
			     order_of(cell->write_order[writer], cell->writers[writer]);
	for (uint32_t i = 0; i <= cell->more; i++) {
		struct seen seen = seen_at(cell, i);

		site = site_at_byte(seen.read, at);
		if (site)
			part_add_reader(&part, *seen.reader,
					(uint64_t)site << WORD_ORDER_BITS |
						order_of(*seen.order, *seen.reader));
	}
	return part;
}

void shared_to_parts(struct cell *cell)
{
	struct part parts[8];
	uint32_t n = 0;

	for (uint32_t at = 0; at < 8; at++) {
		parts[n] = part_of_byte((struct shared *)cell, at);
		if (n && part_goes_on(&parts[n - 1], &parts[n])) {
			parts[n - 1].to = parts[n].to;
			part_release(&parts[n]);
		} else {
			n++;
		}
	}
	parts_forget_again(cell);
	cell->tags[0] = cell->tags[1] = TAG_SHARED;
	parts_fill(cell, parts, n);
}
