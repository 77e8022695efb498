/* What a wait on a condition variable or a futex asks where a claim is about such waits (waking.c).
 * Part of control.h; both looms compile it. */
#ifndef RUNTIME_WAKING_H
#define RUNTIME_WAKING_H

#include <stdbool.h>
#include <stdint.h>

struct agent;

/* It signals a condition variable, or wakes at a word, where nobody waits; or it broadcasts. */
HIDDEN void waking_missed(struct agent *me, uint64_t condition);
/* It signals a condition variable; true: all who wait there are to be woken. */
HIDDEN bool waking_reaches_all(struct agent *me);
/* Of `n` who wait where the running thread signals, puts those in front of whom one is to be woken; how many they are. */
HIDDEN uint32_t waking_chooses(struct agent **waiters, uint32_t n);
/* It begins to wait, before the mutex is given back; true: the wait is to end at once. */
HIDDEN bool waking_at_once(struct agent *me, uint64_t condition);
/* Nobody can go on: who waits where the claim says looks once more; true: somebody does. */
HIDDEN bool waking_rescues(void);
/* It was woken, and the mutex is taken again; true: it is to wait on. */
HIDDEN bool waking_waits_on(struct agent *me);

#endif
