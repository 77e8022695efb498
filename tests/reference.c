/* The reference observer, see reference.h. Every byte keeps, for every thread
 * that touched it, that thread's last access and its last read since the last
 * write; all questions are answered by looking through these lists. */
#include "tests/reference.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "model/run.h"

struct access {
	bool present;
	uint32_t site;
	uint64_t order;
	size_t event;
};

/* What one thread did to one byte. */
struct party {
	uint32_t thread;
	struct access last; /* of any kind */
	struct access read; /* since the last write of anybody */
};

struct byte {
	struct access write;
	uint32_t writer;
	uint32_t write_context;
	VEC(struct party) parties;
};

struct granule {
	struct byte bytes[8];
};

struct line {
	struct access write;
	uint32_t writer;
	uint32_t write_context;
	VEC(uint32_t) readers; /* threads that read since the write */
};

struct thread_context {
	uint32_t events[8]; /* oldest first */
	uint32_t nevents;
};

struct reference {
	const struct area_options *options;
	struct reference_result *result;
	struct map granules; /* address → struct granule * */
	struct map lines;    /* address → struct line * */
	VEC(struct thread_context) threads;
	struct map pairs, predecessors, edges; /* already in the result */
	/* the event at hand */
	const struct area_event *event;
	size_t index;
};

/* ---- what was seen first ---- */

static void found_pair(struct reference *r, uint32_t kind, uint32_t head_thread, const struct access *head,
		       uint64_t address)
{
	uint32_t identity[] = { kind, head->site, r->event->site, head_thread, r->event->thread };
	bool fresh;

	map_put(&r->pairs, hash_bytes(HASH_START, identity, sizeof identity), &fresh);
	if (!fresh)
		return;
	*VEC_PUSH(&r->result->pairs) = (struct reference_pair){
		.pair = { .kind = kind,
			  .head_site = head->site,
			  .tail_site = r->event->site,
			  .head_thread = head_thread,
			  .tail_thread = r->event->thread,
			  .head_order = head->order,
			  .tail_order = r->event->order,
			  .address = address },
		.event = r->index,
	};
}

static void found_predecessor(struct reference *r, uint32_t before)
{
	bool fresh;

	map_put(&r->predecessors, (uint64_t)r->event->site << 32 | before, &fresh);
	if (fresh)
		*VEC_PUSH(&r->result->predecessors) = (struct reference_predecessor){ .site = r->event->site,
										      .before = before,
										      .event = r->index };
}

static void found_edge(struct reference *r, uint32_t source, uint32_t source_context, uint32_t sink_context)
{
	uint32_t write = r->event->action == AREA_WRITE;
	uint32_t identity[] = { source, r->event->site, source_context, sink_context, write };
	bool fresh;

	map_put(&r->edges, hash_bytes(HASH_START, identity, sizeof identity), &fresh);
	if (fresh)
		*VEC_PUSH(&r->result->edges) = (struct reference_edge){
			.edge = { .source = source,
				  .sink = r->event->site,
				  .source_context = (uint16_t)source_context,
				  .sink_context = (uint16_t)sink_context,
				  .write = write != 0 },
			.event = r->index,
		};
}

/* ---- contexts ---- */

static struct thread_context *context_of(struct reference *r, uint32_t thread)
{
	while (r->threads.n <= thread)
		VEC_PUSH(&r->threads);
	return &r->threads.items[thread];
}

static void context_append(struct reference *r, uint32_t thread, uint32_t event)
{
	struct thread_context *context = context_of(r, thread);

	if (!r->options->context)
		return;
	if (context->nevents == r->options->context)
		memmove(context->events, context->events + 1, --context->nevents * sizeof *context->events);
	context->events[context->nevents++] = event;
}

/* As it is written down: a 1, then the events; without the 1 when eight are kept. */
static uint32_t context_value(struct reference *r, uint32_t thread)
{
	const struct thread_context *context = context_of(r, thread);
	uint32_t value = r->options->context == 8 ? 0 : 1;

	for (uint32_t i = 0; i < context->nevents; i++)
		value = value * 4 + context->events[i];
	return value;
}

/* ---- the history of a byte ---- */

static struct party *party_of(struct byte *byte, uint32_t thread)
{
	for (size_t i = 0; i < byte->parties.n; i++)
		if (byte->parties.items[i].thread == thread)
			return &byte->parties.items[i];
	struct party *fresh = VEC_PUSH(&byte->parties);

	fresh->thread = thread;
	return fresh;
}

static uint32_t predecessor(const struct byte *byte, uint32_t thread)
{
	const struct access *latest = NULL;

	for (size_t i = 0; i < byte->parties.n; i++) {
		const struct party *party = &byte->parties.items[i];

		if (party->thread != thread && party->last.present &&
		    (!latest || party->last.event > latest->event))
			latest = &party->last;
	}
	return latest ? latest->site : 0;
}

