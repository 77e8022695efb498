/* Whether the other threads of this process could move at all while one is held. */
#ifndef LOOM_ACTIVE_STALLED_H
#define LOOM_ACTIVE_STALLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True when every other thread sleeps until one of this process wakes it: on a lock, at a barrier, for a join, or
 * held by the tester on a word in [held, held + size). *mark tells one such standstill from the next: only when it
 * is found twice with the same mark has nobody moved in between. False whenever anything is not known. */
bool stalled_all_others(const void *held, size_t size, uint64_t *mark);

#endif
