/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The layout of what is known of memory, for shadow.c and for the quick answers
 * in access.c. */
#ifndef GRIND_SHADOW_H
#define GRIND_SHADOW_H

#include "loom/grind/tool.h"

#define PAGE_BITS 14
#define PAGE_GRANULES (1u << (PAGE_BITS - 3))
#define PAGE_GRANULE(address) ((uint32_t)((address) >> 3) & (PAGE_GRANULES - 1))
#define NEAR_PAGES (1ull << (37 - PAGE_BITS)) /* Valgrind puts programs below 2^37 */
#define STACK_MOST (64ull << 20)

/* A granule's head: owner (number + 1, 24 bits), form (8), contexts in which its halves were written (16 each). */
enum form { FORM_PRIVATE = 1, FORM_ROW, FORM_PARTS };
#define HEAD(owner, form) ((uint64_t)(owner) | (uint64_t)(form) << 24)
#define HEAD_OWNER(head) ((uint32_t)(head) & 0xffffff)
#define HEAD_FORM(head) ((uint32_t)(head) >> 24 & 0x7f)
#define HEAD_DEAD \
	(1ull << 31) /* no memory of the program: a block that was freed, or the space between blocks */
#define HEAD_ROW(head) \
	((uint32_t)((head) >> 32)) /* in rows the contexts stand there, and their number here */
#define TAG(number, form) (((number) + 1) | (uint32_t)(form) << 24)

struct half {
	uint64_t write, read; /* words, 0 = none; of parts the first one's `write` is the block */
};

/* Of each byte: the sites of the last write and of the last read since, 0 = none. There is one order for all. */
struct row {
	uint32_t write[8], read[8];
	uint16_t context[8];
	uint64_t write_order, read_order;
};

struct page {
	uint64_t head[PAGE_GRANULES];
	struct half halves[2 * PAGE_GRANULES];
};

struct shadow {
	struct page **near;
	struct row *rows;
	uint8_t *met;      /* by site: it is logged that nobody was before it */
	bool touched_dead; /* an access began in dead memory */
};
extern struct shadow shadow;

struct page *shadow_page(Addr address, bool make);

#endif
