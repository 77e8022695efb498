/* What a run knows of its pairs beyond their identity, as bytes. Addresses move
 * from run to run with the program's layout, so a run keeps its own sorted list
 * of them and a pair names one by its place in that list.
 *
 * Columns: how many pairs; their interned indexes; orders of head and tail, as
 * steps within each thread; how many addresses; the addresses; each pair's place
 * among them; loop points of the heads; loop points of the tails; and when there
 * are couples, how many, and of each the places of both pairs and the span.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "store/codec.h"

#define PAIR_LEAST 6 /* bytes a pair takes at least: index, two orders, address, two loop points */
#define COUPLE_LEAST 3

static int compare(const void *left, const void *right)
{
	uint64_t a, b;

	memcpy(&a, left, sizeof a);
	memcpy(&b, right, sizeof b);
	return (a > b) - (a < b);
}

/* The distinct addresses of the pairs in rising order; gives their number. */
static size_t sorted_addresses(const struct pair *pairs, size_t n, uint64_t *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		out[i] = pairs[i].address;
	qsort(out, n, sizeof *out, compare);
	for (size_t i = 0; i < n; i++)
		if (!kept || out[kept - 1] != out[i])
			out[kept++] = out[i];
	return kept;
}

static void put_addresses(struct bytes *out, const struct pair *pairs, size_t n)
{
	_cleanup_free_ uint64_t *addresses = memory_alloc(n * sizeof *addresses);
	size_t kept = sorted_addresses(pairs, n, addresses);
	uint64_t last = 0;

	varint_put(out, kept);
	for (size_t i = 0; i < kept; last = addresses[i++])
		varint_put(out, addresses[i] - last);
	last = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t *found = bsearch(&pairs[i].address, addresses, kept, sizeof *addresses, compare);
		uint64_t place = (uint64_t)(found - addresses);

		varint_put_step(out, last, place);
		last = place;
	}
}

static bool get_addresses(struct reader *reader, struct pair *pairs, size_t n)
{
	uint64_t kept = varint_get(reader), last = 0;

	if (kept > n)
		return false;
	_cleanup_free_ uint64_t *addresses = memory_alloc(kept * sizeof *addresses);

	for (uint64_t i = 0; i < kept; i++)
		addresses[i] = last += varint_get(reader);
	last = 0;
	for (size_t i = 0; i < n; i++) {
		last = varint_get_step(reader, last);
		if (last >= kept)
			return false;
		pairs[i].address = addresses[last];
	}
	return !reader->bad;
}

/* Orders rise with time in each thread, so a step from the thread's last known
 * order is short. A pair's head comes before its tail. */
static void put_orders(struct bytes *out, const struct pair *pairs, size_t n)
{
	_cleanup_(map_free) struct map threads = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint64_t *last = map_put(&threads, pairs[i].head_thread, NULL);

		varint_put_step(out, *last, pairs[i].head_order);
		*last = pairs[i].head_order;
		last = map_put(&threads, pairs[i].tail_thread, NULL);
		varint_put_step(out, *last, pairs[i].tail_order);
		*last = pairs[i].tail_order;
	}
}

static bool get_orders(struct reader *reader, struct pair *pairs, size_t n)
{
	_cleanup_(map_free) struct map threads = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint64_t *last = map_put(&threads, pairs[i].head_thread, NULL);

		pairs[i].head_order = *last = varint_get_step(reader, *last);
		last = map_put(&threads, pairs[i].tail_thread, NULL);
		pairs[i].tail_order = *last = varint_get_step(reader, *last);
	}
	return !reader->bad;
}

/* 0 outside of loops; else the loop's site as a step from the access, then entry
 * and iteration. All three plus one: the step to leave 0 free, the others to let
 * "unknown" wrap to 0. */
static void put_loop(struct bytes *out, const struct loop_point *loop, uint32_t site)
{
	if (loop->site == LOOP_NONE) {
		varint_put(out, 0);
		return;
	}
	varint_put(out, varint_step(site, loop->site) + 1);
	varint_put(out, loop->entry + 1);
	varint_put(out, loop->iteration + 1);
}

static bool get_loop(struct reader *reader, struct loop_point *loop, uint32_t site)
{
	uint64_t step = varint_get(reader), at = varint_follow(site, step - 1);

	*loop = (struct loop_point){ .site = LOOP_NONE };
	if (!step)
		return !reader->bad;
	loop->site = (uint32_t)at;
	loop->entry = varint_get(reader) - 1;
	loop->iteration = varint_get(reader) - 1;
	return !reader->bad && at < LOOP_NONE;
}

