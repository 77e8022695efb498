/* LOCON, Test Procedure III: couples of pairs on different locations, opposite
 * ways between two threads, each usual by itself, never together in a run that
 * passed. The work is bounded: of very many pairs only those that are near to
 * each other in their threads are put together, and the answer says so.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/locon/procedure_three.h"
#include "base/hash.h"

#define MOST_LOOKED 3000000u /* couples looked at */
#define NEIGHBOURS 32u       /* that follow, where not all can be looked at */
#define ALL_BELOW 3000u      /* so many pairs are all put together with all others */
#define MOST_COUPLES 1000u   /* kept for the filter */
#define LEAST_SURE 3.0       /* couples that chance keeps apart in one of twenty cases are no news */
#define LEAST_BOTH 5.0       /* passing runs with both pairs, for the finer levels */

bool locon_opposed(const struct pair *a, const struct pair *b)
{
	return a->head_thread == b->tail_thread && a->tail_thread == b->head_thread &&
	       a->head_thread != a->tail_thread;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

uint64_t locon_span(const struct pair *a, const struct pair *b)
{
	return distance(a->head_order, b->tail_order) + distance(a->tail_order, b->head_order);
}

/* Step 1: pairs that show in the failed run, and in some passing runs but not in all. */
static void collect(const struct locon *locon, enum locon_level level, struct third *third)
{
	const struct locon_run *failed = &locon->input->failed;
	size_t n = locon->input->npassed;

	for (size_t i = 0; i < failed->npairs; i++) {
		const struct locon_key *key = &locon->keys.items[locon_key_of_failed(locon, i)];

		if (!key->passed || (level == LOCON_SITE && (key->passed == n || key->first != i)))
			continue;
		*VEC_PUSH(&third->members) =
			(struct third_member){ .at = (uint32_t)i, .key = locon_key_of_failed(locon, i) };
	}
}

/* The runs that show a key which all of them show. */
static void fill_row(const struct third *third, uint32_t key, size_t runs)
{
	uint64_t *row = third->masks + (size_t)third->row[key] * third->words;

	for (size_t w = 0; w < third->words; w++, runs -= 64)
		row[w] = runs >= 64 ? UINT64_MAX : (1ull << runs) - 1;
}

/* One bit per passing run for each key that takes part. */
static void make_masks(const struct locon *locon, struct third *third)
{
	const struct locon_input *input = locon->input;
	_cleanup_free_ uint32_t *members = memory_alloc((input->npairs + 1) * sizeof *members);
	uint32_t rows = 0;

	third->words = (input->npassed + 63) / 64;
	third->row = memory_alloc((locon->keys.n + 1) * sizeof *third->row);
	memset(third->row, 0xff, (locon->keys.n + 1) * sizeof *third->row);
	for (size_t i = 0; i < third->members.n; i++)
		if (third->row[third->members.items[i].key] == LOCON_NONE)
			third->row[third->members.items[i].key] = rows++;
	third->masks = memory_alloc(((size_t)rows * third->words + 1) * sizeof *third->masks);
	for (uint32_t key = 0; key < locon->keys.n; key++)
		if (third->row[key] != LOCON_NONE && locon->keys.items[key].passed == input->npassed)
			fill_row(third, key, input->npassed);
	for (size_t r = 0; r < input->npassed; r++) {
		_cleanup_(third_bitmap_freep) roaring_bitmap_t *rest =
			roaring_bitmap_andnot(input->passed[r], locon->always);
		size_t n = (size_t)roaring_bitmap_get_cardinality(rest);

		roaring_bitmap_to_uint32_array(rest, members);
		for (size_t i = 0; i < n; i++) {
			size_t row = third->row[locon->key_of[members[i]]];

			if (row != LOCON_NONE)
				third->masks[row * third->words + r / 64] |= 1ull << (r % 64);
		}
	}
}

static size_t together(const struct third *third, uint32_t a, uint32_t b)
{
	const uint64_t *left = third->masks + (size_t)third->row[a] * third->words;
	const uint64_t *right = third->masks + (size_t)third->row[b] * third->words;
	size_t n = 0;

	for (size_t w = 0; w < third->words; w++)
		n += (size_t)__builtin_popcountll(left[w] & right[w]);
	return n;
}

/* Step 2 for one couple: is it news that they come together? */
static void look(const struct locon *locon, enum locon_level level, struct third *third, uint32_t a,
		 uint32_t b, struct locon_couples *out)
{
	const struct locon_run *failed = &locon->input->failed;
	const struct pair *p = &failed->pairs[a], *q = &failed->pairs[b];
	uint32_t p_key = locon_key_of_failed(locon, a), q_key = locon_key_of_failed(locon, b);
	double expected;

	out->looked++;
	if (p->address == q->address || !locon_opposed(p, q))
		return;
	size_t both = together(third, p_key, q_key);

	if (level == LOCON_SITE) {
		if (both)
			return;
		expected = (double)locon->keys.items[p_key].passed * locon->keys.items[q_key].passed /
			   (double)locon->input->npassed;
		if (expected < LEAST_SURE)
			return;
	} else {
		if ((double)both < LEAST_BOTH)
			return;
		expected = level == LOCON_THREAD ? third_threads(locon, third, p_key, q_key)
						 : third_loops(locon, third, p, q, p_key, q_key);
		if (expected < LEAST_BOTH)
			return;
	}
	/* The one that begins first in the thread of its head comes first. */
	bool turn = q->tail_order < p->head_order;

	*VEC_PUSH(out) = (struct locon_couple){
		.first = turn ? b : a, .second = turn ? a : b, .expected = expected, .span = locon_span(p, q)
	};
}

struct by_thread {
	uint64_t order; /* of its end in the lower of the two threads */
	uint32_t at;
	bool up; /* from there to the other */
};

/* The members between two threads: `sorted` from `first` on. */
struct group {
	uint32_t low, high;
	bool up, down;
	size_t first, n;
};

struct groups {
	VEC(struct group) list;
	uint32_t *of; /* each member */
	struct by_thread *sorted;
};

static void groups_free(struct groups *groups)
{
	VEC_FREE(&groups->list);
	free(groups->of);
	free(groups->sorted);
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->high < b->high ? -1 : a->high > b->high;
}

static int compare_orders(const void *left, const void *right)
{
	const struct by_thread *a = left, *b = right;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static void count_groups(const struct locon *locon, const struct third *third, struct groups *groups)
{
	_cleanup_(map_free) struct map numbers = { 0 };

	groups->of = memory_alloc((third->members.n + 1) * sizeof *groups->of);
	for (size_t i = 0; i < third->members.n; i++) {
		const struct pair *pair = &locon->input->failed.pairs[third->members.items[i].at];
		bool up = pair->head_thread < pair->tail_thread, fresh;
		uint32_t low = up ? pair->head_thread : pair->tail_thread,
			 high = up ? pair->tail_thread : pair->head_thread;
		uint64_t *number = map_put(&numbers, (uint64_t)low << 32 | high, &fresh);

		if (fresh) {
			*number = groups->list.n;
			*VEC_PUSH(&groups->list) = (struct group){ .low = low, .high = high };
		}
		struct group *group = &groups->list.items[*number];

		group->up |= up;
		group->down |= !up;
		group->n++;
		groups->of[i] = (uint32_t)*number;
	}
}

/* Puts the members of each group that goes both ways together, in their thread's order. */
static void sort_by_thread(const struct locon *locon, const struct third *third, struct groups *groups)
{
	size_t n = 0;

	count_groups(locon, third, groups);
	for (size_t i = 0; i < groups->list.n; i++) {
		struct group *group = &groups->list.items[i];

		group->first = n;
		n += group->up && group->down ? group->n : 0;
		group->n = 0;
	}
	groups->sorted = memory_alloc((n + 1) * sizeof *groups->sorted);
	for (size_t i = 0; i < third->members.n; i++) {
		struct group *group = &groups->list.items[groups->of[i]];
		uint32_t at = third->members.items[i].at;
		const struct pair *pair = &locon->input->failed.pairs[at];
		bool up = pair->head_thread < pair->tail_thread;

		if (group->up && group->down)
			groups->sorted[group->first + group->n++] = (struct by_thread){
				.order = up ? pair->head_order : pair->tail_order, .at = at, .up = up
			};
	}
	for (size_t i = 0; i < groups->list.n; i++)
		if (groups->list.items[i].n)
			qsort(groups->sorted + groups->list.items[i].first, groups->list.items[i].n,
			      sizeof *groups->sorted, compare_orders);
	if (groups->list.n)
		qsort(groups->list.items, groups->list.n, sizeof *groups->list.items, compare_groups);
}

/* False: that was enough. */
static bool look_at_group(const struct locon *locon, enum locon_level level, struct third *third,
			  const struct by_thread *sorted, size_t n, struct locon_couples *out)
{
	size_t window = third->members.n <= ALL_BELOW ? n : NEIGHBOURS;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			if (j - i > window || out->looked >= MOST_LOOKED || out->n >= MOST_COUPLES) {
				out->cut = true;
				break;
			}
			if (sorted[j].up != sorted[i].up)
				look(locon, level, third, sorted[i].at, sorted[j].at, out);
		}
		if (out->looked >= MOST_LOOKED || out->n >= MOST_COUPLES)
			return false;
	}
	return true;
}

