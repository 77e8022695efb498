/* What rooms of the runtime need of the rest of it when they are tested alone. */
#ifndef TESTS_RUNTIME_ALONE_H
#define TESTS_RUNTIME_ALONE_H

#include <sys/mman.h>

#include "loom/runtime/observe/cells.h"

struct runtime runtime;

void *runtime_map(uint64_t at, size_t size)
{
	void *memory = mmap((void *)at, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
	assert_true(memory != MAP_FAILED);
	return memory;
}

void *runtime_map_near(size_t size)
{
	return runtime_map(0, size);
}

void *runtime_map_far(size_t size)
{
	return runtime_map(0, size);
}

void runtime_die(const char *what)
{
	fail_msg("%s", what);
}

#endif
