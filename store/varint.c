/* Variable-length numbers in growable byte strings. The reading side takes
 * whatever bytes a file holds; every blob decoder of the store stands on it.
 */
#include "store/varint.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LONGEST 10 /* bytes of a 64-bit number */

static void reserve(struct bytes *bytes, size_t size)
{
	if (bytes->room - bytes->n >= size)
		return;
	size_t room = bytes->room * 2 > bytes->n + size ? bytes->room * 2 : bytes->n + size + 64;

	bytes->data = memory_resize(bytes->data, room);
	bytes->room = room;
}

void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
	if (!size)
		return;
	reserve(bytes, size);
	memcpy(bytes->data + bytes->n, data, size);
	bytes->n += size;
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}

struct reader reader_of(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	return (struct reader){ .at = at, .end = size ? at + size : at };
}

void varint_put(struct bytes *bytes, uint64_t value)
{
	reserve(bytes, LONGEST);
	for (; value >= 0x80; value >>= 7)
		bytes->data[bytes->n++] = (unsigned char)(value | 0x80);
	bytes->data[bytes->n++] = (unsigned char)value;
}

uint64_t varint_get(struct reader *reader)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
		unsigned char byte = *reader->at++;

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	reader->bad = true;
	reader->at = reader->end;
	return 0;
}

uint64_t varint_step(uint64_t from, uint64_t to)
{
	uint64_t way = to - from;

	return way << 1 ^ (way >> 63 ? UINT64_MAX : 0);
}

uint64_t varint_follow(uint64_t from, uint64_t step)
{
	return from + (step >> 1 ^ (step & 1 ? UINT64_MAX : 0));
}

void varint_put_step(struct bytes *bytes, uint64_t from, uint64_t to)
{
	varint_put(bytes, varint_step(from, to));
}

uint64_t varint_get_step(struct reader *reader, uint64_t from)
{
	return varint_follow(from, varint_get(reader));
}
