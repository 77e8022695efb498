/* Bitmaps to bytes and back. The library's reader checks the length but trusts
 * the content (a bitset with more bits than its header says overruns later), so
 * the bytes are checked here first, container by container.
 */
#include "store/bitmap.h"

#include <string.h>

#include "base/memory.h"

#define COOKIE_PLAIN 12346u
#define COOKIE_RUNS 12347u
#define OFFSETS_FROM 4  /* with run containers, fewer than this many have no offset table */
#define ARRAY_MOST 4096 /* an array up to this many, then a bitset */
#define BITSET_BYTES 8192

uint64_t bitmap_put(struct bytes *out, const uint32_t *numbers, size_t n)
{
	roaring_bitmap_t *bitmap = roaring_bitmap_of_ptr(n, numbers);

	roaring_bitmap_run_optimize(bitmap);
	size_t size = roaring_bitmap_portable_size_in_bytes(bitmap);
	_cleanup_free_ char *bytes = memory_alloc(size);

	roaring_bitmap_portable_serialize(bitmap, bytes);
	uint64_t count = roaring_bitmap_get_cardinality(bitmap);

	roaring_bitmap_free(bitmap);
	bytes_put(out, bytes, size);
	return count;
}

/* The next `size` bytes, NULL when there are not that many. */
static const unsigned char *take(struct reader *reader, size_t size)
{
	const unsigned char *at = reader->at;

	if ((size_t)(reader->end - at) < size)
		return NULL;
	reader->at += size;
	return at;
}

static unsigned half(const unsigned char *at)
{
	return at[0] | (unsigned)at[1] << 8;
}

static bool check_array(struct reader *reader, unsigned count)
{
	const unsigned char *at = take(reader, count * 2);

	for (unsigned i = 1; at && i < count; i++)
		if (half(at + 2 * i) <= half(at + 2 * i - 2))
			return false;
	return at;
}

static bool check_bitset(struct reader *reader, unsigned count)
{
	const unsigned char *at = take(reader, BITSET_BYTES);
	unsigned bits = 0;

	for (unsigned i = 0; at && i < BITSET_BYTES; i += 8) {
		unsigned long long word;

		memcpy(&word, at + i, 8);
		bits += (unsigned)__builtin_popcountll(word);
	}
	return at && bits == count;
}

static bool check_runs(struct reader *reader, unsigned count)
{
	const unsigned char *at = take(reader, 2);
	unsigned runs = at ? half(at) : 0, next = 0, bits = 0;

	at = take(reader, runs * 4);
	for (unsigned i = 0; at && i < runs; i++) {
		unsigned first = half(at + 4 * i), length = half(at + 4 * i + 2) + 1;

		/* Runs that touch are one: the library compares them run by run. */
		if ((i && first <= next) || first + length > 0x10000)
			return false;
		next = first + length;
		bits += length;
	}
	return at && bits == count;
}

static bool check_containers(struct reader *reader, unsigned n, const unsigned char *is_run, bool offsets)
{
	const unsigned char *heads = take(reader, n * 4);
	unsigned last_key = 0;

	if (!heads || (offsets && !take(reader, n * 4)))
		return false;
	for (unsigned i = 0; i < n; i++) {
		unsigned key = half(heads + 4 * i), count = half(heads + 4 * i + 2) + 1;
		bool good;

		if (i && key <= last_key)
			return false;
		last_key = key;
		if (is_run && is_run[i / 8] >> i % 8 & 1)
			good = check_runs(reader, count);
		else if (count <= ARRAY_MOST)
			good = check_array(reader, count);
		else
			good = check_bitset(reader, count);
		if (!good)
			return false;
	}
	return reader->at == reader->end;
}

static bool check(const unsigned char *bytes, size_t size)
{
	struct reader reader = reader_of(bytes, size);
	const unsigned char *head = take(&reader, 4);

	if (!head)
		return false;
	if (half(head) == COOKIE_RUNS) {
		unsigned n = half(head + 2) + 1;
		const unsigned char *is_run = take(&reader, (n + 7) / 8);

		return is_run && check_containers(&reader, n, is_run, n >= OFFSETS_FROM);
	}
	const unsigned char *number = take(&reader, 4);

	if (!number || half(head) != COOKIE_PLAIN || half(head + 2) || half(number + 2) > 1)
		return false;
	unsigned n = half(number) | half(number + 2) << 16;

	return n <= 0x10000 && check_containers(&reader, n, NULL, true);
}

roaring_bitmap_t *bitmap_get(const void *bytes, size_t size)
{
	return check(bytes, size) ? roaring_bitmap_portable_deserialize_safe(bytes, size) : NULL;
}
