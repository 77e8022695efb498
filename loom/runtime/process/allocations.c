/* Memory that begins a new life has no history: allocated blocks, unmapped and
 * newly mapped pages, stacks of ended threads. A freed block keeps its history until
 * it is given out again, and freeing counts as a write to it: who uses it after that
 * makes a pair with who freed it. Each function here stands before libc's own
 * (weakly, so that a program's own allocator wins) and changes nothing of what it does,
 * but for controlled runs: there blocks are somewhat larger, and kept for a while when
 * they are freed, so that whoever does not keep to them is found (control/heap_blocks.c). */
#include "loom/runtime/process/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WEAK EXPORT __attribute__((weak))

extern void __libc_free(void *block);
extern void *__libc_realloc(void *block, size_t size);

void runtime_forget(struct thread *self, uint64_t address, size_t size, bool stack)
{
	if (runtime.always_slow)
		trace_forget(self, address, size, stack);
	granule_forget(self, address, size, stack);
	if (runtime.armed)
		armed_forget(address, size);
	if (UNLIKELY(runtime.controlled))
		control_forget(address, size);
	if (runtime.always_slow)
		trace_end();
}

static void forget(const void *start, size_t size)
{
	struct thread *self = unsnarl_self;
	if (self == &unsnarl_nobody || self->held)
		return;
	int saved = errno;
	if (self->taken.cell)
		cell_settle(self);
	runtime_forget(self, (uint64_t)start, size, false);
	errno = saved;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static int libc_posix_memalign(void **block, size_t alignment, size_t size)
{
	void *found = __libc_memalign(alignment, size);
	if (!found)
		return ENOMEM;
	*block = found;
	return 0;
}

/* The functions that would be called without us: the next ones in load order, and
 * libc's own until memory_start has looked. */
static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void (*free)(void *);
	size_t (*usable)(void *); /* NULL before memory_start */
} behind = { __libc_malloc,   __libc_calloc,       __libc_realloc, __libc_memalign,
	     __libc_memalign, libc_posix_memalign, __libc_free,    NULL };
static bool is_libc; /* it is libc that is behind us, of whose blocks we know how they lie */

static void resolve(void **place, const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	if (found)
		*place = found;
}

/* Once, before the program runs: looking up later could happen inside libc's own free. */
void memory_start(void)
{
	resolve((void **)&behind.malloc, "malloc");
	resolve((void **)&behind.calloc, "calloc");
	resolve((void **)&behind.realloc, "realloc");
	resolve((void **)&behind.aligned_alloc, "aligned_alloc");
	resolve((void **)&behind.memalign, "memalign");
	resolve((void **)&behind.posix_memalign, "posix_memalign");
	resolve((void **)&behind.free, "free");
	resolve((void **)&behind.usable, "malloc_usable_size");
	is_libc = behind.malloc == __libc_malloc && behind.free == __libc_free &&
		  behind.realloc == __libc_realloc && behind.usable;
}

static size_t usable_size(const void *block)
{
	return behind.usable ? behind.usable((void *)(uintptr_t)block) : 0;
}

/* Large blocks get their cells in huge pages where the machine allows: walks over
 * shadow memory otherwise spend most of their time in address translation. */
#define LARGE (4u << 20)

static void *prepare(void *block, size_t size)
{
	if (size < LARGE || !block || !runtime.active)
		return block;
	int saved = errno;
	for (uint64_t half = 0; half <= 4; half += 4) {
		uint64_t low = (uint64_t)layout_cell((uint64_t)block & ~7ull) & ~4095ull;
		uint64_t high = (uint64_t)layout_cell(((uint64_t)block + size) & ~7ull) & ~4095ull;
		madvise((void *)(low + (half ? UPPER_DISPLACEMENT : 0)), high - low, MADV_HUGEPAGE);
	}
	errno = saved;
	return block;
}

/* Freed blocks from this size on are forgotten at once, which gives pages back. */
#define KEPT_BELOW (64u << 10)
/* Bytes of a block that freeing it writes: where a structure has its first members; under control,
 * where speed matters less, nearly all there are. */
#define MARKED 64u
#define MARKED_CONTROLLED 4096u

/* Both only ever become true, and whoever reads an old value is as if it had come earlier. */
static HOT bool is_ours;  /* the program has no allocator of its own */
static HOT bool has_kept; /* some freed block may have kept its history */
/* Where such blocks lie; only where one thread runs at a time is it certain. */
static HOT uint64_t kept_low = UINT64_MAX, kept_high;

/* In a trace, what the program asked for first: that says how large the block is. */
static void forget_block(char *block, size_t size)
{
	size_t usable = usable_size(block);
	if (!runtime.always_slow || size >= usable) {
		forget(block, usable);
		return;
	}
	forget(block, size);
	forget(block + size, usable - size);
}

/* May the block have a history? Looking takes pages of shadow memory. */
static bool may_be_kept(const void *block)
{
	return !runtime.controlled ||
	       ((uint64_t)block < kept_high && (uint64_t)block + usable_size(block) > kept_low);
}

/* How much to ask libc for, so that the block can be followed. */
static size_t room_for(size_t size)
{
	return is_libc && size < SIZE_MAX / 2 && heap_follows() ? size + HEAP_TAIL : size;
}

static void give_back(bool all)
{
	for (void *block; (block = heap_surplus(all));) {
		size_t usable = usable_size(block);
		heap_gone(block, usable);
		heap_returned(usable);
		behind.free(block);
	}
}

