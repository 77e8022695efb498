/* Keys: interned pairs seen as places in the source, and in how many passing runs
 * each occurs. One pass over the passing runs' bitmaps serves all procedures.
 */
#include "analysis/locon/locon.h"

#include <stdlib.h>
#include <string.h>

#define PLACE_BITS 31

uint32_t locon_place(const struct locon *locon, uint32_t site)
{
	/* A site without a place of its own is one behind all others. */
	return site < locon->input->nsites ? locon->input->places[site]
					   : (uint32_t)locon->input->nplaces + (site & 0xffffff);
}

static uint64_t pack(enum pair_kind kind, uint32_t head, uint32_t tail)
{
	return (uint64_t)kind << 62 | (uint64_t)head << PLACE_BITS | tail;
}

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 32) * 0x9fb21c651e98df25u;
	value = (value ^ value >> 29) * 0xd6e8feb86659fd93u;
	return value ^ value >> 32;
}

uint32_t locon_find(const struct locon *locon, enum pair_kind kind, uint32_t head, uint32_t tail)
{
	return numbers_find(&locon->numbers, pack(kind, head, tail));
}

uint32_t locon_reversed(const struct locon *locon, uint32_t number)
{
	const struct locon_key *key = &locon->keys.items[number];
	enum pair_kind kind = key->kind == PAIR_WRITE_READ   ? PAIR_READ_WRITE
			      : key->kind == PAIR_READ_WRITE ? PAIR_WRITE_READ
							     : PAIR_WRITE_WRITE;

	return locon_find(locon, kind, key->tail, key->head);
}

static void make_keys(struct locon *locon)
{
	const struct locon_input *input = locon->input;

	numbers_reserve(&locon->numbers, input->npairs);
	locon->key_of = memory_alloc(input->npairs * sizeof *locon->key_of);
	for (size_t i = 0; i < input->npairs; i++) {
		const struct pair_identity *pair = &input->pairs[i];
		uint32_t head = locon_place(locon, pair->head_site),
			 tail = locon_place(locon, pair->tail_site);

		locon->key_of[i] = numbers_put(&locon->numbers, pack(pair->kind, head, tail));
		if (locon->key_of[i] == locon->keys.n)
			*VEC_PUSH(&locon->keys) = (struct locon_key){ .kind = pair->kind,
								      .head = head,
								      .tail = tail,
								      .sample = (uint32_t)i,
								      .first = LOCON_NONE };
	}
}

static void bitmap_freep(roaring_bitmap_t **bitmap)
{
	if (*bitmap)
		roaring_bitmap_free(*bitmap);
}

/* What all passing runs show need not be counted run by run. */
static roaring_bitmap_t *in_all(const struct locon_input *input)
{
	roaring_bitmap_t *all =
		input->npassed ? roaring_bitmap_copy(input->passed[0]) : roaring_bitmap_create();

	for (size_t r = 1; r < input->npassed; r++)
		roaring_bitmap_and_inplace(all, input->passed[r]);
	return all;
}

static void count(struct locon *locon)
{
	const struct locon_input *input = locon->input;
	const roaring_bitmap_t *all = locon->always;
	_cleanup_free_ uint32_t *members = memory_alloc((input->npairs + 1) * sizeof *members);
	_cleanup_free_ uint32_t *last = memory_alloc((locon->keys.n + 1) * sizeof *last);
	size_t n = (size_t)roaring_bitmap_get_cardinality(all);
	uint64_t every = 0;

	for (size_t r = 0; r < input->npassed; r++)
		every ^= mix(r + 1);
	roaring_bitmap_to_uint32_array(all, members);
	for (size_t i = 0; i < n; i++) {
		struct locon_key *key = &locon->keys.items[locon->key_of[members[i]]];

		key->passed = (uint32_t)input->npassed;
		key->signature = every;
		last[locon->key_of[members[i]]] = LOCON_NONE; /* counted for good */
	}
	for (size_t r = 0; r < input->npassed; r++) {
		_cleanup_(bitmap_freep) roaring_bitmap_t *rest = roaring_bitmap_andnot(input->passed[r], all);
		uint64_t mark = mix(r + 1);

		n = (size_t)roaring_bitmap_get_cardinality(rest);
		roaring_bitmap_to_uint32_array(rest, members);
		for (size_t i = 0; i < n; i++) {
			uint32_t key = locon->key_of[members[i]];

			if (last[key] > r)
				continue;
			last[key] = (uint32_t)r + 1;
			locon->keys.items[key].passed++;
			locon->keys.items[key].signature ^= mark;
		}
	}
}

uint32_t locon_key_of_failed(const struct locon *locon, size_t at)
{
	return locon->key_of[locon->input->failed.indexes[at]];
}

static void note_thread(struct locon *locon, uint32_t site, uint32_t thread)
{
	uint32_t place = locon_place(locon, site);

	if (place < locon->input->nplaces)
		locon->threads[place] |= 1ull << (thread % 64);
}

static void note_threads(struct locon *locon)
{
	const struct locon_input *input = locon->input;

	locon->threads = memory_alloc((input->nplaces + 1) * sizeof *locon->threads);
	for (size_t i = 0; i < input->npairs; i++) {
		note_thread(locon, input->pairs[i].head_site, input->pairs[i].head_thread);
		note_thread(locon, input->pairs[i].tail_site, input->pairs[i].tail_thread);
	}
}

bool locon_share_thread(const struct locon *locon, uint32_t a, uint32_t b)
{
	return a < locon->input->nplaces && b < locon->input->nplaces &&
	       locon->threads[a] & locon->threads[b];
}

void locon_open(struct locon *locon, const struct locon_input *input)
{
	*locon = (struct locon){ .input = input };
	make_keys(locon);
	locon->always = in_all(input);
	count(locon);
	note_threads(locon);
	for (size_t i = input->failed.npairs; i-- > 0;)
		locon->keys.items[locon_key_of_failed(locon, i)].first = (uint32_t)i;
}

void locon_close(struct locon *locon)
{
	free(locon->key_of);
	numbers_free(&locon->numbers);
	free(locon->threads);
	bitmap_freep(&locon->always);
	VEC_FREE(&locon->keys);
	*locon = (struct locon){ 0 };
}
