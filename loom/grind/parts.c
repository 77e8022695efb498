/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Granules that several threads have touched, where shared.c has no room. Each part
 * of one has the last write, the last read of every thread since, and the last two
 * accesses of different threads: all that tests/reference.c tells byte by byte. */
#include "loom/grind/control.h"
#include "loom/grind/parts.h"

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

static struct reader *reader_of(struct part *part, uint32_t thread)
{
	struct reader *readers = part_readers(part);

	for (uint32_t i = 0; i < part->nreaders; i++)
		if (readers[i].thread == thread)
			return &readers[i];
	return NULL;
}

void part_add_reader(struct part *part, uint32_t thread, uint64_t word)
{
	uint32_t room = part->room_bits ? 1u << part->room_bits : FEW_READERS;

	if (part->nreaders == room) {
		struct reader *more = VG_(malloc)("grind.readers", 2 * room * sizeof *more);

		VG_(memcpy)(more, part_readers(part), part->nreaders * sizeof *more);
		part_release(part);
		part->readers = more;
		part->room_bits = part->room_bits ? part->room_bits + 1 : 2;
	}
	part_readers(part)[part->nreaders++] = (struct reader){ word, thread };
}
_Static_assert(FEW_READERS == 2, "twice that is 1 << 2");

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

void found_pair(uint32_t kind, uint32_t head_thread, uint64_t head, uint64_t tail, Addr address)
{
	if (pair_is_known(kind, head_thread, WORD_SITE(head), WORD_SITE(tail)))
		return;
	uint32_t number = log_pair(kind, head_thread, head, tail, address);
	struct thread *other = thread_numbered(head_thread);

	/* The head's thread has not synchronised since: the two could have come the other way round. */
	if (number != UINT32_MAX && grind.controlled && order_is_open(other, WORD_ORDER(head)))
		grind.process->pairs[number].open = 1;
	if (number != UINT32_MAX && other)
		couples_meet(other, kind, head, tail, address, number);
}

static void part_read(struct part *part, uint32_t me, uint64_t word, uint32_t context, Addr address)
{
	uint32_t site = WORD_SITE(word);

	log_predecessor(site, predecessor(part, me));
	if (part_is_foreign(part, me)) {
		found_pair(WRITE_READ, part->writer, part->write, word, address);
		log_edge(WORD_SITE(part->write), part->write_context, site, context, false);
	} else if (!part->write && !part_is_own(part, me)) {
		log_edge(0, 0, site, context, false);
	}
	struct reader *reader = reader_of(part, me);

	if (reader)
		reader->word = word;
	else
		part_add_reader(part, me, word);
	touched(part, me, site);
}

static void part_write(struct part *part, uint32_t me, uint64_t word, uint32_t context, Addr address)
{
	uint32_t site = WORD_SITE(word);
	struct reader *readers = part_readers(part);

	log_predecessor(site, predecessor(part, me));
	for (uint32_t i = 0; i < part->nreaders; i++)
		if (readers[i].thread != me)
			found_pair(READ_WRITE, readers[i].thread, readers[i].word, word, address);
	part->nreaders = 0;
	if (part_is_foreign(part, me)) {
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
	bool first = !part_is_own(part, me) && !reader_of(part, me);

	if (part_is_foreign(part, me) && (write || first))
		add_sender(part->writer);
	struct reader *readers = part_readers(part);

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
	/* Without predecessors it is a cell again after a write. */
	if (!(grind.observes & OBSERVE_PREDECESSORS))
		return false;
	struct part *part = part_at(cell, from, to);
	uint32_t me = grind.thread->number, site = WORD_SITE(word);

	if (!part || part->last_thread != me || !part_is_own(part, me))
		return false;
	parts_forget_again(cell);
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
		part_readers(part)[0] = (struct reader){ word, me };
	return true;
}

/* A read of one part, as above. The one before it in the same access, or NULL, has told of its own writer. */
static bool part_read_again(struct part *part, const struct part *before, uint64_t word, Addr address)
{
	uint32_t me = grind.thread->number, site = WORD_SITE(word);
	struct reader *reader = reader_of(part, me);
	bool same = reader && WORD_SITE(reader->word) == site, foreign = part_is_foreign(part, me);

	/* Its predecessor is known, too, when nobody came in between. */
	if (grind.observes & OBSERVE_PREDECESSORS &&
	    (!same || part->last_thread != me || part->last_site != site))
		return false;
	if (grind.observes & OBSERVE_EDGES) {
		if (!same)
			return false;
		if (foreign)
			log_edge(WORD_SITE(part->write), part->write_context, site, grind.thread->context,
				 false);
		else if (!part->write && !part_is_own(part, me))
			log_edge(0, 0, site, grind.thread->context, false);
	}
	if (!same && foreign &&
	    !(before && before->writer == part->writer && WORD_SITE(before->write) == WORD_SITE(part->write)))
		found_pair(WRITE_READ, part->writer, part->write, word, address);
	if (reader)
		reader->word = word;
	else
		part_add_reader(part, me, word);
	touched(part, me, site);
	return true;
}

bool parts_read_again(struct cell *cell, Addr granule, uint32_t from, uint32_t to, uint64_t word)
{
	struct parts *parts = cell->parts;
	uint32_t me = grind.thread->number;
	struct part *part, *before = NULL;

	if (!grind.thread->has_couples)
		return false;
	for (part = parts->items; part < parts->items + parts->n; part++) {
		if (part->to <= from || part->from >= to)
			continue;
		if (part->from < from || part->to > to ||
		    !part_read_again(part, before, word, granule + part->from))
			return false;
		before = part;
	}
	if (before->from == from && before->to == to && !(grind.observes & OBSERVE_EDGES))
		cell->again[from / 4] = (struct again){ again_key(me, from, to - from, WORD_SITE(word)),
							reader_of(before, me) };
	else
		parts_forget_again(cell);
	return true;
}

void parts_access(struct cell *cell, Addr granule, uint32_t from, uint32_t to, uint64_t word, bool write)
{
	uint32_t me = grind.thread->number;

	parts_forget_again(cell);
	parts_cut(cell, from);
	parts_cut(cell, to);
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
	if (write && to == 8 && parts_are_private(parts, me))
		parts_to_cell(cell, granule, me);
}

/* ---- ends of lives ---- */

void parts_forget(struct cell *cell, uint32_t from, uint32_t to)
{
	if (from == 0 && to == 8) {
		parts_give(cell);
		return;
	}
	parts_forget_again(cell);
	parts_cut(cell, from);
	parts_cut(cell, to);
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
	struct reader *readers = part_readers(part);

	if (!write && reader_of(part, me)) /* who reads the same value again has met its writer before */
		return false;
	if (part_is_foreign(part, me) &&
	    order_is_open(thread_numbered(part->writer), WORD_ORDER(part->write)))
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
