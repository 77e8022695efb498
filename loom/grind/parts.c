/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Granules that several threads have touched. Each part of one has the last write,
 * the last read of every thread since, and the last two accesses of different
 * threads: all that tests/reference.c tells byte by byte. */
#include "loom/grind/control.h"
#include "loom/grind/shadow.h"

#define NOBODY UINT32_MAX
#define FEW_READERS 2u

struct reader {
	uint64_t word;
	uint32_t thread;
};

struct part {
	uint8_t from, to;
	uint16_t write_context;
	uint32_t writer;
	uint64_t write; /* 0 = none */
	uint32_t nreaders, readers_room;
	union {
		struct reader few[FEW_READERS]; /* readers_room is 0 */
		struct reader *readers;         /* more, on the heap */
	};
	uint32_t last_thread, other_thread; /* NOBODY = none */
	uint32_t last_site,
		other_site; /* of the last access, and of the last one by another thread than that */
};

/* There are many of them, so each has no more room than it needs: 1, 2, 4 or 8 parts. */
struct parts {
	uint32_t n, level; /* room for 1 << level */
	union {
		struct part items[1];
		struct parts *next; /* of those that nobody uses */
	};
};

/* ---- memory ---- */

#define LEVELS 4u
#define SLAB 65536u

static struct parts *spare[LEVELS];
static char *slab, *slab_end;

static struct parts *take(uint32_t level)
{
	struct parts *parts = spare[level];
	SizeT size = offsetof(struct parts, items) + (sizeof *parts->items << level);

	if (parts) {
		spare[level] = parts->next;
	} else {
		if (size > (SizeT)(slab_end - slab)) {
			slab = VG_(malloc)("grind.parts", SLAB);
			slab_end = slab + SLAB;
		}
		parts = (struct parts *)slab;
		slab += size;
		parts->level = level;
	}
	parts->n = 0;
	return parts;
}

static void put_back(struct parts *parts)
{
	parts->next = spare[parts->level];
	spare[parts->level] = parts;
}

static void part_release(struct part *part)
{
	if (part->readers_room)
		VG_(free)(part->readers);
}

static void give(struct cell *cell)
{
	struct parts *parts = cell->parts;

	for (uint32_t i = 0; i < parts->n; i++)
		part_release(&parts->items[i]);
	put_back(parts);
	cell->parts = NULL;
}

/* Room for one more. */
static struct parts *grow(struct cell *cell)
{
	struct parts *parts = cell->parts;

	if (parts->n < 1u << parts->level)
		return parts;
	struct parts *more = take(parts->level + 1);

	more->n = parts->n;
	for (uint32_t i = 0; i < parts->n; i++)
		more->items[i] = parts->items[i];
	put_back(parts);
	cell->parts = more;
	return more;
}

static struct reader *readers_of(struct part *part)
{
	return part->readers_room ? part->readers : part->few;
}

/* ---- from a cell to parts ---- */

uint64_t order_of(uint32_t low, uint32_t owner)
{
	const struct thread *thread = thread_numbered(owner);
	uint64_t now = thread ? *thread->order : low;
	uint64_t order = (now & ~0xffffffffull) | low;

	return order > now && order >> 32 ? order - (1ull << 32) : order;
}

static uint64_t word_of(uint32_t site, uint32_t order, uint32_t owner)
{
	return site ? (uint64_t)site << WORD_ORDER_BITS | order_of(order, owner) : 0;
}

static struct part part_of_byte(const struct cell *cell, Addr granule, uint32_t at)
{
	uint32_t half = at / 4, owner = tag_thread(cell->tags[half]), site = cell->write[at];
	struct part part = { .from = (uint8_t)at,
			     .to = (uint8_t)(at + 1),
			     .write = word_of(site, cell->write_order[half], owner),
			     .writer = owner,
			     .write_context =
				     site && grind.observes & OBSERVE_EDGES ? contexts_at(granule)[at] : 0,
			     .last_thread = NOBODY,
			     .other_thread = NOBODY };