static bool get_loops(struct reader *reader, struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!get_loop(reader, &pairs[i].head_loop, pairs[i].head_site))
			return false;
	for (size_t i = 0; i < n; i++)
		if (!get_loop(reader, &pairs[i].tail_loop, pairs[i].tail_site))
			return false;
	return true;
}

void codec_put_details(struct bytes *out, const struct pair *pairs, const uint32_t *indexes, size_t n)
{
	uint64_t next = 0; /* new pairs are interned in order of occurrence: the step is often 0 */

	varint_put(out, n);
	for (size_t i = 0; i < n; next = (uint64_t)indexes[i++] + 1)
		varint_put_step(out, next, indexes[i]);
	put_orders(out, pairs, n);
	put_addresses(out, pairs, n);
	for (size_t i = 0; i < n; i++)
		put_loop(out, &pairs[i].head_loop, pairs[i].head_site);
	for (size_t i = 0; i < n; i++)
		put_loop(out, &pairs[i].tail_loop, pairs[i].tail_site);
}

void codec_put_couples(struct bytes *out, const struct couple *couples, size_t n)
{
	uint64_t last = 0;

	if (!n)
		return;
	varint_put(out, n);
	for (size_t i = 0; i < n; last = couples[i++].first) {
		varint_put_step(out, last, couples[i].first);
		varint_put_step(out, couples[i].first, couples[i].second);
		varint_put(out, (uint64_t)couples[i].span << 1 | couples[i].crossed);
	}
}

static bool get_couples(struct reader *reader, size_t npairs, struct details *out)
{
	if (reader->at == reader->end)
		return true;
	uint64_t count = varint_get(reader), last = 0;

	if (reader->bad || !count || count > (uint64_t)(reader->end - reader->at) / COUPLE_LEAST)
		return false;
	out->couples = memory_alloc(count * sizeof *out->couples);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t first = varint_get_step(reader, last), second = varint_get_step(reader, first),
			 span = varint_get(reader);

		if (reader->bad || first >= npairs || second >= npairs || span >> 1 > UINT32_MAX)
			return false;
		out->couples[i] =
			(struct couple){ (uint32_t)first, (uint32_t)second, (uint32_t)(span >> 1), span & 1 };
		last = first;
	}
	out->ncouples = count;
	return true;
}

void details_free(struct details *details)
{
	free(details->pairs);
	free(details->indexes);
	free(details->couples);
	*details = (struct details){ 0 };
}

static bool get_indexes(struct reader *reader, size_t size, size_t nrows, uint32_t **out, size_t *n)
{
	uint64_t count = varint_get(reader), next = 0;

	if (reader->bad || count > size / PAIR_LEAST)
		return false;
	_cleanup_free_ uint32_t *indexes = memory_alloc(count * sizeof *indexes);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t index = varint_get_step(reader, next);

		if (reader->bad || index >= nrows)
			return false;
		indexes[i] = (uint32_t)index;
		next = index + 1;
	}
	*n = count;
	*out = indexes;
	indexes = NULL;
	return true;
}

bool codec_get_order(const void *bytes, size_t size, size_t nrows, uint32_t **out, size_t *n)
{
	struct reader reader = reader_of(bytes, size);

	return get_indexes(&reader, size, nrows, out, n);
}

bool codec_get_run(const void *bytes, size_t size, const uint32_t *rows, size_t nrows, struct details *out)
{
	struct reader reader = reader_of(bytes, size);
	size_t width = identity_width(IDENTITY_PAIR), count;
	struct details found = { 0 };

	*out = (struct details){ 0 };
	if (!get_indexes(&reader, size, nrows, &found.indexes, &found.npairs))
		return false;
	count = found.npairs;
	found.pairs = memory_alloc(count * sizeof *found.pairs);
	for (size_t i = 0; i < count; i++)
		found.pairs[i] = identity_pair(rows + found.indexes[i] * width);
	if (!get_orders(&reader, found.pairs, count) || !get_addresses(&reader, found.pairs, count) ||
	    !get_loops(&reader, found.pairs, count) || !get_couples(&reader, count, &found) ||
	    reader.at != reader.end) {
		details_free(&found);
		return false;
	}
	*out = found;
	return true;
}

bool codec_get_details(const void *bytes, size_t size, const uint32_t *rows, size_t nrows,
		       struct pair **pairs, size_t *n)
{
	struct details details;

	if (!codec_get_run(bytes, size, rows, nrows, &details))
		return false;
	*pairs = details.pairs;
	*n = details.npairs;
	details.pairs = NULL;
	details_free(&details);
	return true;
}
