/* Arrays of observations to bytes and back. Everything is laid out by column
 * and as steps from the row before, because neighbours resemble each other: the
 * numbers become short and what is left compresses well.
 */
#include "store/codec.h"

size_t codec_most_rows(size_t size, enum identity_kind kind)
{
	return size / identity_width(kind); /* each word takes at least a byte */
}

void codec_put_rows(struct bytes *out, enum identity_kind kind, const uint32_t *rows, size_t n)
{
	size_t width = identity_width(kind);

	for (size_t column = 0; column < width; column++) {
		uint32_t last = 0;

		for (size_t i = 0; i < n; i++) {
			varint_put_step(out, last, rows[i * width + column]);
			last = rows[i * width + column];
		}
	}
}

static bool row_is_good(enum identity_kind kind, const uint32_t *row)
{
	switch (kind) {
	case IDENTITY_PAIR:
		return row[0] >= PAIR_WRITE_READ && row[0] <= PAIR_WRITE_WRITE;
	case IDENTITY_EDGE:
		return row[3] <= 1;
	default:
		return true;
	}
}

bool codec_get_rows(const void *bytes, size_t size, enum identity_kind kind, uint32_t *rows, size_t n)
{
	struct reader reader = reader_of(bytes, size);
	size_t width = identity_width(kind);

	for (size_t column = 0; column < width; column++) {
		uint64_t last = 0;

		for (size_t i = 0; i < n; i++) {
			last = varint_get_step(&reader, last);
			if (reader.bad || last > UINT32_MAX)
				return false;
			rows[i * width + column] = (uint32_t)last;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (!row_is_good(kind, rows + i * width))
			return false;
	return reader.at == reader.end;
}