	if (cell->read[at]) {
		part.few[0] =
			(struct reader){ word_of(cell->read[at], cell->read_order[half], owner), owner };
		part.nreaders = 1;
		site = cell->read[at];
	}
	if (site) {
		part.last_thread = owner;
		part.last_site = site;
	}
	return part;
}

/* Bytes of one history are one part. */
static bool goes_on(const struct part *a, const struct part *b)
{
	return a->write == b->write && a->write_context == b->write_context && a->writer == b->writer &&
	       a->last_thread == b->last_thread && a->nreaders == b->nreaders &&
	       (!a->nreaders || a->few[0].word == b->few[0].word);
}

/* Somebody else's memory: when it is a stack, its owner must know that frames there are not its own alone. */
static void note_stack(Addr address, uint32_t owner)
{
	struct thread *thread = thread_numbered(owner);

	if (!thread || thread == grind.thread || address >= thread->stack_high)
		return;
	if (address + STACK_MOST > thread->stack_high && address < thread->shared_low)
		thread->shared_low = address;
}

static bool are_alike(const uint16_t *four)
{
	return *(const uint64_t *)four == *four * 0x0001000100010001u;
}

/* Have all bytes of the half one history? */
static bool is_even(const struct cell *cell, Addr granule, uint32_t half)
{
	return are_alike(cell->write + 4 * half) && are_alike(cell->read + 4 * half) &&
	       (!(grind.observes & OBSERVE_EDGES) || are_alike(contexts_at(granule) + 4 * half));
}

void parts_make(struct cell *cell, Addr granule)
{
	struct part parts[8];
	uint32_t n = 0;

	for (uint32_t at = 0, step; at < 8; at += step) {
		step = at % 4 == 0 && is_even(cell, granule, at / 4) ? 4 : 1;
		parts[n] = part_of_byte(cell, granule, at);
		parts[n].to = (uint8_t)(at + step);
		if (n && goes_on(&parts[n - 1], &parts[n]))
			parts[n - 1].to = parts[n].to;
		else
			n++;
	}
	cell->parts = take(n > 4 ? 3 : n > 2 ? 2 : n - 1);
	cell->parts->n = n;
	for (uint32_t i = 0; i < n; i++)
		cell->parts->items[i] = parts[i];
	for (uint32_t half = 0; half < 2; half++) {
		note_stack(granule, tag_thread(cell->tags[half]));
		cell->tags[half] = TAG_SHARED | (cell->tags[half] & TAG_DEAD);
	}
}

/* From here on a part begins at `at`. */
static void cut(struct cell *cell, uint32_t at)
{
	struct parts *parts = cell->parts;

	for (uint32_t i = 0; i < parts->n && at % 8; i++) {
		struct part *part = &parts->items[i];

		if (part->from >= at || part->to <= at)
			continue;
		parts = grow(cell);
		part = &parts->items[i];
		for (uint32_t k = parts->n; k > i + 1; k--)
			parts->items[k] = parts->items[k - 1];
		parts->n++;
		struct part *second = &parts->items[i + 1];

		*second = *part;
		if (part->readers_room) {
			second->readers =
				VG_(malloc)("grind.readers", part->readers_room * sizeof *part->readers);
			VG_(memcpy)(second->readers, part->readers, part->nreaders * sizeof *part->readers);
		}
		part->to = second->from = (uint8_t)at;
		return;
	}
}

/* ---- what an access to a part teaches ---- */

static uint32_t context_append(uint32_t context, uint32_t event)
{
	uint32_t bits = 2 * grind.context_events;

	if (!bits)
		return context;
	context = context << 2 | event;
	if (bits == 16)
		return context & 0xffff;
	return context >> bits > 1 ? (context & ((1u << bits) - 1)) | 1u << bits : context;
}

enum { LOCAL_READ, LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE };

static bool is_foreign(const struct part *part, uint32_t me)
{
	return part->write && part->writer != me;
}

static struct reader *reader_of(struct part *part, uint32_t thread)
{
	struct reader *readers = readers_of(part);

