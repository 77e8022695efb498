/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is known of every location. Memory is seen in granules of 8 aligned
 * bytes, in three forms: *private*, touched by one thread only, with the last
 * write and the last read since of each half; a *row*, private likewise, of each
 * byte; and *parts*, touched by several threads, where each part has the last
 * write, the last read of every thread since, and the last two accesses of
 * different threads. All forms tell exactly what tests/reference.c tells byte by
 * byte; only orders of private locations are those of the last access.
 *
 * An access is a word: its site, and its order in its thread. */
#include "loom/grind/shadow.h"

#include "loom/grind/control.h"

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
	uint64_t write;                     /* 0 = none */
	uint32_t last_thread, other_thread; /* NOBODY = none */
	uint32_t last_site,
		other_site; /* of the last access, and of the last one by another thread than that */
	uint32_t nreaders, readers_room;
	struct reader *readers; /* `few`, or on the heap when there are more */
	struct reader few[FEW_READERS];
};

struct parts {
	uint32_t n;
	struct part items[8];
};

struct shadow shadow;

/* ---- pages ---- */

struct far_page {
	struct far_page *next;
	uint64_t number;
	struct page *page;
};
#define FAR_BUCKETS 4096u
static struct far_page *far_pages[FAR_BUCKETS];

static struct page *page_new(void)
{
	static char *spare, *spare_end;

	if (spare == spare_end) {
		const SizeT size = 64 * sizeof(struct page);
		spare = grind_reserve(size);
		spare_end = spare + size;
	}
	spare += sizeof(struct page);
	return (struct page *)(spare - sizeof(struct page));
}

struct page *shadow_page(Addr address, bool make)
{
	uint64_t number = address >> PAGE_BITS;

	if (number < NEAR_PAGES) {
		if (!shadow.near[number] && make)
			shadow.near[number] = page_new();
		return shadow.near[number];
	}
	struct far_page **bucket = &far_pages[number % FAR_BUCKETS];

	for (struct far_page *far = *bucket; far; far = far->next)
		if (far->number == number)
			return far->page;
	if (!make)
		return NULL;
	struct far_page *fresh = VG_(malloc)("grind.far", sizeof *fresh);

	*fresh = (struct far_page){ *bucket, number, page_new() };
	*bucket = fresh;
	return fresh->page;
}

/* ---- memory of rows and parts ---- */

struct spare {
	struct spare *next;
};
static struct spare *spare_parts;

#define ROWS_MOST (1u << 24)
static uint32_t *spare_rows, nspare_rows, next_row = 1;

static uint32_t take_row(void)
{
	if (!nspare_rows && next_row == ROWS_MOST)
		VG_(tool_panic)("the program uses too much memory byte by byte to be observed");
	uint32_t number = nspare_rows ? spare_rows[--nspare_rows] : next_row++;

	shadow.rows[number] = (struct row){ .write = { 0 } };
	return number;
}

static void give_row(uint32_t number)
{
	spare_rows[nspare_rows++] = number;
}

void shadow_start(void)
{
	shadow.near = grind_reserve(NEAR_PAGES * sizeof(struct page *));
	shadow.rows = grind_reserve(ROWS_MOST * sizeof(struct row));
	spare_rows = grind_reserve(ROWS_MOST * sizeof *spare_rows);
	shadow.met = grind_reserve(AREA_PLACES);
}

static void *take(struct spare **list, SizeT size)
{
	struct spare *first = *list;

	if (first)
		*list = first->next;
	else
		first = VG_(malloc)("grind.shadow", size);
	VG_(memset)(first, 0, size);
	return first;
}

static void give(struct spare **list, void *block)
{
	struct spare *first = block;

	first->next = *list;
	*list = first;
}

static void part_release(struct part *part)
{
	if (part->readers_room)
		VG_(free)(part->readers);
}

static struct parts *parts_of(const struct page *page, uint32_t granule)
{
	return (struct parts *)page->halves[2 * granule].write;
}

static struct row *row_of(const struct page *page, uint32_t granule)
{
	return &shadow.rows[HEAD_ROW(page->head[granule])];
}

static void clear(struct page *page, uint32_t granule)
{
	uint32_t form = HEAD_FORM(page->head[granule]);

	if (form == FORM_ROW)
		give_row(HEAD_ROW(page->head[granule]));
	if (form == FORM_PARTS) {
		struct parts *parts = parts_of(page, granule);

		for (uint32_t i = 0; i < parts->n; i++)
			part_release(&parts->items[i]);
		give(&spare_parts, parts);
	}
	page->head[granule] = 0;
	page->halves[2 * granule] = page->halves[2 * granule + 1] = (struct half){ 0, 0 };
}