static void look_at_all(const struct locon *locon, enum locon_level level, struct third *third,
			struct locon_couples *out)
{
	_cleanup_(groups_free) struct groups groups = { 0 };

	sort_by_thread(locon, third, &groups);
	for (size_t i = 0; i < groups.list.n; i++)
		if (!look_at_group(locon, level, third, groups.sorted + groups.list.items[i].first,
				   groups.list.items[i].n, out))
			break;
}

/* Moments: the nearer the two accesses of the thread, the likelier they belong together. */
static int compare_moments(const void *left, const void *right)
{
	const struct locon_couple *a = left, *b = right;

	if (a->passed != b->passed)
		return a->passed < b->passed ? -1 : 1;
	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	if (a->expected != b->expected)
		return a->expected > b->expected ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->second < b->second ? -1 : a->second > b->second;
}

static int compare_couples(const void *left, const void *right)
{
	const struct locon_couple *a = left, *b = right;

	if (a->expected != b->expected)
		return a->expected > b->expected ? -1 : 1;
	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->second < b->second ? -1 : a->second > b->second;
}

/* Step 3: a couple of which one pair implies a pair of another couple, but is not
 * implied by it, is not the cause. */
static void drop_predicting(const struct locon *locon, struct locon_couples *list)
{
	const struct pair *pairs = locon->input->failed.pairs;
	_cleanup_free_ bool *dropped = memory_alloc(list->n + 1);
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++)
		for (size_t j = 0; j < list->n && !dropped[i]; j++) {
			const struct pair *mine[] = { &pairs[list->items[i].first],
						      &pairs[list->items[i].second] };
			const struct pair *other[] = { &pairs[list->items[j].first],
						       &pairs[list->items[j].second] };
			bool implies = false, implied = false;

			for (int a = 0; a < 2; a++)
				for (int b = 0; b < 2; b++) {
					implies |= locon_predictable(other[b], mine[a]);
					implied |= locon_predictable(mine[a], other[b]);
				}
			/* Both ways: each stays, or all would go. */
			dropped[i] = implies && !implied;
		}
	for (size_t i = 0; i < list->n; i++)
		if (!dropped[i])
			list->items[kept++] = list->items[i];
	list->n = kept;
}

void locon_third(const struct locon *locon, enum locon_level level, struct locon_couples *out)
{
	_cleanup_(third_free) struct third third = { 0 };

	*out = (struct locon_couples){ 0 };
	if (!locon->input->npassed)
		return;
	if (level == LOCON_MOMENT) {
		third_stale(locon, out);
		if (!out->n)
			third_moments(locon, out);
	} else {
		if (level == LOCON_LOOP && !locon->input->details)
			return;
		collect(locon, level, &third);
		make_masks(locon, &third);
		if (level == LOCON_THREAD)
			third_variants(locon, &third);
		look_at_all(locon, level, &third, out);
		drop_predicting(locon, out);
	}
	if (out->n)
		qsort(out->items, out->n, sizeof *out->items,
		      level == LOCON_MOMENT ? compare_moments : compare_couples);
}
