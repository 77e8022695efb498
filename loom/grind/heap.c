/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The allocator of the program. A block that is allocated begins a new life; to
 * free one is a write to all of it, by the call that frees. */
#include "loom/grind/define.h"
#include "loom/grind/tool.h"

#define UNSET 0xa5 /* what memory holds that the program has not written, in runs that follow values */

static void *allocate(SizeT size, SizeT alignment, bool zero, const char *what)
{
	void *block = VG_(cli_malloc)(alignment, size);

	if (!block)
		return NULL;
	if (zero)
		VG_(memset)(block, 0, size);
	if (define.on) {
		/* What is read before it is written must not happen to be harmless. */
		if (!zero)
			VG_(memset)(block, UNSET, size);
		define_allocated((Addr)block, size, zero);
	}
	/* Also of a process that nobody observes: realloc has to know how much there is. */
	heap_born((Addr)block, size, what);
	if (grind.observed) {
		shadow_forget((Addr)block - HEAP_BESIDE, size + 2 * HEAP_BESIDE);
		if (grind.faults) {
			shadow_bury((Addr)block - HEAP_BESIDE, HEAP_BESIDE);
			shadow_bury((Addr)block + size, HEAP_BESIDE);
		}
	}
	return block;
}

/* What is freed is not used again for a while, so that whoever still uses it is seen. */
#define KEPT_MOST 4096u
#define KEPT_BYTES (64u << 20)
static struct {
	void *block;
	SizeT size;
} kept[KEPT_MOST];
static uint32_t next_kept;
static SizeT kept_bytes;

static void quarantine(void *block)
{
	SizeT size = heap_size_of_freed((Addr)block);

	if (kept[next_kept].block) {
		kept_bytes -= kept[next_kept].size;
		shadow_forget((Addr)kept[next_kept].block, kept[next_kept].size);
		VG_(cli_free)(kept[next_kept].block);
		kept[next_kept].block = NULL;
	}
	if (kept_bytes + size > KEPT_BYTES) {
		VG_(cli_free)(block);
		return;
	}
	shadow_bury((Addr)block, size);
	kept[next_kept].block = block;
	kept[next_kept].size = size;
	kept_bytes += size;
	next_kept = (next_kept + 1) % KEPT_MOST;
}

bool heap_is_kept(Addr address)
{
	for (uint32_t i = 0; i < KEPT_MOST; i++)
		if (kept[i].block && address - (Addr)kept[i].block < kept[i].size)
			return true;
	return false;
}

static void release(void *block, const char *what)
{
	if (!block)
		return;
	if (define.on && heap_lives((Addr)block) && !define_freed((Addr)block, heap_size((Addr)block)))
		return;
	if (!heap_dies((Addr)block, what))
		return;
	if (grind.faults)
		quarantine(block);
	else
		VG_(cli_free)(block);
}

static void *heap_malloc(ThreadId tid, SizeT size)
{
	(void)tid;
	return allocate(size, VG_(clo_alignment), false, "malloc");
}

static void *heap_new(ThreadId tid, SizeT size)
{
	(void)tid;
	return allocate(size, VG_(clo_alignment), false, "operator new");
}

static void *heap_new_aligned(ThreadId tid, SizeT size, SizeT alignment)
{
	(void)tid;
	return allocate(size, alignment, false, "operator new");
}

static void *heap_memalign(ThreadId tid, SizeT alignment, SizeT size)
{
	(void)tid;
	return allocate(size, alignment, false, "aligned_alloc");
}

static void *heap_calloc(ThreadId tid, SizeT number, SizeT size)
{
	(void)tid;
	if (size && number > (SizeT)-1 / 2 / size)
		return NULL;
	return allocate(number * size, VG_(clo_alignment), true, "calloc");
}

static void heap_free(ThreadId tid, void *block)
{
	(void)tid;
	release(block, "free");
}

static void heap_delete(ThreadId tid, void *block)
{
	(void)tid;
	release(block, "operator delete");
}

static void heap_delete_aligned(ThreadId tid, void *block, SizeT alignment)
{
	(void)tid, (void)alignment;
	release(block, "operator delete");
}

static SizeT usable(ThreadId tid, void *block)
{
	(void)tid;
	return heap_size((Addr)block);
}

static void *heap_realloc(ThreadId tid, void *old, SizeT size)
{
	(void)tid;
	if (!old)
		return allocate(size, VG_(clo_alignment), false, "realloc");
	if (!size || !heap_lives((Addr)old)) {
		release(old, "realloc");
		return NULL;
	}
	SizeT before = usable(tid, old);
	void *block = allocate(size, VG_(clo_alignment), false, "realloc");

	if (!block)
		return NULL;
	SizeT copied = before < size ? before : size;
	uint32_t reads = site_of_call(SITE_READ, NULL), writes = site_of_call(SITE_WRITE, NULL);

	access_by_call((Addr)old, copied, false, reads);
	access_by_call((Addr)block, copied, true, writes);
	VG_(memcpy)(block, old, copied);
	release(old, "realloc");
	return block;
}

void heap_start(void)
{
	VG_(needs_malloc_replacement)
	(heap_malloc, heap_new, heap_new_aligned, heap_new, heap_new_aligned, heap_memalign, heap_calloc,
	 heap_free, heap_delete, heap_delete_aligned, heap_delete, heap_delete_aligned, heap_realloc, usable,
	 HEAP_BESIDE);
}
