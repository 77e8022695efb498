/* Goes through an array of the run area, piece by piece and past its holes. */
#include "loom/harvest_parts.h"

#include <errno.h>
#include <unistd.h>

/* How many of the `bytes` at `offset` are a hole, which holds nothing valid. */
static uint64_t hole_at(int fd, uint64_t offset, uint64_t bytes)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? bytes : 0;
	uint64_t hole = (uint64_t)data - offset;

	return hole < bytes ? hole : bytes;
}

struct error *harvest_each(struct harvest *h, uint64_t offset, size_t item_size, uint32_t count,
			   uint32_t limit, void (*take)(struct harvest *h, const void *item))
{
	if (count > limit)
		harvest_add(&h->dropped, count - limit);
	size_t n = count < limit ? count : limit, per_chunk = HARVEST_CHUNK_BYTES / item_size;

	for (size_t at = 0; at < n;) {
		if (at)
			at += hole_at(h->fd, offset + at * item_size, (n - at) * item_size) / item_size;
		size_t now = n - at < per_chunk ? n - at : per_chunk;

		TRY(harvest_read(h->fd, offset + at * item_size, h->chunk, now * item_size));
		for (size_t i = 0; i < now; i++) {
			h->item = at + i;
			take(h, (const char *)h->chunk + i * item_size);
		}
		at += now;
	}
	return NULL;
}

bool harvest_is_valid(struct harvest *h, uint32_t state)
{
	if (state != AREA_VALID && state != 0)
		harvest_add(&h->dropped, 1);
	return state == AREA_VALID;
}
