/* LOCON, Test Procedure I: pairs that only the failed run shows. */
#include <stdlib.h>

#include "analysis/locon/locon.h"

bool locon_predictable(const struct pair *a, const struct pair *b)
{
	return a->head_thread == b->head_thread && a->tail_thread == b->tail_thread &&
	       a->head_order <= b->head_order && b->tail_order <= a->tail_order &&
	       (a->head_order != b->head_order || a->tail_order != b->tail_order);
}

static bool knows(const roaring_bitmap_t *places, uint32_t place)
{
	return !places || roaring_bitmap_contains(places, place);
}

/* Step 1: what passing runs do not show, each key once. */
static void collect(const struct locon *locon, uint32_t tolerance, struct locon_suspects *out)
{
	const struct locon_input *input = locon->input;

	for (size_t i = 0; i < input->failed.npairs; i++) {
		uint32_t number = locon_key_of_failed(locon, i);
		const struct locon_key *key = &locon->keys.items[number];

		if (key->passed > tolerance || key->first != i)
			continue;
		bool usual = knows(input->ran_passing, key->head) && knows(input->ran_passing, key->tail);

		*VEC_PUSH(out) =
			(struct locon_suspect){ .at = (uint32_t)i, .key = number, .consequence = !usual };
	}
}

struct span {
	const struct pair *pair;
	uint32_t at; /* in the list of suspects */
};

/* By threads, then the wider first. */
static int compare_spans(const void *left, const void *right)
{
	const struct pair *a = ((const struct span *)left)->pair, *b = ((const struct span *)right)->pair;

	if (a->head_thread != b->head_thread)
		return a->head_thread < b->head_thread ? -1 : 1;
	if (a->tail_thread != b->tail_thread)
		return a->tail_thread < b->tail_thread ? -1 : 1;
	if (a->head_order != b->head_order)
		return a->head_order < b->head_order ? -1 : 1;
	return (b->tail_order > a->tail_order) - (b->tail_order < a->tail_order);
}

/* Step 2: of two pairs where one implies the other, the one that implies is not
 * the cause, since it could be turned round and the implied one would still be
 * there. With the pairs of two threads in order of their heads, wider ones
 * first, a pair implies another when a tail before it is as late as its own. */
static void drop_predicting(const struct locon *locon, struct locon_suspects *list)
{
	_cleanup_free_ struct span *spans = memory_alloc((list->n + 1) * sizeof *spans);
	_cleanup_free_ bool *dropped = memory_alloc(list->n + 1);
	const struct pair *widest = NULL;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < list->n; i++)
		if (!list->items[i].consequence)
			spans[n++] =
				(struct span){ &locon->input->failed.pairs[list->items[i].at], (uint32_t)i };
	qsort(spans, n, sizeof *spans, compare_spans);
	for (size_t i = 0; i < n; i++) {
		const struct pair *pair = spans[i].pair;

		if (!widest || widest->head_thread != pair->head_thread ||
		    widest->tail_thread != pair->tail_thread)
			widest = pair;
		else if (locon_predictable(widest, pair))
			dropped[spans[i].at] = true;
		else if (widest->tail_order < pair->tail_order)
			widest = pair;
	}
	for (size_t i = 0; i < list->n; i++)
		if (!dropped[i])
			list->items[kept++] = list->items[i];
	list->n = kept;
}

/* Step 3: order of occurrence; what can only be a consequence goes last. */
static int compare_suspects(const void *left, const void *right)
{
	const struct locon_suspect *a = left, *b = right;

	if (a->consequence != b->consequence)
		return a->consequence ? 1 : -1;
	return a->at < b->at ? -1 : a->at > b->at;
}

void locon_first(const struct locon *locon, uint32_t tolerance, bool all, struct locon_suspects *out)
{
	*out = (struct locon_suspects){ 0 };
	collect(locon, tolerance, out);
	if (!all)
		drop_predicting(locon, out);
	if (out->n)
		qsort(out->items, out->n, sizeof *out->items, compare_suspects);
}
