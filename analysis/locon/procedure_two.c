/* LOCON, Test Procedure II: pairs that passing runs always show and the failed
 * run lacks, because it read too early and died of it. The suspect is the
 * reversed pair, whose tail may never have run.
 */
#include <stdlib.h>

#include "analysis/locon/locon.h"

#define LEAST_TOGETHER 3u /* passing runs that must show two coupled pairs */

static bool ran(const struct locon *locon, uint32_t place)
{
	return !locon->input->ran || roaring_bitmap_contains(locon->input->ran, place);
}

/* Missing in the failed run, and not because the other order is fine as well. */
static bool is_missing(const struct locon *locon, uint32_t number)
{
	const struct locon_key *key = &locon->keys.items[number];
	uint32_t reversed = locon_reversed(locon, number);

	if (key->first != LOCON_NONE || !ran(locon, key->tail))
		return false;
	if (reversed != LOCON_NONE && reversed != number &&
	    (locon->keys.items[reversed].passed || locon->keys.items[reversed].first != LOCON_NONE))
		return false;
	return true;
}

static void add(const struct locon *locon, uint32_t number, uint32_t partner, struct locon_missings *out)
{
	const roaring_bitmap_t *places = locon->input->ran;
	const struct locon_key *key = &locon->keys.items[number];

	*VEC_PUSH(out) = (struct locon_missing){
		.key = number,
		.partner = partner,
		.order = LOCON_NONE,
		.cut_off = places && !roaring_bitmap_contains(places, key->head),
	};
}

struct group_member {
	uint64_t signature;
	uint32_t key;
};

static int compare_members(const void *left, const void *right)
{
	const struct group_member *a = left, *b = right;

	if (a->signature != b->signature)
		return a->signature < b->signature ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

/* Pairs of one group always came together. Is there one of another location in
 * the failed run? Two pairs of one location share a place as a rule. */
static uint32_t partner_of(const struct locon *locon, const struct group_member *group, size_t n,
			   uint32_t number)
{
	const struct locon_key *key = &locon->keys.items[number];
	uint32_t best = LOCON_NONE;

	for (size_t i = 0; i < n; i++) {
		const struct locon_key *other = &locon->keys.items[group[i].key];

		if (other->first == LOCON_NONE || other->head == key->head || other->tail == key->tail ||
		    other->head == key->tail || other->tail == key->head)
			continue;
		if (best == LOCON_NONE || other->first < locon->keys.items[best].first)
			best = group[i].key;
	}
	return best;
}

/* Steps 1.2 and 2.2: coupled pairs, of which the failed run shows only one. */
static void add_coupled(const struct locon *locon, struct locon_missings *out)
{
	_cleanup_free_ struct group_member *members = memory_alloc((locon->keys.n + 1) * sizeof *members);
	size_t n = 0;

	for (size_t i = 0; i < locon->keys.n; i++) {
		const struct locon_key *key = &locon->keys.items[i];

		if (key->passed >= LEAST_TOGETHER && key->passed < locon->input->npassed)
			members[n++] = (struct group_member){ key->signature, (uint32_t)i };
	}
	qsort(members, n, sizeof *members, compare_members);
	for (size_t from = 0, to; from < n; from = to) {
		size_t present = 0;

		for (to = from; to < n && members[to].signature == members[from].signature; to++)
			present += locon->keys.items[members[to].key].first != LOCON_NONE;
		if (!present || present == to - from)
			continue;
		for (size_t i = from; i < to; i++) {
			if (!is_missing(locon, members[i].key))
				continue;
			uint32_t partner = partner_of(locon, members + from, to - from, members[i].key);

			if (partner != LOCON_NONE)
				add(locon, members[i].key, partner, out);
		}
	}
}

/* Step 3: order of occurrence, taken from the reference run. */
static void find_orders(const struct locon *locon, struct locon_missings *list)
{
	const struct locon_input *input = locon->input;
	_cleanup_free_ uint32_t *order = NULL;

	if (!list->n)
		return;
	order = memory_alloc(locon->keys.n * sizeof *order);
	for (size_t i = 0; i < locon->keys.n; i++)
		order[i] = LOCON_NONE;
	for (size_t i = input->nreference; i-- > 0;)
		order[locon->key_of[input->reference[i]]] = (uint32_t)i;
	for (size_t i = 0; i < list->n; i++)
		list->items[i].order = order[list->items[i].key];
}

static int compare_missing(const void *left, const void *right)
{
	const struct locon_missing *a = left, *b = right;

	if (a->cut_off != b->cut_off)
		return a->cut_off ? -1 : 1;
	if ((a->partner == LOCON_NONE) != (b->partner == LOCON_NONE))
		return a->partner == LOCON_NONE ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

void locon_second(const struct locon *locon, struct locon_missings *out)
{
	*out = (struct locon_missings){ 0 };
	if (!locon->input->npassed)
		return;
	/* Steps 1.1 and 2.1 */
	for (size_t i = 0; i < locon->keys.n; i++)
		if (locon->keys.items[i].passed == locon->input->npassed && is_missing(locon, (uint32_t)i))
			add(locon, (uint32_t)i, LOCON_NONE, out);
	add_coupled(locon, out);
	find_orders(locon, out);
	if (out->n)
		qsort(out->items, out->n, sizeof *out->items, compare_missing);
}
