/* How the functions that compiled code calls are declared: they spill no registers. */
#ifndef RUNTIME_ENTRY_H
#define RUNTIME_ENTRY_H

#include "loom/runtime/observe/cells.h"

#define COLD EXPORT __attribute__((preserve_most)) void

/* What the inlined hook did not know. */
#define MISS(name)                                                                \
	EXPORT __attribute__((preserve_most, noinline)) void unsnarl_miss_##name( \
		uint64_t word, uint64_t address, uint64_t memo)

MISS(read8);
MISS(read16);
MISS(write8);
MISS(write16);

#endif