/* There are accesses since and including the last write, all by `thread`. */
static bool owned(const struct byte *byte, uint32_t thread)
{
	bool any = byte->write.present;

	if (byte->write.present && byte->writer != thread)
		return false;
	for (size_t i = 0; i < byte->parties.n; i++) {
		if (byte->parties.items[i].read.present && byte->parties.items[i].thread != thread)
			return false;
		any = any || byte->parties.items[i].read.present;
	}
	return any;
}

static bool first_read(struct byte *byte, uint32_t thread)
{
	return !owned(byte, thread) && !party_of(byte, thread)->read.present;
}

static bool foreign(const struct byte *byte, uint32_t thread)
{
	return byte->write.present && byte->writer != thread;
}

/* ---- one event of one byte, in the thread's context ---- */

static void byte_read(struct reference *r, struct byte *byte, uint64_t address, uint32_t context)
{
	uint32_t thread = r->event->thread;
	struct party *self = party_of(byte, thread);

	found_predecessor(r, predecessor(byte, thread));
	if (foreign(byte, thread))
		found_pair(r, PAIR_WRITE_READ, byte->writer, &byte->write, address);
	if (foreign(byte, thread) && !r->options->line)
		found_edge(r, byte->write.site, byte->write_context, context);
	if (!byte->write.present && !owned(byte, thread) && !r->options->line)
		found_edge(r, 0, 0, context);
	self->last = self->read = (struct access){ true, r->event->site, r->event->order, r->index };
}

static void byte_write(struct reference *r, struct byte *byte, uint64_t address, uint32_t context)
{
	uint32_t thread = r->event->thread;

	found_predecessor(r, predecessor(byte, thread));
	for (size_t i = 0; i < byte->parties.n; i++) {
		struct party *party = &byte->parties.items[i];

		if (party->thread != thread && party->read.present)
			found_pair(r, PAIR_READ_WRITE, party->thread, &party->read, address);
		party->read.present = false;
	}
	if (foreign(byte, thread))
		found_pair(r, PAIR_WRITE_WRITE, byte->writer, &byte->write, address);
	if (foreign(byte, thread) && !r->options->line)
		found_edge(r, byte->write.site, byte->write_context, context);
	byte->write = (struct access){ true, r->event->site, r->event->order, r->index };
	byte->writer = thread;
	byte->write_context = context;
	party_of(byte, thread)->last = byte->write;
}

/* ---- one event of one granule ---- */

struct senders {
	uint32_t threads[64], n;
};

static void add_sender(struct senders *senders, uint32_t thread)
{
	for (uint32_t i = 0; i < senders->n; i++)
		if (senders->threads[i] == thread)
			return;
	assert(senders->n < 64);
	senders->threads[senders->n++] = thread;
}

/* One event here, however many others took part. */
static void communicate(struct reference *r, const struct senders *senders)
{
	bool write = r->event->action == AREA_WRITE;

	if (senders->n)
		context_append(r, r->event->thread, write ? EVENT_LOCAL_WRITE : EVENT_LOCAL_READ);
	for (uint32_t i = 0; i < senders->n; i++)
		context_append(r, senders->threads[i], write ? EVENT_REMOTE_WRITE : EVENT_REMOTE_READ);
}

static struct granule *granule_at(struct reference *r, uint64_t address)
{
	uint64_t *known = map_put(&r->granules, address, NULL);

	if (!*known)
		*known = (uint64_t)(uintptr_t)memory_alloc(sizeof(struct granule));
	return (struct granule *)(uintptr_t)*known;
}

static void granule_access(struct reference *r, uint64_t address, uint32_t from, uint32_t to)
{
	struct byte *bytes = granule_at(r, address)->bytes;
	uint32_t thread = r->event->thread;
	bool write = r->event->action == AREA_WRITE;
	struct senders senders = { 0 };

	for (uint32_t at = from; at < to; at++) {
		bool first = first_read(&bytes[at], thread);

		if (foreign(&bytes[at], thread) && (write || first))
			add_sender(&senders, bytes[at].writer);
		for (size_t i = 0; write && i < bytes[at].parties.n; i++)
			if (bytes[at].parties.items[i].read.present &&
			    bytes[at].parties.items[i].thread != thread)
				add_sender(&senders, bytes[at].parties.items[i].thread);
	}
	uint32_t context = context_value(r, thread);

	for (uint32_t at = from; at < to; at++)
		(write ? byte_write : byte_read)(r, &bytes[at], address + at, context);
	if (!r->options->line)
		communicate(r, &senders);
}

