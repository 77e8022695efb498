/* The store's blobs: what is encoded is decoded alike, and bytes that nobody
 * encoded are refused or give something sound. Worth most under the sanitizers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "store/bitmap.h"
#include "store/codec.h"
#include "store/pack.h"
#include "store/private.h"
#include "store/varint.h"

static uint64_t random_state = 99;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t below(uint64_t limit)
{
	return random_next() % limit;
}

/* All magnitudes alike. */
static uint64_t any_number(void)
{
	return random_next() >> below(64);
}

/* A copy that ends where it ends, so that the sanitizer sees one byte too far. */
static unsigned char *exact(const void *bytes, size_t size)
{
	unsigned char *copy = memory_alloc(size);

	if (size)
		memcpy(copy, bytes, size);
	return copy;
}

/* Damages bytes a little: bits, a byte, a cut, an addition. */
static void damage(struct bytes *bytes)
{
	for (uint64_t times = 1 + below(3); times && bytes->n; times--) {
		unsigned char *at = &bytes->data[below(bytes->n)];

		switch (below(5)) {
		case 0:
			bytes->n = below(bytes->n);
			break;
		case 1:
			bytes_put(bytes, &(uint64_t){ random_next() }, 1 + below(8));
			break;
		case 2:
			*at = (unsigned char)random_next();
			break;
		case 3:
			*at = below(2) ? 0xff : 0x7f;
			break;
		default:
			*at ^= (unsigned char)(1 << below(8));
		}
	}
}

static void test_numbers(void **state)
{
	(void)state;
	static const uint64_t edges[] = { 0,     1,          127,       128,        16383,
					  16384, UINT32_MAX, INT64_MAX, 1ull << 63, UINT64_MAX };
	struct bytes bytes = { 0 };
	enum { N = 10, MORE = 5000 };
	uint64_t numbers[N + MORE];

	for (int i = 0; i < N + MORE; i++) {
		numbers[i] = i < N ? edges[i] : any_number();
		varint_put(&bytes, numbers[i]);
		varint_put_step(&bytes, numbers[i ? i - 1 : 0], numbers[i]);
	}
	struct reader reader = { .at = bytes.data, .end = bytes.data + bytes.n };

	for (int i = 0; i < N + MORE; i++) {
		assert_true(varint_get(&reader) == numbers[i]);
		assert_true(varint_get_step(&reader, numbers[i ? i - 1 : 0]) == numbers[i]);
	}
	assert_true(!reader.bad && reader.at == reader.end);
	assert_true(varint_get(&reader) == 0 && reader.bad);
	bytes_free(&bytes);
}

static void test_numbers_that_are_none(void **state)
{
	(void)state;
	static const unsigned char too_large[] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 2 };
	static const unsigned char endless[] = { 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0 };
	static const unsigned char cut[] = { 128 };
	struct reader readers[] = {
		{ .at = too_large, .end = too_large + sizeof too_large },
		{ .at = endless, .end = endless + sizeof endless },
		{ .at = cut, .end = cut + sizeof cut },
	};

	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
		assert_true(varint_get(&readers[i]) == 0 && readers[i].bad);
		assert_true(varint_get(&readers[i]) == 0 && readers[i].at == readers[i].end);
	}
}

static void random_row(enum identity_kind kind, uint32_t *row)
{
	for (size_t i = 0; i < identity_width(kind); i++)
		row[i] = (uint32_t)any_number();
	if (kind == IDENTITY_PAIR)
		row[0] = 1 + (uint32_t)below(3);
	if (kind == IDENTITY_EDGE)
		row[3] = (uint32_t)below(2);
}

