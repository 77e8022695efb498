/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Couples (LOCON, Test Procedure III): a thread made a first access that others
 * followed up, and now follows up an access of others to the same or another
 * location, without having come back to the first in between. Each thread
 * remembers the last pairs that it is the tail of and those it is the head of. */
#include "loom/grind/tool.h"

#define RECENT 32u
#define PATIENCE 20000u /* pairs without a new couple after which a thread stops looking */

struct recent_pair {
	uint32_t kind, head_site, tail_site, other, number; /* kind 0: none */
	uint64_t head_order, tail_order;
	Addr address;
};

struct recent_pairs {
	struct recent_pair pairs[RECENT];
	uint32_t next;
	uint32_t patience;
};

static struct recent_pairs *memory(struct recent_pairs **place)
{
	if (!*place) {
		*place = VG_(calloc)("grind.couples", 1, sizeof **place);
		(*place)->patience = PATIENCE;
	}
	return *place;
}

static bool is_same(const struct recent_pair *a, const struct recent_pair *b)
{
	return a->address == b->address && a->kind == b->kind && a->head_site == b->head_site &&
	       a->tail_site == b->tail_site && a->other == b->other;
}

static void remember(struct recent_pairs *recent, const struct recent_pair *pair)
{
	uint32_t at = 0;

	while (at < RECENT && !is_same(&recent->pairs[at], pair))
		at++;
	if (at == RECENT)
		at = recent->next++ % RECENT;
	recent->pairs[at] = *pair;
}

/* From which order on this thread remembers all pairs that it met. */
static uint64_t remembered_since(const struct recent_pairs *met)
{
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = 0; i < RECENT; i++) {
		if (!met->pairs[i].kind)
			return 0;
		if (met->pairs[i].tail_order < oldest)
			oldest = met->pairs[i].tail_order;
	}
	return oldest;
}

/* Has the thread come back to that location since, after whomever? When that is not known: yes. */
static bool is_past(const struct recent_pairs *met, const struct recent_pair *first, uint64_t since)
{
	if (since > first->head_order)
		return true;
	for (uint32_t i = 0; i < RECENT; i++)
		if (met->pairs[i].kind && met->pairs[i].address == first->address &&
		    met->pairs[i].tail_order > first->head_order)
			return true;
	return false;
}

/* Did the thread that followed `first` up come to `address` after that, before `other` did? */
static bool came_through(const struct recent_pairs *met, const struct recent_pair *first, Addr address)
{
	for (uint32_t i = 0; i < RECENT; i++)
		if (met->pairs[i].kind && met->pairs[i].address == address &&
		    met->pairs[i].other == first->other && met->pairs[i].head_order > first->tail_order)
			return true;
	return false;
}

void couples_meet(struct thread *other, uint32_t kind, uint64_t head, uint64_t tail, Addr address,
		  uint32_t number)
{
	struct recent_pairs *met = memory(&grind.thread->met), *taken = memory(&grind.thread->taken);
	struct recent_pair pair = { .kind = kind,
				    .head_site = WORD_SITE(head),
				    .tail_site = WORD_SITE(tail),
				    .other = other->number,
				    .number = number,
				    .head_order = WORD_ORDER(head),
				    .tail_order = WORD_ORDER(tail),
				    .address = address };

	if (grind.head->control.light || !met->patience) {
		grind.thread->has_couples = true;
		return;
	}
	met->patience--;
	uint64_t since = remembered_since(met);

	for (uint32_t i = 0; i < RECENT; i++) {
		const struct recent_pair *first = &taken->pairs[i];

		if (!first->kind || is_past(met, first, since))
			continue;
		bool crossed = first->other == other->number
				       ? pair.head_order < first->tail_order
				       : came_through(memory(&other->met), first, address);

		if (log_couple(first->number, number, crossed,
			       (uint32_t)(pair.tail_order - first->head_order)))
			met->patience = PATIENCE;
	}
	remember(met, &pair);
	pair.other = grind.thread->number;
	remember(memory(&other->taken), &pair);
}
