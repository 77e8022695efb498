/* The blobs in a store's rows, one decoder after the other. */
#include "tests/fuzz/fuzz.h"

#include "store/bitmap.h"
#include "store/codec.h"
#include "store/pack.h"

#define ROWS 40

static void read_run(const void *bytes, size_t size)
{
	uint32_t rows[ROWS * 16] = { 0 };
	struct details details = { 0 };
	struct pair *pairs = NULL;
	uint32_t *order = NULL;
	size_t n;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		rows[i] = (uint32_t)(i % 4);
	if (codec_get_run(bytes, size, rows, ROWS, &details))
		details_free(&details);
	if (codec_get_details(bytes, size, rows, ROWS, &pairs, &n))
		free(pairs);
	if (codec_get_order(bytes, size, ROWS, &order, &n))
		free(order);
}

static void read_rows(const void *bytes, size_t size, size_t n)
{
	for (enum identity_kind kind = 0; kind < IDENTITY_KINDS; kind++) {
		size_t most = codec_most_rows(size, kind), wanted = n < most ? n : most;
		uint32_t *rows = malloc(wanted * identity_width(kind) * sizeof *rows + 1);

		codec_get_rows(bytes, size, kind, rows, wanted);
		free(rows);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz = { data, data + size };
	uint64_t what = fuzz_number(&fuzz, 1), n = fuzz_number(&fuzz, 1);
	size_t left = fuzz_left(&fuzz);
	void *bytes = fuzz_copy(&fuzz, left);
	struct schedule schedule = { 0 };
	struct hints claims = { 0 };
	struct bytes content = { 0 };
	roaring_bitmap_t *bitmap;

	switch (what % 6) {
	case 0:
		read_run(bytes, left);
		break;
	case 1:
		read_rows(bytes, left, n);
		break;
	case 2:
		if (codec_get_schedule(bytes, left, &schedule))
			schedule_free(&schedule);
		break;
	case 3:
		if (codec_get_claims(bytes, left, &claims))
			VEC_FREE(&claims);
		break;
	case 4:
		unpack(bytes, left, &content);
		bytes_free(&content);
		break;
	case 5:
		if ((bitmap = bitmap_get(bytes, left)))
			roaring_bitmap_free(bitmap);
		break;
	}
	free(bytes);
	return 0;
}
