/* Packs and unpacks blobs with zstd. Unpacking takes bytes of any origin: the
 * size a frame claims is bounded before memory is taken for it.
 */
#include "store/pack.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/memory.h"

#define SMALLEST 64 /* below this a frame's own header eats the gain */
#define LEVEL 3

enum { AS_IS = 0, ZSTD = 1 };

struct packer {
	ZSTD_CCtx *zstd; /* NULL when there was no memory for it: then nothing is compressed */
};

struct packer *packer_new(void)
{
	struct packer *packer = memory_alloc(sizeof *packer);

	packer->zstd = ZSTD_createCCtx();
	return packer;
}

void packer_free(struct packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->zstd);
	free(packer);
}

void pack(struct packer *packer, const void *content, size_t size, struct bytes *out)
{
	if (size >= SMALLEST && packer->zstd) {
		size_t room = ZSTD_compressBound(size);
		_cleanup_free_ void *frame = memory_alloc(room);
		size_t n = ZSTD_compressCCtx(packer->zstd, frame, room, content, size, LEVEL);

		if (!ZSTD_isError(n) && n < size) {
			bytes_put(out, &(unsigned char){ ZSTD }, 1);
			bytes_put(out, frame, n);
			return;
		}
	}
	bytes_put(out, &(unsigned char){ AS_IS }, 1);
	bytes_put(out, content, size);
}

bool unpack(const void *blob, size_t size, struct bytes *out)
{
	const unsigned char *bytes = blob;

	if (!size)
		return false;
	if (bytes[0] == AS_IS) {
		bytes_put(out, bytes + 1, size - 1);
		return true;
	}
	if (bytes[0] != ZSTD)
		return false;
	unsigned long long content = ZSTD_getFrameContentSize(bytes + 1, size - 1);

	if (content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR || content > PACK_MOST)
		return false;
	out->data = memory_resize(out->data, (size_t)content);
	out->room = (size_t)content;
	out->n = ZSTD_decompress(out->data, out->room, bytes + 1, size - 1);
	if (ZSTD_isError(out->n) || out->n != content) {
		bytes_free(out);
		return false;
	}
	return true;
}
