/* Growable byte strings and the numbers in the store's blobs: LEB128, seven bits
 * to a byte, lowest first; signed ones zigzag. A reader never leaves its bytes:
 * at the first malformed number it turns `bad` and gives zeroes from then on.
 */
#ifndef STORE_VARINT_H
#define STORE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	unsigned char *data;
	size_t n, room;
};

void bytes_put(struct bytes *bytes, const void *data, size_t size);
void bytes_free(struct bytes *bytes);

struct reader {
	const unsigned char *at, *end;
	bool bad;
};

struct reader reader_of(const void *bytes, size_t size); /* bytes may be NULL when there are none */

void varint_put(struct bytes *bytes, uint64_t value);
uint64_t varint_get(struct reader *reader);

/* The way from one number to another, modulo 2^64: small when they are near, 0 when equal. */
uint64_t varint_step(uint64_t from, uint64_t to);
uint64_t varint_follow(uint64_t from, uint64_t step);

/* A number given by the step from another. */
void varint_put_step(struct bytes *bytes, uint64_t from, uint64_t to);
uint64_t varint_get_step(struct reader *reader, uint64_t from);

#endif