/* After libc had no memory: is there some now? */
static bool makes_room(const void *block)
{
	if (block || !runtime.controlled)
		return false;
	give_back(true);
	return true;
}

static void *born(void *block, size_t size)
{
	if (!RELAXED_GET(is_ours))
		RELAXED_SET(is_ours, true);
	/* A trace also says where blocks come from. */
	if (block && ((RELAXED_GET(has_kept) && may_be_kept(block)) || runtime.always_slow))
		forget_block(block, size);
	if (block && UNLIKELY(runtime.controlled) && is_libc)
		heap_born(block, size, usable_size(block));
	return prepare(block, size);
}

static void dies(void *block, size_t size)
{
	if (size >= KEPT_BELOW)
		forget(block, size);
	else if (!RELAXED_GET(has_kept))
		RELAXED_SET(has_kept, true);
	if (size < KEPT_BELOW && runtime.controlled) {
		kept_low = (uint64_t)block < kept_low ? (uint64_t)block : kept_low;
		kept_high = (uint64_t)block + size > kept_high ? (uint64_t)block + size : kept_high;
	}
}

__attribute__((preserve_most)) void unsnarl_write(uint64_t word, uint64_t address, uint64_t size);

/* Called before the program frees a block. */
EXPORT __attribute__((preserve_most)) void unsnarl_free(uint64_t word, uint64_t address, uint64_t unused)
{
	(void)unused;
	if (!address || !RELAXED_GET(is_ours))
		return;
	size_t size = usable_size((void *)address), most = runtime.controlled ? MARKED_CONTROLLED : MARKED;
	if (runtime.controlled) {
		size = heap_size((void *)address, size);
		heap_about_to_free(true);
	}
	if (size)
		unsnarl_write(word, address, size < most ? size : most);
	if (runtime.controlled) {
		heap_about_to_free(false);
		heap_freeing(address, WORD_SITE(word));
	}
}

WEAK void *malloc(size_t size)
{
	void *block = behind.malloc(room_for(size));
	if (makes_room(block))
		block = behind.malloc(room_for(size));
	return born(block, size);
}

WEAK void *calloc(size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes))
		return behind.calloc(n, size);
	void *block = behind.calloc(1, room_for(bytes));
	if (makes_room(block))
		block = behind.calloc(1, room_for(bytes));
	return born(block, bytes);
}

WEAK void *aligned_alloc(size_t alignment, size_t size)
{
	return born(behind.aligned_alloc(alignment, room_for(size)), size);
}

WEAK void *memalign(size_t alignment, size_t size)
{
	return born(behind.memalign(alignment, room_for(size)), size);
}

WEAK int posix_memalign(void **block, size_t alignment, size_t size)
{
	int result = behind.posix_memalign(block, alignment, room_for(size));
	if (result == 0)
		born(*block, size);
	return result;
}

WEAK size_t malloc_usable_size(void *block)
{
	size_t usable = block ? usable_size(block) : 0;
	return UNLIKELY(runtime.controlled) && block ? heap_size(block, usable) : usable;
}

WEAK void free(void *block)
{
	if (!block)
		return;
	size_t usable = usable_size(block);
	dies(block, usable);
	if (UNLIKELY(runtime.controlled)) {
		if (heap_keep(block, usable)) {
			give_back(false);
			return;
		}
		heap_gone(block, usable);
	}
	behind.free(block);
}

/* In a controlled run the old block is kept as if it had been freed, since somebody may still use it. */
static void *moved_elsewhere(void *block, size_t size, size_t usable)
{
	size_t old = heap_size(block, usable);
	void *moved = malloc(size);
	if (!moved)
		return NULL;
	__builtin_memcpy(moved, block, old < size ? old : size);
	heap_freeing((uint64_t)block, unsnarl_self->allocating);
	free(block);
	return moved;
}

/* libc may move the block, and change its place in the end. */
static void *reallocated(void *block, size_t size)
{
	size_t old = block ? usable_size(block) : 0, asked = block ? heap_size(block, old) : 0;
	if (block)
		heap_gone(block, old);
	void *moved = behind.realloc(block, room_for(size));
	if (!moved && block && size) {
		heap_born(block, asked, old);
		return NULL;
	}
	if (block && moved != block)
		dies(block, old);
	if (moved != block)
		return born(moved, size);
	size_t now = moved ? usable_size(moved) : 0;
	if (now > old && RELAXED_GET(has_kept))
		forget((char *)moved + old, now - old);
	if (moved && runtime.controlled && is_libc)
		heap_born(moved, size, now);
	return prepare(moved, size);
}

WEAK void *realloc(void *block, size_t size)
{
	size_t usable = block && runtime.controlled ? usable_size(block) : 0;
	if (!usable)
		return reallocated(block, size);
	if (!size && heap_keeps(block, usable)) {
		heap_freeing((uint64_t)block, unsnarl_self->allocating);
		free(block);
		return NULL;
	}
	if (heap_resize(block, size, usable))
		return block;
	return heap_keeps(block, usable) ? moved_elsewhere(block, size, usable) : reallocated(block, size);
}

WEAK int munmap(void *start, size_t size)
{
	forget(start, size);
	return (int)syscall(SYS_munmap, start, size);
}

WEAK void *mmap(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *place = (void *)syscall(SYS_mmap, start, size, protection, flags, fd, offset);
	if (place != MAP_FAILED) {
		forget(place, size);
		prepare(place, size);
	}
	return place;
}

WEAK void *mmap64(void *start, size_t size, int protection, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));
