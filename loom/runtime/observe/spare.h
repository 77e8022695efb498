/* Numbered blocks that come and go (spare.c): what the rooms that use such blocks take
 * and give back. */
#ifndef RUNTIME_SPARE_H
#define RUNTIME_SPARE_H

#include "loom/runtime/observe/cells.h"

#define SPARE_CHUNK_MOST 126u
struct spare_chunk {
	uint32_t n, next;
	uint32_t numbers[SPARE_CHUNK_MOST];
};
INLINE struct spare_chunk *spare_chunk_at(uint32_t number)
{
	return (struct spare_chunk *)(number < FIRST_SPARES ? FIRST_SPARES_START : SPARES_START) + number;
}
HIDDEN void spare_start(void);
HIDDEN void spare_after_fork(void);
HIDDEN uint32_t spare_take(struct spare *spare, enum spare_kind kind); /* 0 when there are none */
/* One of those, or the next that was never used; the sentence is for when there are no more. */
HIDDEN uint32_t spare_new(struct spare *spare, enum spare_kind kind, uint32_t *next, uint32_t limit,
			  const char *what);
/* The same for cuts, rows and arrays; 0 when there are no more. */
HIDDEN uint32_t spare_block(struct spare *spare, enum spare_kind kind);
HIDDEN uint32_t spare_peek(const struct spare *spare); /* the one that comes next, 0 = not known */
HIDDEN void spare_give(struct spare *spare, enum spare_kind kind, uint32_t number);

#endif
