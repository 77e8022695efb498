/* Couples (LOCON, Test Procedure III): while a pair goes from one thread to
 * another, is there one on another location, or on the same, that went back and
 * is still the last between the two there? Then neither thread's part came
 * wholly before the other's. Each thread keeps the last few pairs it met; others
 * read them without waiting, and take no entry that changes meanwhile. */
#include "loom/runtime/runtime.h"

/* The caller is the entry's only writer. Odd while it changes; the release makes
 * the fields visible to who sees the even version, the fence keeps them behind
 * the odd one. */
static void keep_pair(struct recent_pair *entry, const struct recent_pair *pair)
{
	uint32_t version = entry->version;
	__atomic_store_n(&entry->version, version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	RELAXED_SET(entry->kind, pair->kind);
	RELAXED_SET(entry->head_site, pair->head_site);
	RELAXED_SET(entry->tail_site, pair->tail_site);
	RELAXED_SET(entry->head_thread, pair->head_thread);
	RELAXED_SET(entry->head_order, pair->head_order);
	RELAXED_SET(entry->tail_order, pair->tail_order);
	RELAXED_SET(entry->address, pair->address);
	__atomic_store_n(&entry->version, version + 2, __ATOMIC_RELEASE);
}

/* A copy of another thread's entry; false when it is changing. */
static bool copy_pair(const struct recent_pair *entry, struct recent_pair *out)
{
	uint32_t version = __atomic_load_n(&entry->version, __ATOMIC_ACQUIRE); /* keep's release */
	*out = (struct recent_pair){ .kind = RELAXED_GET(entry->kind),
				     .head_site = RELAXED_GET(entry->head_site),
				     .tail_site = RELAXED_GET(entry->tail_site),
				     .head_thread = RELAXED_GET(entry->head_thread),
				     .head_order = RELAXED_GET(entry->head_order),
				     .tail_order = RELAXED_GET(entry->tail_order),
				     .address = RELAXED_GET(entry->address) };
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(version & 1) && RELAXED_GET(entry->version) == version && out->kind;
}

static uint32_t order_gap(uint32_t a, uint32_t b)
{
	int32_t difference = (int32_t)(a - b);
	return (uint32_t)(difference < 0 ? -difference : difference);
}

/* Has `self` since met a pair from `other` on that location? When it has met so many
 * that the oldest it remembers is younger than `first`, nobody knows: then yes. */
static bool is_past(const struct thread *self, const struct thread *other, const struct recent_pair *first)
{
	bool remembers = false;
	for (uint32_t i = 0; i < RECENT_PAIRS; i++) {
		const struct recent_pair *mine = &self->recent[i];
		bool since = (int32_t)(mine->tail_order - first->head_order) > 0;
		remembers |= !mine->kind || !since;
		if (mine->kind && since && mine->address == first->address &&
		    mine->head_thread == other->number)
			return true;
	}
	return !remembers;
}

/* The place for a pair: where it already stands, or the oldest one's. */
static struct recent_pair *recent_place(struct thread *self, const struct recent_pair *pair)
{
	for (uint32_t i = 0; i < RECENT_PAIRS; i++) {
		struct recent_pair *mine = &self->recent[i];
		if (mine->kind == pair->kind && mine->address == pair->address &&
		    mine->head_site == pair->head_site && mine->tail_site == pair->tail_site &&
		    mine->head_thread == pair->head_thread)
			return mine;
	}
	return &self->recent[self->next_recent++ % RECENT_PAIRS];
}

void couples_meet(struct thread *self, const struct thread *other, uint32_t kind, uint64_t head,
		  uint64_t tail, uint64_t address)
{
	const struct recent_pair pair = { .kind = kind,
					  .head_site = WORD_SITE(head),
					  .tail_site = WORD_SITE(tail),
					  .head_thread = other->number,
					  .head_order = WORD_ORDER(head),
					  .tail_order = WORD_ORDER(tail),
					  .address = address };
	for (uint32_t i = 0; i < RECENT_PAIRS; i++) {
		struct recent_pair first;
		if (RELAXED_GET(other->recent[i].head_thread) != self->number ||
		    !copy_pair(&other->recent[i], &first) || first.head_thread != self->number ||
		    is_past(self, other, &first))
			continue;
		observe_couple(self, &(struct area_couple){ .first_kind = first.kind,
							    .second_kind = kind,
							    .first_head = first.head_site,
							    .first_tail = first.tail_site,
							    .second_head = pair.head_site,
							    .second_tail = pair.tail_site,
							    .near = self->number,
							    .far = other->number,
							    .span = order_gap(first.head_order, pair.tail_order) +
								    order_gap(first.tail_order, pair.head_order) });
	}
	keep_pair(recent_place(self, &pair), &pair);
}
