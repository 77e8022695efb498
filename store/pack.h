/* Blobs, compressed where that makes them smaller: one byte says how (0 as they
 * are, 1 a zstd frame that knows its content's size), then the content.
 */
#ifndef STORE_PACK_H
#define STORE_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "store/varint.h"

/* Longest content, unpacked: what SQLite allows for one value. */
#define PACK_MOST 1000000000u

struct packer; /* keeps zstd's working memory between calls */

struct packer *packer_new(void);
void packer_free(struct packer *packer);

/* Appends the packed form of `content` to `out`. */
void pack(struct packer *packer, const void *content, size_t size, struct bytes *out);

/* The content of a packed blob in `out` (empty before); false when the blob is damaged. */
bool unpack(const void *blob, size_t size, struct bytes *out);

#endif
