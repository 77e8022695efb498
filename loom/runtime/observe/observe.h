/* What the room observe/ shows to the others: beginnings, ends, and what is known of a
 * location. How it is known is its own business (cells.h). It may use the common ground
 * (runtime.h) alone. */
#ifndef RUNTIME_OBSERVE_H
#define RUNTIME_OBSERVE_H

#include "loom/runtime/runtime.h"

/* ---- a run begins; a child of a fork goes on ---- */
HIDDEN void observe_start(void);
HIDDEN void observe_after_fork(void);
HIDDEN void context_start(uint32_t events); /* as many are kept */
HIDDEN uint32_t context_empty(void);
HIDDEN void history_start(void);
HIDDEN void history_touch(void); /* a controlled run begins */
HIDDEN void readers_start(void);
HIDDEN void lines_start(void);
HIDDEN void callers_start(void);
HIDDEN void granule_start(void);
HIDDEN void granule_after_fork(void);
HIDDEN int monitor_start(char **environment); /* the descriptor of a private area; -1 */
HIDDEN void monitor_after_fork(void);

/* ---- a thread waits, jumps or ends ---- */
/* Makes sure of the last take-over, when there was one (self->taken.cell). */
HIDDEN void cell_settle(struct thread *self);
/* What waits for other threads (self->posted) or for this one (self->inbox); before a synchronisation call
 * when self->posting. */
HIDDEN void context_send(struct thread *self, bool synchronises);
HIDDEN void granule_unlock_held(struct thread *self);
HIDDEN void spare_leave(struct thread *self); /* it ends */
HIDDEN void observe_dropped(void);            /* something could not be recorded */
HIDDEN bool recycle_slots(void);              /* false when no slot could be freed */
HIDDEN void jitter_at_call(void);
HIDDEN void observe_close(struct thread *self); /* under control: it has passed a synchronisation call */

/* ---- how a thread presents itself in cells ---- */
/* Which low bits a private cell keeps of an order; those above are all set then, and thread_order knows. To
 * ask the other thread for them would take a cache line from it that it needs at every access. */
INLINE uint32_t order_of_private(uint64_t low)
{
	return (uint32_t)low | ~(uint32_t)PRIVATE_ORDER;
}
/* The first half of a cell with a row, but for the row's number. */
INLINE uint64_t row_low(uint32_t slot)
{
	return (uint64_t)OWNER(slot, FORM_ARRAY | FORM_PRIVATE, MODE_ALL) << 48;
}

/* ---- locations ---- */
/* Has another thread, since its last synchronisation call, done something there that the access is in
 * conflict with? */
HIDDEN bool granule_is_open(const struct thread *self, uint64_t address, size_t size, enum access access);
HIDDEN void granule_forget(struct thread *self, uint64_t address, size_t size, bool stack);
HIDDEN void trace_forget(struct thread *self, uint64_t address, size_t size, bool stack);
/* A call that synchronises was done, in a traced run. */
HIDDEN void trace_call(struct thread *self, uint32_t site, uint64_t object, enum area_action action);
HIDDEN void trace_end(void);

#endif
