/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The blocks of the heap: which is where, how large, who allocated or freed it. */
#include "loom/grind/control.h"
#include "loom/grind/define.h"
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
					   .call = define.on ? define_call() : 0,
					   .size_mark = define_size_mark(size),
					   .thread = grind.thread ? grind.thread->number : 0 };
	if (grind.traced && node->block.site) {
		site_used(node->block.site);
		log_event(start, size, node->block.site, AREA_FORGET, 0);
	}
}

SizeT heap_size(Addr start)
{
	struct node *node = find(start);

	return node && !node->block.freed ? node->block.size : 0;
}

SizeT heap_size_of_freed(Addr start)
{
	return find(start)->block.size;
}

bool heap_lives(Addr start)
{
	struct node *node = find(start);

	return node && !node->block.freed;
}

/* The block that holds the address, or the one that ends just before it or begins just behind. */
static const struct heap_block *block_near(Addr address)
{
	const struct heap_block *best = NULL;

	for (uint32_t i = 0; i < BUCKETS; i++)
		for (struct node *node = buckets[i]; node; node = node->next) {
			const struct heap_block *block = &node->block;

			if (address + HEAP_BESIDE >= block->start &&
			    address < block->start + block->size + HEAP_BESIDE &&
			    (!best || address - block->start < block->size))
				best = block;
		}
	return best;
}

Addr heap_made_by(Addr address)
{
	const struct heap_block *block = block_near(address);

	return block ? block->call : 0;
}

uint64_t heap_size_mark(Addr address)
{
	const struct heap_block *block = block_near(address);

	return block ? block->size_mark : 0;
}

bool heap_holds(Addr address)
{
	const struct heap_block *block = block_near(address);

	return block && address - block->start < block->size;
}

void heap_bounds(Addr address, Addr *low, Addr *high)
{
	const struct heap_block *block = block_near(address);

	if (!block || address - block->start >= block->size)
		return;
	*low = *low < block->start ? block->start : *low;
	*high = *high > block->start + block->size ? block->start + block->size : *high;
}

static void say_fault(HChar *text, Addr address, SizeT size, bool write)
{
	const struct heap_block *block = block_near(address);
	const HChar *what = write ? "write" : "read";

	if (!block)
		VG_(sprintf)(text, "unsnarl: %s of %lu bytes beside the blocks of the heap\n", what, size);
	else if (block->freed && address >= block->start && address < block->start + block->size)
		VG_(sprintf)(text,
			     "unsnarl: use after free: %s of %lu bytes, %lu bytes into a block of %lu bytes "
			     "that T%u freed\n",
			     what, size, address - block->start, block->size, block->thread);
	else if (address >= block->start + block->size)
		VG_(sprintf)(text,
			     "unsnarl: %s of %lu bytes, %lu bytes beyond the end of a block of %lu bytes\n",
			     what, size, address - block->start - block->size, block->size);
	else
		VG_(sprintf)(text, "unsnarl: %s of %lu bytes, %lu bytes before a block of %lu bytes\n", what,
			     size, block->start - address, block->size);
}

void heap_fault(Addr address, SizeT size, bool write)
{
	HChar text[256];
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} action = { 0 };
	uint64_t all = ~0ull;

	if (!grind.controlled && !define.on)
		return;
	define_dead(address, size, write);
	say_fault(text, address, size, write);
	VG_(write)(2, text, (Int)VG_(strlen)(text));
	/* The process ends here, as it is: handlers of the program do not run in the middle of an instruction. */
	raw_call(__NR_rt_sigaction, VKI_SIGABRT, (long)&action, 0, 8, 0, 0);
	raw_call(__NR_rt_sigprocmask, VKI_SIG_UNBLOCK, (long)&all, 0, 8, 0, 0);
	raw_call(__NR_tgkill, VG_(getpid)(), VG_(gettid)(), VKI_SIGABRT, 0, 0, 0);
}

bool heap_dies(Addr start, const char *what)
{
	struct node *node = find(start);

	if (!node || node->block.freed) {
		define_freed_wrongly(start, node != NULL);
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