static void granule_forget(struct reference *r, uint64_t address, uint32_t from, uint32_t to)
{
	if (!map_get(&r->granules, address))
		return;
	struct byte *bytes = granule_at(r, address)->bytes;

	for (uint32_t at = from; at < to; at++) {
		VEC_FREE(&bytes[at].parties);
		bytes[at] = (struct byte){ 0 };
	}
}

/* ---- lines ---- */

static bool line_was_read_by(const struct line *line, uint32_t thread)
{
	for (size_t i = 0; i < line->readers.n; i++)
		if (line->readers.items[i] == thread)
			return true;
	return false;
}

static void line_access(struct reference *r, uint64_t address)
{
	uint64_t *known = map_put(&r->lines, address, NULL);

	if (!*known)
		*known = (uint64_t)(uintptr_t)memory_alloc(sizeof(struct line));
	struct line *line = (struct line *)(uintptr_t)*known;
	uint32_t thread = r->event->thread;
	bool write = r->event->action == AREA_WRITE, first = write || !line_was_read_by(line, thread);

	uint32_t context = context_value(r, thread);
	struct senders senders = { 0 };

	if (line->write.present && line->writer != thread) {
		found_edge(r, line->write.site, line->write_context, context);
		if (first)
			add_sender(&senders, line->writer);
	} else if (!line->write.present && !write && first) {
		found_edge(r, 0, 0, context);
	}
	for (size_t i = 0; write && i < line->readers.n; i++)
		if (line->readers.items[i] != thread)
			add_sender(&senders, line->readers.items[i]);
	communicate(r, &senders);
	if (write) {
		line->write = (struct access){ true, r->event->site, r->event->order, r->index };
		line->writer = thread;
		line->write_context = context;
		line->readers.n = 0;
	} else if (first) {
		*VEC_PUSH(&line->readers) = thread;
	}
}

/* ---- a sequence of events ---- */

static void each_granule(struct reference *r, void (*act)(struct reference *, uint64_t, uint32_t, uint32_t))
{
	uint64_t start = r->event->address, end = start + r->event->size;

	for (uint64_t granule = start & ~7ull; granule < end; granule += 8)
		act(r, granule, start > granule ? (uint32_t)(start - granule) : 0,
		    end < granule + 8 ? (uint32_t)(end - granule) : 8);
}

/* Large ranges are mostly empty: there the known granules are fewer. */
static void forget(struct reference *r)
{
	uint64_t start = r->event->address, end = start + r->event->size;

	if (r->event->size / 8 < r->granules.room) {
		each_granule(r, granule_forget);
		return;
	}
	for (size_t i = 0; i < r->granules.room; i++) {
		uint64_t granule = r->granules.slots[i].key;

		if (r->granules.slots[i].used && granule + 8 > start && granule < end)
			granule_forget(r, granule, start > granule ? (uint32_t)(start - granule) : 0,
				       end < granule + 8 ? (uint32_t)(end - granule) : 8);
	}
}

static void take(struct reference *r)
{
	if (r->event->action == AREA_FORGET) {
		forget(r);
		return;
	}
	each_granule(r, granule_access);
	if (!r->options->line)
		return;
	for (uint64_t line = r->event->address & ~63ull; line < r->event->address + r->event->size;
	     line += 64)
		line_access(r, line);
}

static void release(struct reference *r)
{
	for (size_t i = 0; i < r->granules.room; i++) {
		struct granule *granule = (struct granule *)(uintptr_t)r->granules.slots[i].value;

		if (!r->granules.slots[i].used)
			continue;
		for (int at = 0; at < 8; at++)
			VEC_FREE(&granule->bytes[at].parties);
		cleanup_free(&granule);
	}
	for (size_t i = 0; i < r->lines.room; i++) {
		struct line *line = (struct line *)(uintptr_t)r->lines.slots[i].value;

		if (!r->lines.slots[i].used)
			continue;
		VEC_FREE(&line->readers);
		cleanup_free(&line);
	}
	map_free(&r->granules);
	map_free(&r->lines);
	map_free(&r->pairs);
	map_free(&r->predecessors);
	map_free(&r->edges);
	VEC_FREE(&r->threads);
}

void reference_observe(const struct area_options *options, const struct area_event *events, size_t n,
		       struct reference_result *out)
{
	struct reference r = { .options = options, .result = out };

	*out = (struct reference_result){ 0 };
	for (; r.index < n; r.index++) {
		r.event = &events[r.index];
		take(&r);
	}
	release(&r);
}

void reference_free(struct reference_result *result)
{
	VEC_FREE(&result->pairs);
	VEC_FREE(&result->predecessors);
	VEC_FREE(&result->edges);
}
