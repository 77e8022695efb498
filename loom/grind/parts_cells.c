/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A cell becomes parts when a second thread comes, and parts are a cell again when all
 * that others did was overwritten. */
#include "loom/grind/parts.h"

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

bool part_goes_on(const struct part *a, const struct part *b)
{
	const struct reader *x = part_readers((struct part *)a), *y = part_readers((struct part *)b);

	if (a->write != b->write || a->write_context != b->write_context || a->writer != b->writer ||
	    a->last_thread != b->last_thread || a->nreaders != b->nreaders)
		return false;
	for (uint32_t i = 0; i < a->nreaders; i++)
		if (x[i].word != y[i].word || x[i].thread != y[i].thread)
			return false;
	return true;
}

void note_stack(Addr address, uint32_t owner)
{
	struct thread *thread = thread_numbered(owner);

	if (thread && thread != grind.thread && thread_has_stack_at(thread, address) &&
	    address < thread->shared_low)
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

void parts_fill(struct cell *cell, const struct part *items, uint32_t n)
{
	cell->parts = parts_take(cell, n);
	cell->parts->n = (uint16_t)n;
	for (uint32_t i = 0; i < n; i++)
		cell->parts->items[i] = items[i];
}

void parts_make(struct cell *cell, Addr granule)
{
	struct part parts[8];
	uint32_t n = 0;

	for (uint32_t at = 0, step; at < 8; at += step) {
		step = at % 4 == 0 && is_even(cell, granule, at / 4) ? 4 : 1;
		parts[n] = part_of_byte(cell, granule, at);
		parts[n].to = (uint8_t)(at + step);
		if (n && part_goes_on(&parts[n - 1], &parts[n]))
			parts[n - 1].to = parts[n].to;
		else
			n++;
	}
	parts_forget_again(cell);
	parts_fill(cell, parts, n);
	for (uint32_t half = 0; half < 2; half++) {
		note_stack(granule, tag_thread(cell->tags[half]));
		cell->tags[half] = TAG_SHARED | (cell->tags[half] & TAG_DEAD);
	}
}

/* ---- back to a cell ---- */

bool parts_are_private(struct parts *parts, uint32_t me)
{
	if (grind.observes & OBSERVE_PREDECESSORS)
		return false;
	for (uint32_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->items[i];

		if (WORD_SITE(part->write) >= QUICK_SITES ||
		    (part->nreaders && WORD_SITE(part_readers(part)[0].word) >= QUICK_SITES) ||
		    !(part_is_own(part, me) || (!part->write && !part->nreaders)))
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
	uint64_t word = part->nreaders ? part_readers(part)[0].word : 0;

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

void parts_to_cell(struct cell *cell, Addr granule, uint32_t me)
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
	parts_give(cell);
}
