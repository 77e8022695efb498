/* Schedules as blobs (format: doc/formats.md, "Store"). By column, as the rest:
 * neighbouring turns resemble each other little, but threads, reasons and sites
 * are few, and zstd does the rest. The reader takes bytes of any origin.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "store/codec.h"

#define KINDS 6u /* of turns: five ways to stop, and wake-ups */
/* Added to the kind of a wait: */
#define WAITING_TAKEN 64u   /* another took a signal, and four numbers more follow; */
#define WAITING_FORKED 128u /* it is the child of a fork, and the call follows */

static unsigned kind_of(const struct schedule_turn *turn)
{
	return turn->wake ? KINDS - 1 : (unsigned)turn->stop;
}

static void put_sites(struct bytes *out, const struct schedule_turn *turns, size_t n)
{
	_cleanup_(map_free) struct map places = { 0 };
	VEC(uint64_t) ids = { 0 };

	for (size_t i = 0; i < n; i++) {
		bool fresh;
		uint64_t *place = map_put(&places, turns[i].site, &fresh);

		if (fresh) {
			*place = ids.n;
			*VEC_PUSH(&ids) = turns[i].site;
		}
	}
	varint_put(out, ids.n);
	bytes_put(out, ids.items, ids.n * sizeof *ids.items);
	for (size_t i = 0; i < n; i++)
		varint_put(out, *map_get(&places, turns[i].site));
	VEC_FREE(&ids);
}

static bool get_sites(struct reader *reader, struct schedule_turn *turns, size_t n)
{
	uint64_t nids = varint_get(reader);
	size_t left = (size_t)(reader->end - reader->at);

	if (reader->bad || nids > n || nids > left / sizeof(uint64_t))
		return false;
	const unsigned char *ids = reader->at;

	reader->at += nids * sizeof(uint64_t);
	for (size_t i = 0; i < n; i++) {
		uint64_t place = varint_get(reader);

		if (reader->bad || place >= nids)
			return false;
		memcpy(&turns[i].site, ids + place * sizeof(uint64_t), sizeof turns[i].site);
	}
	return true;
}

static void put_wait(struct bytes *out, const struct schedule_wait *wait)
{
	bool taken = wait->taken_site;
	uint64_t kind = wait->kind | (taken ? WAITING_TAKEN : 0) | (wait->fork_site ? WAITING_FORKED : 0);
	const uint64_t numbers[] = { wait->thread,        kind,
				     wait->object,        wait->holder,
				     wait->missed_thread, wait->address,
				     wait->site,          wait->holder_site,
				     wait->missed_site,   wait->taken_site,
				     wait->taken_thread,  wait->taker_site,
				     wait->taker_thread };

	for (size_t i = 0; i < (taken ? 13 : 9); i++)
		varint_put(out, numbers[i]);
	if (wait->fork_site)
		varint_put(out, wait->fork_site);
}

static bool get_wait(struct reader *reader, struct schedule_wait *wait)
{
	uint64_t numbers[13] = { 0 };

	for (size_t i = 0; i < 9; i++)
		numbers[i] = varint_get(reader);
	for (size_t i = 9; i < 13 && numbers[1] & WAITING_TAKEN; i++)
		numbers[i] = varint_get(reader);
	uint64_t fork_site = numbers[1] & WAITING_FORKED ? varint_get(reader) : 0;

	numbers[1] &= ~(uint64_t)(WAITING_TAKEN | WAITING_FORKED);
	*wait = (struct schedule_wait){
		.thread = (uint32_t)numbers[0],
		.kind = (enum schedule_waiting)numbers[1],
		.object = (uint32_t)numbers[2],
		.holder = (uint32_t)numbers[3],
		.missed_thread = (uint32_t)numbers[4],
		.address = numbers[5],
		.site = numbers[6],
		.holder_site = numbers[7],
		.missed_site = numbers[8],
		.fork_site = fork_site,
		.taken_site = numbers[9],
		.taken_thread = (uint32_t)numbers[10],
		.taker_site = numbers[11],
		.taker_thread = (uint32_t)numbers[12],
	};
	for (size_t i = 0; i < 5; i++)
		if (numbers[i] > UINT32_MAX)
			return false;
	if (numbers[10] > UINT32_MAX || numbers[12] > UINT32_MAX)
		return false;
	return !reader->bad && numbers[1] < WAITING_KINDS;
}

/* What else is a point: 1 for every access, or 0 and the ids of sites, each as the difference to the last. */
static void put_points(struct bytes *out, const struct schedule *schedule)
{
	varint_put(out, schedule->everywhere);
	varint_put(out, schedule->nsites);
	for (size_t i = 0; i < schedule->nsites; i++)
		varint_put(out, schedule->sites[i] - (i ? schedule->sites[i - 1] : 0));
}

/* Nothing when there was none. */
static void put_fault(struct bytes *out, const struct schedule_fault *fault)
{
	const uint64_t numbers[] = { fault->kind,        (uint64_t)fault->write,  fault->thread,
				     fault->site,        (uint64_t)fault->offset, fault->size,
				     fault->block,       fault->born_site,        fault->freed_site,
				     fault->born_thread, fault->freed_thread };

	for (size_t i = 0; fault->kind && i < sizeof numbers / sizeof *numbers; i++)
		varint_put(out, numbers[i]);
}