/* ---- forms ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
	return WORD_ORDER(a) > WORD_ORDER(b) ? WORD_ORDER(a) : WORD_ORDER(b);
}

static struct row *make_row(struct page *page, uint32_t granule)
{
	struct half low = page->halves[2 * granule], high = page->halves[2 * granule + 1];
	uint64_t head = page->head[granule];
	uint32_t number = take_row();
	struct row *row = &shadow.rows[number];

	for (uint32_t i = 0; i < 8; i++) {
		struct half half = i < 4 ? low : high;

		row->write[i] = WORD_SITE(half.write);
		row->read[i] = WORD_ORDER(half.read) > WORD_ORDER(half.write) ? WORD_SITE(half.read) : 0;
		row->context[i] = (uint16_t)(head >> (i < 4 ? 32 : 48));
	}
	row->write_order = later(low.write, high.write);
	row->read_order = later(low.read, high.read);
	page->head[granule] = HEAD(HEAD_OWNER(head), FORM_ROW) | (uint64_t)number << 32;
	return row;
}

static bool same_bytes(const struct row *row, uint32_t a, uint32_t b)
{
	return row->write[a] == row->write[b] && row->read[a] == row->read[b] &&
	       row->context[a] == row->context[b];
}

/* A part of a granule that one thread has had to itself. */
static struct part part_of_byte(const struct row *row, uint32_t at, uint32_t owner)
{
	uint64_t write = row->write[at] ? (uint64_t)row->write[at] << WORD_ORDER_BITS | row->write_order : 0;
	uint64_t read = row->read[at] ? (uint64_t)row->read[at] << WORD_ORDER_BITS | row->read_order : 0;
	struct part part = { .from = (uint8_t)at,
			     .to = (uint8_t)(at + 1),
			     .write = write,
			     .writer = owner,
			     .write_context = row->context[at],
			     .last_thread = write || read ? owner : NOBODY,
			     .last_site = WORD_SITE(read ? read : write),
			     .other_thread = NOBODY };

	if (read) {
		part.few[0] = (struct reader){ read, owner };
		part.nreaders = 1;
	}
	return part;
}

static struct reader *readers_of(struct part *part)
{
	return part->readers_room ? part->readers : part->few;
}

static struct parts *make_parts(struct page *page, uint32_t granule)
{
	uint32_t owner = HEAD_OWNER(page->head[granule]) - 1;
	struct row *row =
		HEAD_FORM(page->head[granule]) == FORM_ROW ? row_of(page, granule) : make_row(page, granule);
	struct parts *parts = take(&spare_parts, sizeof *parts);

	for (uint32_t at = 0; at < 8; at++) {
		if (at && same_bytes(row, at, at - 1))
			parts->items[parts->n - 1].to++;
		else
			parts->items[parts->n++] = part_of_byte(row, at, owner);
	}
	give_row(HEAD_ROW(page->head[granule]));
	page->head[granule] = HEAD(0, FORM_PARTS);
	page->halves[2 * granule] = (struct half){ (uint64_t)parts, 0 };
	return parts;
}