	for (uint32_t i = 0; i < part->nreaders; i++)
		if (readers[i].thread == thread)
			return &readers[i];
	return NULL;
}

static void add_reader(struct part *part, uint32_t thread, uint64_t word)
{
	uint32_t room = part->readers_room ? part->readers_room : FEW_READERS;

	if (part->nreaders == room) {
		struct reader *more = VG_(malloc)("grind.readers", 2 * room * sizeof *more);

		VG_(memcpy)(more, readers_of(part), part->nreaders * sizeof *more);
		part_release(part);
		part->readers = more;
		part->readers_room = 2 * room;
	}
	readers_of(part)[part->nreaders++] = (struct reader){ word, thread };
}

/* There are accesses since and including the last write, all by `me`. */
static bool is_own(struct part *part, uint32_t me)
{
	if (is_foreign(part, me))
		return false;
	struct reader *readers = readers_of(part);

	for (uint32_t i = 0; i < part->nreaders; i++)
		if (readers[i].thread != me)
			return false;
	return part->write || part->nreaders;
}

static uint32_t predecessor(const struct part *part, uint32_t me)
{
	if (part->last_thread == NOBODY)
		return 0;
	if (part->last_thread != me)
		return part->last_site;
	return part->other_thread == NOBODY ? 0 : part->other_site;
}

static void touched(struct part *part, uint32_t me, uint32_t site)
{
	if (part->last_thread != me && part->last_thread != NOBODY) {
		part->other_thread = part->last_thread;
		part->other_site = part->last_site;
	}
	part->last_thread = me;
	part->last_site = site;
}

bool order_is_open(const struct thread *thread, uint64_t order)
{
	return thread && !thread->joined && order > thread->closed;
}

static void found_pair(uint32_t kind, uint32_t head_thread, uint64_t head, uint64_t tail, Addr address)
{
	uint32_t number = log_pair(kind, head_thread, head, tail, address);
	struct thread *other = thread_numbered(head_thread);

	/* The head's thread has not synchronised since: the two could have come the other way round. */
	if (number != UINT32_MAX && grind.controlled && order_is_open(other, WORD_ORDER(head)))
		grind.process->pairs[number].open = 1;
	if (number != UINT32_MAX && other)
		couples_meet(other, kind, head, tail, address, number);
}

enum { WRITE_READ = 1, READ_WRITE, WRITE_WRITE }; /* enum pair_kind */

static void part_read(struct part *part, uint32_t me, uint64_t word, uint32_t context, Addr address)
{
	uint32_t site = WORD_SITE(word);

	log_predecessor(site, predecessor(part, me));
	if (is_foreign(part, me)) {
		found_pair(WRITE_READ, part->writer, part->write, word, address);
		log_edge(WORD_SITE(part->write), part->write_context, site, context, false);
	} else if (!part->write && !is_own(part, me)) {
		log_edge(0, 0, site, context, false);
	}
	struct reader *reader = reader_of(part, me);

	if (reader)
		reader->word = word;
	else
		add_reader(part, me, word);
	touched(part, me, site);
}

static void part_write(struct part *part, uint32_t me, uint64_t word, uint32_t context, Addr address)
{
	uint32_t site = WORD_SITE(word);
	struct reader *readers = readers_of(part);

	log_predecessor(site, predecessor(part, me));
	for (uint32_t i = 0; i < part->nreaders; i++)
		if (readers[i].thread != me)
			found_pair(READ_WRITE, readers[i].thread, readers[i].word, word, address);
	part->nreaders = 0;
	if (is_foreign(part, me)) {
		found_pair(WRITE_WRITE, part->writer, part->write, word, address);
		log_edge(WORD_SITE(part->write), part->write_context, site, context, true);
	}
	part->write = word;
	part->writer = me;
	part->write_context = (uint16_t)context;
	touched(part, me, site);
}

/* ---- who is told ---- */

#define MOST_SENDERS 64u
static struct {
	uint32_t threads[MOST_SENDERS], n;
} senders;