static void test_rows(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		enum identity_kind kind = (enum identity_kind)below(IDENTITY_KINDS);
		size_t n = below(40), width = identity_width(kind);
		_cleanup_free_ uint32_t *rows = memory_alloc(n * width * 4),
					*back = memory_alloc(n * width * 4);
		_cleanup_(bytes_free) struct bytes bytes = { 0 };

		for (size_t i = 0; i < n; i++)
			random_row(kind, rows + i * width);
		codec_put_rows(&bytes, kind, rows, n);
		assert_true(n <= codec_most_rows(bytes.n, kind));
		assert_true(codec_get_rows(bytes.data, bytes.n, kind, back, n));
		assert_memory_equal(rows, back, n * width * 4);
		if (n)
			assert_false(codec_get_rows(bytes.data, bytes.n, kind, back,
						    n - 1)); /* some are left over */
		damage(&bytes);
		_cleanup_free_ unsigned char *damaged = exact(bytes.data, bytes.n);
		size_t most = codec_most_rows(bytes.n, kind);
		_cleanup_free_ uint32_t *any = memory_alloc(most * width * 4);

		for (size_t claimed = most > 40 ? most - 40 : 0; claimed <= most; claimed++)
			codec_get_rows(damaged, bytes.n, kind, any, claimed);
	}
}

/* The structs and their rows; "no access" must survive. */
static void test_identities(void **state)
{
	(void)state;
	struct pair pair = { .kind = PAIR_WRITE_WRITE,
			     .head_site = 1,
			     .tail_site = SITE_NIL - 1,
			     .head_thread = 3,
			     .tail_thread = UINT32_MAX };
	struct predecessor nil = { 7, SITE_NIL }, zero = { 7, 0 };
	struct edge edge = { SITE_NIL, 5, 0, 0xffff, true };
	uint32_t row[IDENTITY_WIDEST], other[IDENTITY_WIDEST];

	identity_of_pair(&pair, row);
	struct pair pair_back = identity_pair(row);

	assert_memory_equal(&pair, &pair_back, sizeof pair);
	identity_of_predecessor(&nil, row);
	identity_of_predecessor(&zero, other);
	assert_true(identity_predecessor(row).before == SITE_NIL && identity_predecessor(other).before == 0);
	assert_true(identity_predecessor(row).site == 7 && row[1] != other[1]);
	identity_of_edge(&edge, row);
	struct edge back = identity_edge(row);

	assert_true(back.source == SITE_NIL && back.sink == 5 && back.source_context == 0);
	assert_true(back.sink_context == 0xffff && back.write);
}

static struct loop_point any_loop(void)
{
	if (below(2))
		return (struct loop_point){ .site = LOOP_NONE };
	return (struct loop_point){ (uint32_t)below(LOOP_NONE), any_number(),
				    below(3) ? any_number() : ITERATION_UNKNOWN };
}

static bool same_loop(const struct loop_point *a, const struct loop_point *b)
{
	return a->site == b->site && a->entry == b->entry && a->iteration == b->iteration;
}

static void check_details(const struct bytes *bytes, const uint32_t *rows, size_t nrows,
			  const struct pair *pairs, size_t n)
{
	struct pair *back;
	size_t read;

	assert_true(codec_get_details(bytes->data, bytes->n, rows, nrows, &back, &read));
	assert_int_equal(read, n);
	for (size_t i = 0; i < n; i++) {
		assert_true(pairs[i].kind == back[i].kind && pairs[i].head_site == back[i].head_site);
		assert_true(pairs[i].tail_site == back[i].tail_site);
		assert_true(pairs[i].head_thread == back[i].head_thread);
		assert_true(pairs[i].tail_thread == back[i].tail_thread);
		assert_true(pairs[i].head_order == back[i].head_order &&
			    pairs[i].tail_order == back[i].tail_order);
		assert_true(pairs[i].address == back[i].address);
		assert_true(same_loop(&pairs[i].head_loop, &back[i].head_loop));
		assert_true(same_loop(&pairs[i].tail_loop, &back[i].tail_loop));
	}
	free(back);
}

static void try_details(const void *bytes, size_t size, const uint32_t *rows, size_t nrows)
{
	_cleanup_free_ unsigned char *copy = exact(bytes, size);
	struct pair *pairs;
	size_t n;

	if (codec_get_details(copy, size, rows, nrows, &pairs, &n))
		free(pairs);
}