/* From here on a part begins at `at`. */
static void cut(struct parts *parts, uint32_t at)
{
	for (uint32_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->items[i];

		if (part->from >= at || part->to <= at)
			continue;
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

static bool thread_is_open(const struct thread *thread, uint64_t order)
{
	return thread && !thread->joined && order > thread->closed;
}

static void found_pair(uint32_t kind, uint32_t head_thread, uint64_t head, uint64_t tail, Addr address)
{
	uint32_t number = log_pair(kind, head_thread, head, tail, address);
	struct thread *other = thread_numbered(head_thread);

	/* The head's thread has not synchronised since: the two could have come the other way round. */
	if (number != UINT32_MAX && grind.controlled && thread_is_open(other, WORD_ORDER(head)))
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
	if (senders.n)
		grind.thread->context =
			context_append(grind.thread->context, write ? LOCAL_WRITE : LOCAL_READ);
	for (uint32_t i = 0; i < senders.n; i++) {
		struct thread *other = thread_numbered(senders.threads[i]);

		if (other)
			other->context = context_append(other->context, write ? REMOTE_WRITE : REMOTE_READ);
	}
}

static void parts_access(struct parts *parts, Addr granule, uint32_t from, uint32_t to, uint64_t word,
			 bool write)
{
	uint32_t me = grind.thread->number;

	cut(parts, from);
	cut(parts, to);
	senders.n = 0;
	for (uint32_t i = 0; i < parts->n; i++)
		if (parts->items[i].from >= from && parts->items[i].to <= to)
			collect(&parts->items[i], me, write);
	uint32_t context = grind.thread->context;

	for (uint32_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->items[i];

		if (part->from >= from && part->to <= to)
			(write ? part_write : part_read)(part, me, word, context, granule + part->from);
	}
	communicate(write);
}

/* ---- private granules ---- */

static void row_access(struct row *row, uint32_t from, uint32_t to, uint64_t word, bool write)
{
	uint32_t context = grind.thread->context;

	log_predecessor(WORD_SITE(word), 0);
	shadow.met[WORD_SITE(word)] = 1;
	for (uint32_t i = from; i < to; i++) {
		if (write) {
			row->write[i] = WORD_SITE(word);
			row->read[i] = 0;
			row->context[i] = (uint16_t)context;
			continue;
		}
		if (!row->write[i] && !row->read[i])
			log_edge(0, 0, WORD_SITE(word), context, false);
		row->read[i] = WORD_SITE(word);
	}
	*(write ? &row->write_order : &row->read_order) = WORD_ORDER(word);
}

static void halves_access(struct page *page, uint32_t granule, uint32_t from, uint32_t to, uint64_t word,
			  bool write)
{
	uint64_t context = grind.thread->context;

	log_predecessor(WORD_SITE(word), 0);
	shadow.met[WORD_SITE(word)] = 1;
	for (uint32_t i = from / 4; i < to / 4; i++) {
		struct half *half = &page->halves[2 * granule + i];
		uint32_t shift = 32 + 16 * i;

		if (write) {
			half->write = word;
			page->head[granule] =
				(page->head[granule] & ~(0xffffull << shift)) | context << shift;
			continue;
		}
		if (!half->write && !half->read)
			log_edge(0, 0, WORD_SITE(word), (uint32_t)context, false);
		half->read = word;
	}
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

static void granule_access(struct page *page, Addr granule, uint32_t from, uint32_t to, uint64_t word,
			   bool write)
{
	uint32_t at = PAGE_GRANULE(granule);
	uint64_t head = page->head[at];
	bool fits = from % 4 == 0 && to % 4 == 0;

	uint64_t dead = head & HEAD_DEAD;

	shadow.touched_dead |= dead != 0;
	head = page->head[at] &= ~HEAD_DEAD;
	if (!head)
		head = page->head[at] = grind.thread->tag;
	if (HEAD_FORM(head) != FORM_PARTS && HEAD_OWNER(head) != HEAD_OWNER(grind.thread->tag)) {
		note_stack(granule, HEAD_OWNER(head) - 1);
		parts_access(make_parts(page, at), granule, from, to, word, write);
	} else if (HEAD_FORM(head) == FORM_PARTS) {
		parts_access(parts_of(page, at), granule, from, to, word, write);
	} else if (HEAD_FORM(head) == FORM_ROW) {
		row_access(row_of(page, at), from, to, word, write);
	} else if (fits) {
		halves_access(page, at, from, to, word, write);
	} else {
		row_access(make_row(page, at), from, to, word, write);
	}
	page->head[at] |= dead;
}

void shadow_access(Addr address, SizeT size, uint64_t word, bool write)
{
	Addr end = address + size;

	for (Addr granule = address & ~7ull; granule < end; granule += 8)
		granule_access(shadow_page(granule, true), granule,
			       address > granule ? (uint32_t)(address - granule) : 0,
			       end < granule + 8 ? (uint32_t)(end - granule) : 8, word, write);
}

/* ---- ends of lives ---- */

static void forget_bytes(struct page *page, Addr granule, uint32_t from, uint32_t to)
{
	uint32_t at = PAGE_GRANULE(granule);
	uint64_t head = page->head[at];

	if (!head)
		return;
	if (from == 0 && to == 8) {
		clear(page, at);
		return;
	}
	if (HEAD_FORM(head) == FORM_PARTS) {
		struct parts *parts = parts_of(page, at);

		cut(parts, from);
		cut(parts, to);
		for (uint32_t i = 0; i < parts->n; i++) {
			struct part *part = &parts->items[i];

			if (part->from < from || part->to > to)
				continue;
			part_release(part);
			*part = (struct part){ .from = part->from,
					       .to = part->to,
					       .last_thread = NOBODY,
					       .other_thread = NOBODY };
		}
		return;
	}
	struct row *row = HEAD_FORM(head) == FORM_ROW ? row_of(page, at) : make_row(page, at);

	for (uint32_t i = from; i < to; i++)
		row->write[i] = row->read[i] = 0;
}

void shadow_forget(Addr address, SizeT size)
{
	Addr end = address + size;

	if (grind.traced)
		log_event(address, size, 0, AREA_FORGET, 0);
	if (grind.controlled)
		control_forget(address, size);
	for (Addr granule = address & ~7ull; granule < end;) {
		struct page *page = shadow_page(granule, false);

		if (!page) {
			granule = ((granule >> PAGE_BITS) + 1) << PAGE_BITS;
			continue;
		}
		forget_bytes(page, granule, address > granule ? (uint32_t)(address - granule) : 0,
			     end < granule + 8 ? (uint32_t)(end - granule) : 8);
		granule += 8;
	}
}

void shadow_bury(Addr address, SizeT size)
{
	for (Addr granule = (address + 7) & ~7ull; granule + 8 <= address + size; granule += 8)
		shadow_page(granule, true)->head[PAGE_GRANULE(granule)] |= HEAD_DEAD;
}

bool shadow_is_private(Addr address, SizeT size)
{
	for (Addr granule = address & ~7ull; granule < address + size; granule += 8) {
		struct page *page = shadow_page(granule, false);
		uint64_t head = page ? page->head[PAGE_GRANULE(granule)] : 0;

		if (head &&
		    (HEAD_FORM(head) == FORM_PARTS || HEAD_OWNER(head) != HEAD_OWNER(grind.thread->tag)))
			return false;
	}
	return true;
}

static bool part_is_open(struct part *part, bool write)
{
	uint32_t me = grind.thread->number;
	struct reader *readers = readers_of(part);

	if (!write && reader_of(part, me)) /* who reads the same value again has met its writer before */
		return false;
	if (is_foreign(part, me) && thread_is_open(thread_numbered(part->writer), WORD_ORDER(part->write)))
		return true;
	for (uint32_t i = 0; write && i < part->nreaders; i++)
		if (readers[i].thread != me &&
		    thread_is_open(thread_numbered(readers[i].thread), WORD_ORDER(readers[i].word)))
			return true;
	return false;
}

/* Of a granule that another thread has had to itself. */
static bool owned_is_open(const struct page *page, uint32_t at, bool write)
{
	const struct thread *owner = thread_numbered(HEAD_OWNER(page->head[at]) - 1);
	const struct half *half = &page->halves[2 * at];
	uint64_t wrote, read;

	if (HEAD_FORM(page->head[at]) == FORM_ROW) {
		wrote = row_of(page, at)->write_order;
		read = row_of(page, at)->read_order;
	} else {
		wrote = later(half[0].write, half[1].write);
		read = later(half[0].read, half[1].read);
	}
	return (wrote && thread_is_open(owner, wrote)) || (write && read && thread_is_open(owner, read));
}

static bool granule_is_open(const struct page *page, uint32_t at, uint32_t from, uint32_t to, bool write)
{
	uint64_t head = page->head[at];

	if (!(head & ~HEAD_DEAD))
		return false;
	if (HEAD_FORM(head) != FORM_PARTS)
		return HEAD_OWNER(head) != HEAD_OWNER(grind.thread->tag) && owned_is_open(page, at, write);
	struct parts *parts = parts_of(page, at);

	for (uint32_t i = 0; i < parts->n; i++)
		if (parts->items[i].from < to && parts->items[i].to > from &&
		    part_is_open(&parts->items[i], write))
			return true;
	return false;
}

bool shadow_is_open(Addr address, SizeT size, bool write)
{
	Addr end = address + size;

	for (Addr granule = address & ~7ull; granule < end; granule += 8) {
		const struct page *page = shadow_page(granule, false);

		if (page && granule_is_open(page, PAGE_GRANULE(granule),
					    address > granule ? (uint32_t)(address - granule) : 0,
					    end < granule + 8 ? (uint32_t)(end - granule) : 8, write))
			return true;
	}
	return false;
}