static void add_sender(uint32_t thread)
{
	for (uint32_t i = 0; i < senders.n; i++)
		if (senders.threads[i] == thread)
			return;
	if (senders.n < MOST_SENDERS)
		senders.threads[senders.n++] = thread;
}

static void collect(struct part *part, uint32_t me, bool write)
{
	bool first = !is_own(part, me) && !reader_of(part, me);

	if (is_foreign(part, me) && (write || first))
		add_sender(part->writer);
	struct reader *readers = readers_of(part);

	for (uint32_t i = 0; write && i < part->nreaders; i++)
		if (readers[i].thread != me)
			add_sender(readers[i].thread);
}

/* One event in this thread, however many others took part. */
static void communicate(bool write)
{
	if (!senders.n)
		return;
	grind.thread->context = context_append(grind.thread->context, write ? LOCAL_WRITE : LOCAL_READ);
	for (uint32_t i = 0; i < senders.n; i++) {
		struct thread *other = thread_numbered(senders.threads[i]);

		if (other)
			other->context = context_append(other->context, write ? REMOTE_WRITE : REMOTE_READ);
	}
	thread_context_changed();
}

/* ---- back to a cell ---- */

/* When all that others did was overwritten, nobody has to know of it any more, but for predecessors. */
static bool is_private_again(struct parts *parts, uint32_t me)
{
	if (grind.observes & OBSERVE_PREDECESSORS)
		return false;
	for (uint32_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->items[i];

		if (WORD_SITE(part->write) >= QUICK_SITES ||
		    (part->nreaders && WORD_SITE(readers_of(part)[0].word) >= QUICK_SITES) ||
		    !(is_own(part, me) || (!part->write && !part->nreaders)))
			return false;
	}
	return true;
}

/* Of a half the later order counts. */
static void keep_later(uint64_t word, uint64_t *latest)
{
	if (WORD_ORDER(word) > *latest)
		*latest = WORD_ORDER(word);
}

static void part_to_cell(struct part *part, struct cell *cell, Addr granule, uint64_t *write, uint64_t *read)
{
	uint64_t word = part->nreaders ? readers_of(part)[0].word : 0;

	for (uint32_t at = part->from; at < part->to; at++) {
		cell->write[at] = (uint16_t)WORD_SITE(part->write);
		cell->read[at] = (uint16_t)WORD_SITE(word);
		if (grind.observes & OBSERVE_EDGES)
			contexts_at(granule)[at] = part->write_context;
		keep_later(part->write, &write[at / 4]);
		keep_later(word, &read[at / 4]);
	}
}

static bool is_touched(const struct cell *cell, uint32_t half)
{
	for (uint32_t at = 4 * half; at < 4 * half + 4; at++)
		if (!cell->write[at] && !cell->read[at])
			return false;
	return true;
}

static void make_private(struct cell *cell, Addr granule, uint32_t me)
{
	struct parts *parts = cell->parts;
	uint64_t write[2] = { 0 }, read[2] = { 0 };

	for (uint32_t i = 0; i < parts->n; i++)
		part_to_cell(&parts->items[i], cell, granule, write, read);
	for (uint32_t half = 0; half < 2; half++) {
		cell->write_order[half] = (uint32_t)write[half];
		cell->read_order[half] = (uint32_t)read[half];
		cell->tags[half] =
			(cell->tags[half] & TAG_DEAD) | tag_of(me) |
			(!(grind.observes & OBSERVE_EDGES) || is_touched(cell, half) ? TAG_FULL : 0);
	}
	give(cell);
}

/* ---- accesses ---- */

static struct part *part_at(struct cell *cell, uint32_t from, uint32_t to)
{
	struct parts *parts = cell->parts;
	uint32_t i = 0;

	while (i + 1 < parts->n && parts->items[i].from < from)
		i++;
	return parts->items[i].from == from && parts->items[i].to == to ? &parts->items[i] : NULL;
}

