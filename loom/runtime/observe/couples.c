/* Couples (LOCON, Test Procedure III): a thread made a first access that others
 * followed up, and now follows up an access of others to the same or another
 * location, without having come back to the first in between. Then its two
 * accesses had others in between, which is fine unless they belong together.
 *
 * Each thread has two short memories: pairs it is the tail of, which only it
 * writes, and pairs it is the head of, which the tails' threads write. */
#include "loom/runtime/observe/cells.h"

static uint32_t order_gap(uint32_t a, uint32_t b)
{
	int32_t difference = (int32_t)(a - b);
	return (uint32_t)(difference < 0 ? -difference : difference);
}

/* Puts a pair into an entry that several threads may write: whoever makes the version
 * odd has it, others give up. The release makes the fields visible to who sees the
 * even version; the acquire keeps them behind the odd one. */
static void share_pair(struct recent_pair *entry, const struct recent_pair *pair)
{
	uint32_t version = RELAXED_GET(entry->version);
	if (version & 1 || !__atomic_compare_exchange_n(&entry->version, &version, version + 1, false,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	RELAXED_SET(entry->kind, pair->kind);
	RELAXED_SET(entry->head_site, pair->head_site);
	RELAXED_SET(entry->tail_site, pair->tail_site);
	RELAXED_SET(entry->other, pair->other);
	RELAXED_SET(entry->head_order, pair->head_order);
	RELAXED_SET(entry->tail_order, pair->tail_order);
	RELAXED_SET(entry->pair, pair->pair);
	RELAXED_SET(entry->address, pair->address);
	__atomic_store_n(&entry->version, version + 2, __ATOMIC_RELEASE);
}

/* A copy of an entry that others write; false when it is changing or empty. */
static bool copy_pair(const struct recent_pair *entry, struct recent_pair *out)
{
	uint32_t version = __atomic_load_n(&entry->version, __ATOMIC_ACQUIRE); /* share_pair's release */
	*out = (struct recent_pair){ .kind = RELAXED_GET(entry->kind),
				     .head_site = RELAXED_GET(entry->head_site),
				     .tail_site = RELAXED_GET(entry->tail_site),
				     .other = RELAXED_GET(entry->other),
				     .head_order = RELAXED_GET(entry->head_order),
				     .tail_order = RELAXED_GET(entry->tail_order),
				     .pair = RELAXED_GET(entry->pair),
				     .address = RELAXED_GET(entry->address) };
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return out->kind && !(version & 1) && RELAXED_GET(entry->version) == version;
}

/* From which order on this thread remembers all pairs it met. */
static uint32_t remembered_since(const struct thread *self, uint32_t now)
{
	uint32_t age = 0;
	if (!self->met_pairs.pairs[RECENT_PAIRS - 1].kind)
		return now - INT32_MAX;
	for (uint32_t i = 0; i < RECENT_PAIRS; i++)
		age = now - self->met_pairs.orders[i] > age ? now - self->met_pairs.orders[i] : age;
	return now - age;
}

/* Has `self` since come back to that location, after whomever? Then its part there is
 * another one. When it has met so many pairs that the oldest it remembers is younger
 * than `first`, nobody knows: then yes. */
static bool is_past(const struct thread *self, const struct recent_pair *first, uint32_t since)
{
	if ((int32_t)(since - first->head_order) > 0)
		return true;
	const struct recent_pairs *met = &self->met_pairs;
	for (uint32_t i = 0; i < RECENT_PAIRS; i++)
		if (met->addresses[i] == first->address && met->pairs[i].kind &&
		    (int32_t)(met->orders[i] - first->head_order) > 0)
			return true;
	return false;
}

static bool same_recent(const struct recent_pair *a, const struct recent_pair *b)
{
	return a->address == b->address && a->kind == b->kind && a->head_site == b->head_site &&
	       a->tail_site == b->tail_site && a->other == b->other;
}

#define NEXT_STEP 16u /* accesses of the writer between two steps of a walk over what it wrote */

/* The next location of a walk over what another thread wrote: it makes the couples that the one
 * before made, unless somebody has followed this thread up since. */
static bool same_step(const struct recent_pair *a, const struct recent_pair *b)
{
	return a->kind == b->kind && a->head_site == b->head_site && a->tail_site == b->tail_site &&
	       a->other == b->other && order_gap(a->head_order, b->head_order) <= NEXT_STEP;
}

static uint32_t recent_key(const struct recent_pair *pair)
{
	uint64_t sites = (uint64_t)pair->head_site << 32 | pair->tail_site;
	uint64_t hash = (pair->address ^ (uint64_t)pair->other << 48) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(((hash ^ sites) * 0xff51afd7ed558ccdu >> 32) + pair->kind);
}

/* The entry of a pair in a memory: where it already stands, or the oldest one's. `order` is of this memory's
 * thread. Of a memory that several threads write, one that puts in the same pair may not find it: then it
 * stands there twice. */
static struct recent_pair *recent_place(struct recent_pairs *recent, const struct recent_pair *pair,
					uint32_t order)
{
	uint32_t key = recent_key(pair), at = 0;
	while (at < RECENT_PAIRS &&
	       !(RELAXED_GET(recent->keys[at]) == key && same_recent(&recent->pairs[at], pair)))
		at++;
	if (at == RECENT_PAIRS)
		at = __atomic_fetch_add(&recent->next, 1, __ATOMIC_RELAXED) % RECENT_PAIRS;
	RELAXED_SET(recent->keys[at], key);
	RELAXED_SET(recent->orders[at], order);
	RELAXED_SET(recent->addresses[at], pair->address);
	return &recent->pairs[at];
}

/* Did the thread that followed `first` up come to `address` after that, before `other` did? Then what
 * `self` meets there is its doing too, though `other` stands between. `other` writes its memory
 * itself, so only under control, where it stands still, is that memory whole. */
static bool came_through(const struct thread *other, const struct recent_pair *first, uint64_t address)
{
	for (uint32_t i = 0; i < RECENT_PAIRS && runtime.controlled; i++) {
		const struct recent_pair *met = &other->met_pairs.pairs[i];
		if (met->kind && met->address == address && met->other == first->other &&
		    (int32_t)(met->head_order - first->tail_order) > 0)
			return true;
	}
	return false;
}

void couples_meet(struct thread *self, struct thread *other, uint32_t kind, uint64_t head, uint64_t tail,
		  uint64_t address, uint32_t number)
{
	uint32_t couples = self->new_couples;
	struct recent_pair pair = { .kind = kind,
				    .head_site = WORD_SITE(head),
				    .tail_site = WORD_SITE(tail),
				    .other = other->number,
				    .head_order = (uint32_t)thread_order(WORD_SLOT(head), WORD_ORDER(head)),
				    .tail_order = WORD_ORDER(tail),
				    .pair = number,
				    .address = address };
	uint32_t takes = RELAXED_GET(self->takes);
	bool alone = takes == self->seen_takes, walks = alone && same_step(&self->last_met, &pair);
	/* What was too long ago stays so until somebody follows this thread up again. */
	bool looks = !walks && !(alone && self->takes_are_past);
	uint32_t since = looks ? remembered_since(self, pair.tail_order) : 0, young = 0;
	for (uint32_t i = 0; i < RECENT_PAIRS && looks; i++) {
		struct recent_pair first;
		if ((int32_t)(since - RELAXED_GET(self->taken_pairs.orders[i])) > 0)
			continue;
		young++;
		if (!copy_pair(&self->taken_pairs.pairs[i], &first) || is_past(self, &first, since))
			continue;
		bool crossed = first.other == other->number
				       ? (int32_t)(pair.head_order - first.tail_order) < 0
				       : came_through(other, &first, address);
		observe_couple(self, first.pair, pair.pair, crossed,
			       order_gap(first.head_order, pair.tail_order));
	}
	uint32_t cost = walks ? 1 : COUPLES_LOOK;
	if (self->new_couples != couples)
		self->couples_left = COUPLES_PATIENCE;
	else
		self->couples_left = self->couples_left > cost ? self->couples_left - cost : 0;
	self->seen_takes = takes;
	if (looks)
		self->takes_are_past = !young;
	self->last_met = pair;
	*recent_place(&self->met_pairs, &pair, pair.tail_order) = pair;
	pair.other = self->number;
	share_pair(recent_place(&other->taken_pairs, &pair, pair.head_order), &pair);
	__atomic_fetch_add(&other->takes, 1, __ATOMIC_RELAXED);
}
