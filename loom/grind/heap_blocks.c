/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The blocks of the heap: which is where, how large, who allocated or freed it. */
#include "loom/grind/control.h"
#include "loom/grind/tool.h"

#define BUCKETS (1u << 16)

struct node {
	struct node *next;
	struct heap_block block;
};
static struct node *buckets[BUCKETS];

static struct node **bucket_of(Addr start)
{
	return &buckets[(start >> 4) * 0x9e3779b97f4a7c15u >> 48];
}

static struct node *find(Addr start)
{
	for (struct node *node = *bucket_of(start); node; node = node->next)
		if (node->block.start == start)
			return node;
	return NULL;
}

void heap_born(Addr start, SizeT size, const char *what)
{
	struct node *node = find(start);

	if (!node) {
		node = VG_(malloc)("grind.block", sizeof *node);
		node->next = *bucket_of(start);
		*bucket_of(start) = node;
	}
	node->block = (struct heap_block){ .start = start,
					   .size = size,
					   .site = site_of_call(SITE_ALLOCATION, what),
					   .thread = grind.thread ? grind.thread->number : 0 };
	if (grind.traced && node->block.site) {
		site_used(node->block.site);
		log_event(start, size, node->block.site, AREA_FORGET, 0);
	}
}

SizeT heap_size(Addr start)
{
	struct node *node = find(start);

	return node ? node->block.size : 0;
}

bool heap_dies(Addr start, const char *what)
{
	struct node *node = find(start);

	if (!node || node->block.freed) {
		/* Freed twice, or never allocated: what libc makes of that. */
		grind_abort(node ? "free(): double free detected" : "free(): invalid pointer");
		return false;
	}
	uint32_t site = site_of_call(SITE_WRITE, what);

	access_by_call(start, node->block.size, true, site);
	node->block.freed = true;
	node->block.site = site;
	node->block.thread = grind.thread->number;
	return true;
}
