/* Falcon's patterns and scores. A window of accesses per location gives patterns
 * online in the original; here they come from the pairs that were recorded, so
 * the same data serve both methods.
 */
#include "analysis/falcon.h"

#include <stdlib.h>

#include "base/hash.h"

unsigned falcon_triple(const struct pair *ab, const struct pair *bc)
{
	bool a = ab->kind != PAIR_READ_WRITE, b = ab->kind != PAIR_WRITE_READ,
	     c = bc->kind != PAIR_WRITE_READ;

	if (!locon_opposed(ab, bc) || ab->address != bc->address || ab->tail_order != bc->head_order ||
	    ab->tail_site != bc->head_site || b != (bc->kind != PAIR_READ_WRITE))
		return 0;
	if (b)
		return a ? (c ? 0 : 4) : (c ? 5 : 6);
	return a && c ? 7 : 0;
}

struct link {
	uint64_t event; /* thread and order of b */
	uint32_t at;
};

static int compare_links(const void *left, const void *right)
{
	const struct link *a = left, *b = right;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static uint64_t event_of(uint32_t thread, uint64_t order)
{
	return (uint64_t)thread << 44 | (order & ((1ull << 44) - 1));
}

/* Calls `found` for each pattern of a run: every pair, and every triple. */
static void each_pattern(const struct locon_run *run,
			 void (*found)(void *context, uint32_t first, uint32_t last), void *context)
{
	_cleanup_free_ struct link *links = memory_alloc((run->npairs + 1) * sizeof *links);

	for (size_t i = 0; i < run->npairs; i++)
		links[i] = (struct link){ event_of(run->pairs[i].head_thread, run->pairs[i].head_order),
					  (uint32_t)i };
	qsort(links, run->npairs, sizeof *links, compare_links);
	for (size_t i = 0; i < run->npairs; i++) {
		const struct pair *pair = &run->pairs[i];
		uint64_t event = event_of(pair->tail_thread, pair->tail_order);
		size_t low = 0, high = run->npairs;

		found(context, (uint32_t)i, LOCON_NONE);
		while (low < high) {
			size_t middle = (low + high) / 2;

			if (links[middle].event < event)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < run->npairs && links[low].event == event; low++)
			if (falcon_triple(pair, &run->pairs[links[low].at]))
				found(context, (uint32_t)i, links[low].at);
	}
}

static uint64_t pack(uint32_t ab, uint32_t bc)
{
	return (uint64_t)ab << 32 | bc;
}

struct count {
	const struct locon *locon;
	const struct locon_run *run;
	struct map *places; /* pattern to its place in `out` plus 1 */
	struct map seen;    /* patterns of this run */
	struct falcon_patterns *out;
	bool failed;
};

static void note(void *context, uint32_t first, uint32_t last)
{
	struct count *count = context;
	const uint32_t *key_of = count->locon->key_of;
	uint32_t ab = key_of[count->run->indexes[first]],
		 bc = last == LOCON_NONE ? LOCON_NONE : key_of[count->run->indexes[last]];
	bool fresh;

	if (count->failed) {
		uint64_t *place = map_put(count->places, pack(ab, bc), &fresh);

		if (!fresh)
			return;
		*VEC_PUSH(count->out) =
			(struct falcon_pattern){ .ab = ab, .bc = bc, .first = first, .last = last };
		*place = count->out->n;
		return;
	}
	const uint64_t *place = map_get(count->places, pack(ab, bc));

	if (!place)
		return;
	map_put(&count->seen, pack(ab, bc), &fresh);
	if (fresh)
		count->out->items[*place - 1].passed++;
}

static int compare_patterns(const void *left, const void *right)
{
	const struct falcon_pattern *a = left, *b = right;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->last < b->last ? -1 : a->last > b->last;
}

void falcon_rank(const struct locon *locon, struct falcon_patterns *out)
{
	_cleanup_(map_free) struct map places = { 0 };
	struct count count = { locon, &locon->input->failed, &places, { 0 }, out, true };

	*out = (struct falcon_patterns){ 0 };
	each_pattern(count.run, note, &count);
	count.failed = false;
	for (size_t r = 0; locon->input->details && r < locon->input->npassed; r++) {
		count.run = &locon->input->details[r];
		each_pattern(count.run, note, &count);
		map_free(&count.seen);
	}
	for (size_t i = 0; i < out->n; i++)
		out->items[i].score = 1 / (1 + (double)out->items[i].passed);
	if (out->n)
		qsort(out->items, out->n, sizeof *out->items, compare_patterns);
}