static bool get_fault(struct reader *reader, struct schedule_fault *fault)
{
	uint64_t numbers[11] = { 0 };

	for (size_t i = 0; i < 11 && reader->at != reader->end; i++)
		numbers[i] = varint_get(reader);
	*fault = (struct schedule_fault){
		.kind = (enum memory_fault)numbers[0],
		.write = numbers[1],
		.thread = (uint32_t)numbers[2],
		.site = numbers[3],
		.offset = (int64_t)numbers[4],
		.size = numbers[5],
		.block = numbers[6],
		.born_site = numbers[7],
		.freed_site = numbers[8],
		.born_thread = (uint32_t)numbers[9],
		.freed_thread = (uint32_t)numbers[10],
	};
	return !reader->bad && reader->at == reader->end && numbers[0] < MEMORY_FAULTS;
}

void codec_put_schedule(struct bytes *out, const struct schedule *schedule)
{
	size_t text = schedule->uncontrolled ? strlen(schedule->uncontrolled) : 0;

	varint_put(out, schedule->points);
	varint_put(out, schedule->contested);
	varint_put(out, schedule->output);
	varint_put(out, schedule->diverged_turn);
	varint_put(out, schedule->diverged_thread);
	varint_put(out, schedule->diverged_site);
	varint_put(out, text);
	bytes_put(out, schedule->uncontrolled, text);
	varint_put(out, schedule->nwaits);
	for (size_t i = 0; i < schedule->nwaits; i++)
		put_wait(out, &schedule->waits[i]);
	varint_put(out, schedule->nturns);
	for (size_t i = 0; i < schedule->nturns; i++)
		varint_put(out, schedule->turns[i].thread);
	for (size_t i = 0; i < schedule->nturns; i++)
		varint_put(out, kind_of(&schedule->turns[i]));
	for (size_t i = 0; i < schedule->nturns; i++)
		varint_put(out, schedule->turns[i].points);
	put_sites(out, schedule->turns, schedule->nturns);
	put_points(out, schedule);
	if (schedule->claim || schedule->fault.kind) {
		_cleanup_free_ char *claim =
			schedule->claim ? claim_text(schedule->claim) : memory_string("");

		varint_put(out, strlen(claim));
		bytes_put(out, claim, strlen(claim));
		put_fault(out, &schedule->fault);
	}
}

/* At the end, when there is one or a fault follows. */
static bool get_claim(struct reader *reader, struct schedule *out)
{
	if (reader->at == reader->end)
		return true;
	uint64_t size = varint_get(reader);

	if (reader->bad || size > (size_t)(reader->end - reader->at))
		return false;
	if (!size)
		return true;
	out->claim = memory_alloc(sizeof *out->claim);
	struct error *error = claim_parse((const char *)reader->at, size, "claim", out->claim);
	bool good = !error;

	error_free(error);
	reader->at += size;
	return good;
}

static bool get_head(struct reader *reader, struct schedule *out)
{
	out->points = varint_get(reader);
	out->contested = varint_get(reader);
	out->output = varint_get(reader);
	out->diverged_turn = varint_get(reader);
	out->diverged_thread = (uint32_t)varint_get(reader);
	out->diverged_site = varint_get(reader);
	uint64_t text = varint_get(reader);

	if (reader->bad || text > (size_t)(reader->end - reader->at))
		return false;
	if (text)
		out->uncontrolled = strndup((const char *)reader->at, text);
	reader->at += text;
	uint64_t waits = varint_get(reader);

	if (reader->bad || waits > (size_t)(reader->end - reader->at) / 9)
		return false;
	out->waits = memory_alloc(waits * sizeof *out->waits);
	for (; out->nwaits < waits; out->nwaits++)
		if (!get_wait(reader, &out->waits[out->nwaits]))
			return false;
	return true;
}

static bool get_turns(struct reader *reader, struct schedule *out)
{
	uint64_t n = varint_get(reader);

	if (reader->bad || n > (size_t)(reader->end - reader->at) / 4)
		return false;
	out->turns = memory_alloc(n * sizeof *out->turns);
	out->nturns = n;
	for (size_t i = 0; i < n; i++) {
		uint64_t thread = varint_get(reader);

		if (thread > UINT32_MAX)
			return false;
		out->turns[i].thread = (uint32_t)thread;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t kind = varint_get(reader);

		if (kind >= KINDS)
			return false;
		out->turns[i].wake = kind == KINDS - 1;
		out->turns[i].stop = kind == KINDS - 1 ? STOP_LAST : (enum schedule_stop)kind;
	}
	for (size_t i = 0; i < n; i++)
		out->turns[i].points = varint_get(reader);
	return get_sites(reader, out->turns, n) && !reader->bad;
}

/* Schedules of older stores end before this: every access is a point in them. */
static bool get_points(struct reader *reader, struct schedule *out)
{
	out->everywhere = reader->at == reader->end || varint_get(reader);
	uint64_t n = reader->at == reader->end ? 0 : varint_get(reader), last = 0;

	if (reader->bad || n > (size_t)(reader->end - reader->at))
		return false;
	out->sites = memory_alloc((n + 1) * sizeof *out->sites);
	for (; out->nsites < n; out->nsites++) {
		uint64_t step = varint_get(reader);

		if (reader->bad || (out->nsites && !step) || last + step < last)
			return false;
		out->sites[out->nsites] = last += step;
	}
	return get_claim(reader, out) && get_fault(reader, &out->fault);
}

bool codec_get_schedule(const void *bytes, size_t size, struct schedule *out)
{
	struct reader reader = reader_of(bytes, size);

	*out = (struct schedule){ 0 };
	if (get_head(&reader, out) && get_turns(&reader, out) && get_points(&reader, out))
		return true;
	schedule_free(out);
	return false;
}
