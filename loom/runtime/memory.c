/* Memory whose life ends takes its history along: freed blocks, unmapped and
 * newly mapped pages, stacks of ended threads. Each function here stands before
 * libc's own (weakly, so that a program's own allocator wins) and changes
 * nothing of what it does. */
#include "loom/runtime/runtime.h"

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

void runtime_forget(struct thread *self, uint64_t address, size_t size)
{
	if (runtime.always_slow)
		trace_forget(self, address, size);
	granule_forget(self, address, size);
	if (runtime.always_slow)
		trace_end();
}

static void forget(const void *start, size_t size)
{
	struct thread *self = unsnarl_self;
	if (self == &unsnarl_nobody || self->busy)
		return;
	int saved = errno;
	self->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	runtime_forget(self, (uint64_t)start, size);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->busy = 0;
	errno = saved;
}

/* The function that would be called without us: the next one in load order, or
 * libc's while the dynamic linker itself is still looking. */
static void *next(const char *name, void **cache, void *fallback)
{
	void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);
	static __thread bool looking;
	if (found)
		return found;
	if (looking)
		return fallback;
	looking = true;
	found = dlsym(RTLD_NEXT, name);
	looking = false;
	__atomic_store_n(cache, found ? found : fallback, __ATOMIC_RELAXED);
	return found ? found : fallback;
}

WEAK void free(void *block)
{
	static void *real;
	if (!block)
		return;
	forget(block, malloc_usable_size(block));
	((void (*)(void *))next("free", &real, (void *)__libc_free))(block);
}

WEAK void *realloc(void *block, size_t size)
{
	static void *real;
	size_t old = block ? malloc_usable_size(block) : 0;
	void *moved = ((void *(*)(void *, size_t))next("realloc", &real, (void *)__libc_realloc))(block, size);
	if (block && moved != block && (moved || !size))
		forget(block, old);
	return moved;
}

WEAK int munmap(void *start, size_t size)
{
	forget(start, size);
	return (int)syscall(SYS_munmap, start, size);
}

WEAK void *mmap(void *start, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *place = (void *)syscall(SYS_mmap, start, size, protection, flags, fd, offset);
	if (place != MAP_FAILED)
		forget(place, size);
	return place;
}

WEAK void *mmap64(void *start, size_t size, int protection, int flags, int fd, off64_t offset)
    __attribute__((alias("mmap")));