static void test_details(void **state)
{
	(void)state;
	enum { ROWS = 30 };
	uint32_t rows[ROWS * 5], indexes[60];
	struct pair pairs[60];

	for (int round = 0; round < 4000; round++) {
		_cleanup_(bytes_free) struct bytes bytes = { 0 };
		size_t n = below(60);

		for (size_t i = 0; i < ROWS; i++)
			random_row(IDENTITY_PAIR, rows + i * 5);
		for (size_t i = 0; i < n; i++) {
			indexes[i] = (uint32_t)below(ROWS);
			pairs[i] = identity_pair(rows + indexes[i] * 5);
			pairs[i].head_order = any_number();
			pairs[i].tail_order = any_number();
			pairs[i].address = i && below(2) ? pairs[below(i)].address : random_next();
			pairs[i].head_loop = any_loop();
			pairs[i].tail_loop = any_loop();
		}
		codec_put_details(&bytes, pairs, indexes, n);
		check_details(&bytes, rows, ROWS, pairs, n);
		if (n)
			try_details(bytes.data, bytes.n, NULL, 0); /* none of the pairs is known */
		for (int i = 0; i < 5; i++) {
			damage(&bytes);
			try_details(bytes.data, bytes.n, rows, ROWS);
		}
	}
}

static void test_noise(void **state)
{
	(void)state;
	uint32_t row[5] = { 1, 2, 3, 4, 5 };

	for (int round = 0; round < 100000; round++) {
		unsigned char noise[80];
		size_t size = below(sizeof noise);
		_cleanup_(bytes_free) struct bytes out = { 0 };

		for (size_t i = 0; i < size; i++)
			noise[i] = (unsigned char)(below(2) ? random_next() : below(4));
		_cleanup_free_ unsigned char *copy = exact(noise, size);

		try_details(copy, size, row, 1);
		unpack(copy, size, &out);
		roaring_bitmap_t *bitmap = bitmap_get(copy, size);

		if (bitmap)
			roaring_bitmap_free(bitmap);
	}
}

/* The hash's steps and the way back; see base/hash.c. */
#define FACTOR_WORD 0x9fb21c651e98df25u
#define FACTOR_STATE 0xd6e8feb86659fd93u

static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;

	for (int i = 0; i < 6; i++)
		x *= 2 - odd * x; /* Newton: each step doubles the bits that are right */
	return x;
}

static uint64_t mixed(uint64_t word)
{
	word *= FACTOR_WORD;
	return word ^ word >> 31;
}

static uint64_t unmixed(uint64_t word)
{
	word ^= word >> 31 ^ word >> 62;
	return word * inverse(FACTOR_WORD);
}

static uint64_t folded(uint64_t state, uint64_t word)
{
	state = (state ^ mixed(word)) * FACTOR_STATE;
	return state << 29 | state >> 35;
}

/* Rows with one hash and different content: whatever the first two words are,
 * the next two make up for it. */
static void test_rows_that_collide(void **state)
{
	(void)state;
	enum { N = 50 };
	struct intern intern = { 0 };
	uint32_t rows[N][5], index;

	for (uint32_t i = 0; i < N; i++) {
		rows[i][0] = 1 + i % 3;
		rows[i][1] = i;
		rows[i][4] = 7;
		uint64_t first = rows[i][0] | (uint64_t)rows[i][1] << 32;
		uint64_t second = unmixed(folded(HASH_START, first) ^ 0x1234567890abcdefu);

		rows[i][2] = (uint32_t)second;
		rows[i][3] = (uint32_t)(second >> 32);
		assert_true(hash_bytes(HASH_START, rows[i], 20) == hash_bytes(HASH_START, rows[0], 20));
	}
	for (int again = 0; again < 2; again++)
		for (uint32_t i = 0; i < N; i++) {
			assert_null(intern_put(&intern, IDENTITY_PAIR, rows[i], &index));
			assert_int_equal(index, i);
		}
	assert_int_equal(intern.tables[IDENTITY_PAIR].n, N);
	intern_forget(&intern);
}