bool parts_own_access(struct cell *cell, uint32_t from, uint32_t to, uint64_t word, bool write)
{
	struct part *part = part_at(cell, from, to);
	uint32_t me = grind.thread->number, site = WORD_SITE(word);

	/* Without predecessors it is a cell again after a write. */
	if (!(grind.observes & OBSERVE_PREDECESSORS) || !part || part->last_thread != me || !is_own(part, me))
		return false;
	if (part->last_site != site)
		log_predecessor(site, predecessor(part, me));
	part->last_site = site;
	if (write) {
		part->write = word;
		part->writer = me;
		part->write_context = (uint16_t)grind.thread->context;
	}
	part->nreaders = !write;
	if (!write)
		readers_of(part)[0] = (struct reader){ word, me };
	return true;
}

bool parts_read_again(struct cell *cell, uint32_t from, uint32_t to, uint64_t word)
{
	struct part *part = part_at(cell, from, to);
	uint32_t me = grind.thread->number, site = WORD_SITE(word);
	struct reader *reader = part ? reader_of(part, me) : NULL;

	if (!reader || WORD_SITE(reader->word) != site || !grind.thread->has_couples)
		return false;
	/* Its predecessor is known, too, when nobody came in between. */
	if (grind.observes & OBSERVE_PREDECESSORS && (part->last_thread != me || part->last_site != site))
		return false;
	reader->word = word;
	if (!(grind.observes & OBSERVE_EDGES))
		return true;
	if (is_foreign(part, me))
		log_edge(WORD_SITE(part->write), part->write_context, site, grind.thread->context, false);
	else if (!part->write && !is_own(part, me))
		log_edge(0, 0, site, grind.thread->context, false);
	return true;
}

void parts_access(struct cell *cell, Addr granule, uint32_t from, uint32_t to, uint64_t word, bool write)
{
	uint32_t me = grind.thread->number;

	cut(cell, from);
	cut(cell, to);
	struct parts *parts = cell->parts;

	senders.n = 0;
	for (uint32_t i = 0; i < parts->n && grind.observes & OBSERVE_EDGES; i++)
		if (parts->items[i].from >= from && parts->items[i].to <= to)
			collect(&parts->items[i], me, write);
	uint32_t context = grind.thread->context;

	for (uint32_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->items[i];

		if (part->from >= from && part->to <= to)
			(write ? part_write : part_read)(part, me, word, context, granule + part->from);
	}
	communicate(write);
	if (write && to == 8 && is_private_again(parts, me))
		make_private(cell, granule, me);
}

/* ---- ends of lives ---- */

void parts_forget(struct cell *cell, uint32_t from, uint32_t to)
{
	if (from == 0 && to == 8) {
		give(cell);
		return;
	}
	cut(cell, from);
	cut(cell, to);
	struct parts *parts = cell->parts;

	for (uint32_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->items[i];

		if (part->from < from || part->to > to)
			continue;
		part_release(part);
		*part = (struct part){
			.from = part->from, .to = part->to, .last_thread = NOBODY, .other_thread = NOBODY
		};
	}
}

/* ---- order ---- */

static bool part_is_open(struct part *part, bool write)
{
	uint32_t me = grind.thread->number;
	struct reader *readers = readers_of(part);

	if (!write && reader_of(part, me)) /* who reads the same value again has met its writer before */
		return false;
	if (is_foreign(part, me) && order_is_open(thread_numbered(part->writer), WORD_ORDER(part->write)))
		return true;
	for (uint32_t i = 0; write && i < part->nreaders; i++)
		if (readers[i].thread != me &&
		    order_is_open(thread_numbered(readers[i].thread), WORD_ORDER(readers[i].word)))
			return true;
	return false;
}

bool parts_are_open(struct cell *cell, uint32_t from, uint32_t to, bool write)
{
	struct parts *parts = cell->parts;

	for (uint32_t i = 0; i < parts->n; i++)
		if (parts->items[i].from < to && parts->items[i].to > from &&
		    part_is_open(&parts->items[i], write))
			return true;
	return false;
}
