/* Roaring bitmaps as bytes, in the portable format of the Roaring family
 * (run-optimised, so that equal sets give equal bytes).
 */
#ifndef STORE_BITMAP_H
#define STORE_BITMAP_H

#include <stddef.h>
#include <stdint.h>

#include <roaring/roaring.h>

#include "store/varint.h"

/* Appends the bytes of the set that holds these numbers, in any order; gives its size. */
uint64_t bitmap_put(struct bytes *out, const uint32_t *numbers, size_t n);

/* The set behind the bytes, NULL when they are none. The caller frees it. */
roaring_bitmap_t *bitmap_get(const void *bytes, size_t size);

#endif