static void test_pack(void **state)
{
	(void)state;
	struct packer *packer = packer_new();

	for (int round = 0; round < 2000; round++) {
		_cleanup_(bytes_free) struct bytes packed = { 0 };
		_cleanup_(bytes_free) struct bytes back = { 0 };
		size_t size = below(round % 10 ? 200 : 20000);
		_cleanup_free_ unsigned char *content = memory_alloc(size);
		uint64_t spread = below(2) ? 256 : 3;

		for (size_t i = 0; i < size; i++)
			content[i] = (unsigned char)below(spread);
		pack(packer, content, size, &packed);
		assert_true(packed.n <= size + 1);
		assert_true(unpack(packed.data, packed.n, &back));
		assert_int_equal(back.n, size);
		if (size)
			assert_memory_equal(back.data, content, size);
		for (int i = 0; i < 5; i++) {
			_cleanup_(bytes_free) struct bytes any = { 0 };

			damage(&packed);
			_cleanup_free_ unsigned char *copy = exact(packed.data, packed.n);

			unpack(copy, packed.n, &any);
		}
	}
	packer_free(packer);
}

/* Arrays, bitsets and runs of members over several containers. */
static size_t random_members(uint32_t *out, size_t most)
{
	size_t n = 0;

	for (uint64_t parts = 1 + below(6); parts; parts--) {
		uint32_t base = (uint32_t)below(9) << 16;
		uint64_t many = below(3) ? below(300) : below(9000), dense = below(2);

		for (uint64_t i = 0; i < many && n < most; i++)
			out[n++] = base + (uint32_t)(dense ? i : below(65536));
	}
	return n;
}

static int by_value(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* What the library does with a bitmap that was let in. */
static void use(roaring_bitmap_t *bitmap)
{
	uint64_t n = roaring_bitmap_get_cardinality(bitmap);
	_cleanup_free_ uint32_t *members = memory_alloc(n * sizeof *members);
	roaring_bitmap_t *copy = roaring_bitmap_copy(bitmap);

	roaring_bitmap_to_uint32_array(bitmap, members);
	for (uint64_t i = 1; i < n; i++)
		assert_true(members[i - 1] < members[i]);
	roaring_bitmap_or_inplace(copy, bitmap);
	assert_true(roaring_bitmap_equals(copy, bitmap));
	roaring_bitmap_free(copy);
}

static void test_bitmaps(void **state)
{
	(void)state;
	enum { MOST = 60000 };
	uint32_t *members = memory_alloc(MOST * sizeof *members), *back = memory_alloc(MOST * sizeof *back);

	for (int round = 0; round < 300; round++) {
		_cleanup_(bytes_free) struct bytes bytes = { 0 };
		size_t n = round ? random_members(members, MOST) : 0, distinct = 0;
		uint64_t count = bitmap_put(&bytes, members, n);

		qsort(members, n, sizeof *members, by_value);
		for (size_t i = 0; i < n; i++)
			if (!i || members[i] != members[i - 1])
				members[distinct++] = members[i];
		roaring_bitmap_t *bitmap = bitmap_get(bytes.data, bytes.n);

		assert_non_null(bitmap);
		assert_true(count == distinct && roaring_bitmap_get_cardinality(bitmap) == distinct);
		roaring_bitmap_to_uint32_array(bitmap, back);
		assert_memory_equal(members, back, distinct * sizeof *back);
		roaring_bitmap_free(bitmap);
		for (int i = 0; i < 20; i++) {
			struct bytes damaged = { 0 };

			/* Where it hurts most: the headers, or anywhere. */
			bytes_put(&damaged, bytes.data, bytes.n);
			damaged.data[below(i % 2 && damaged.n > 40 ? 40 : damaged.n)] ^=
				(unsigned char)(1 << below(8));
			if (i % 3 == 0)
				damage(&damaged);
			_cleanup_free_ unsigned char *copy = exact(damaged.data, damaged.n);

			bitmap = bitmap_get(copy, damaged.n);
			if (bitmap) {
				use(bitmap);
				roaring_bitmap_free(bitmap);
			}
			bytes_free(&damaged);
		}
	}
	free(members);
	free(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_numbers_that_are_none),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_identities),
		cmocka_unit_test(test_rows_that_collide),
		cmocka_unit_test(test_details),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_bitmaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
