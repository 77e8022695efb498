/* Which side of a group's others came: before a whole group of role 0, or after it. What is
 * seen goes into the counts of the claim (CLAIM_BEFORE, CLAIM_AFTER). */
#ifndef RUNTIME_SIDES_H
#define RUNTIME_SIDES_H

#include "loom/runtime/control/intervene.h"

/* First and last step of each role. */
HIDDEN void sides_start(const uint32_t *first, const uint32_t *last);
/* A moment, later than all before. */
HIDDEN uint64_t sides_now(void);
/* `me` does a step of another role than the group's. */
HIDDEN void sides_step(const struct agent *me, uint32_t step);
/* Another role than the group's is over for `me`; if it has begun it, it will not do the last step. */
HIDDEN void sides_leave(const struct agent *me, uint32_t role);
/* Whoever waits for the end of another thread has left its role, too. True: somebody who waits for that may go on. */
HIDDEN bool sides_lapse(void);
/* `me` has done a whole group of role 0, which began then; `same_code`: another role begins or ends as it does. */
HIDDEN void sides_group(const struct agent *me, const struct range *ranges, uint64_t began, bool same_code);
/* Must whoever would begin this role wait, since the other side is to come first? */
HIDDEN bool sides_hold(uint32_t role);
/* The memory begins a new life. */
HIDDEN void sides_forget(uint64_t address, uint64_t size);

#endif
