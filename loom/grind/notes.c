/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Large blocks are written as a whole, when they are freed for one, and mostly nobody
 * touches them again before they are forgotten. So such a write is noted once for
 * each chunk that nothing is known of; its cells are filled in when somebody comes. */
#include "loom/grind/shadow.h"

static struct note {
	uint64_t word;
	uint32_t thread, context;
} *notes; /* by chunk */

void note_write(Addr chunk, uint64_t word)
{
	if (!notes)
		notes = grind_reserve(sizeof *notes << (NEAR_BITS - CHUNK_BITS));
	notes[chunk] = (struct note){ word, grind.thread->number, grind.thread->context };
	shadow.touched[chunk] = NOTED;
}

void note_to_cells(Addr chunk)
{
	const struct note *note = &notes[chunk];
	uint64_t four = WORD_SITE(note->word) * 0x0001000100010001u;
	uint32_t order = (uint32_t)WORD_ORDER(note->word), tag = tag_of(note->thread) | TAG_FULL;
	struct cell *cell = cell_at(chunk << CHUNK_BITS);
	uint16_t *contexts = contexts_at(chunk << CHUNK_BITS);

	for (uint32_t i = 0; i < CHUNK && grind.observes & OBSERVE_EDGES; i++)
		contexts[i] = (uint16_t)note->context;
	shadow.touched[chunk] = TOUCHED;
	for (uint32_t i = 0; i < CHUNK / 8; i++, cell++) {
		for (uint32_t half = 0; half < 2; half++) {
			*(uint64_t *)(cell->write + 4 * half) = four;
			*(uint64_t *)(cell->read + 4 * half) = 0;
			cell->write_order[half] = order;
			cell->tags[half] = tag;
		}
	}
}
