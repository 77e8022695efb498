/* Force and forbid, inside the controlled runtime: a thread that arrives at a point may
 * be held there for the sake of a claim (model/claim.h). Held threads wait like others;
 * when nobody else can run one of them is let go, and that is counted. Whatever is here
 * follows from the points alone, so a schedule with its claim can be replayed. */
#ifndef RUNTIME_INTERVENE_H
#define RUNTIME_INTERVENE_H

#include "loom/runtime/control/engine.h"
#include "loom/runtime/control/waking.h"

/* What a site is to the claim. */
#define MARK_KNOWN 0x8000u
#define MARK_STEP(i) (1u << (i))
#define MARK_STEPS ((1u << CLAIM_STEPS) - 1)
#define MARK_DOOR(role) (1u << (CLAIM_STEPS + (role)))
#define MARK_EXIT(role) (1u << (CLAIM_STEPS + CLAIM_ROLES + (role)))

/* Should the thread wait at this point? Called again whenever something has changed. */
enum hold { HOLD_NOT, HOLD_SOFTLY, HOLD_FIRMLY };

struct range {
	uint64_t address, size;
	bool known;
};
INLINE bool ranges_meet(const struct range *a, uint64_t address, uint64_t size)
{
	return !a->known || (a->address < address + size && address < a->address + a->size);
}

HIDDEN const struct claim *intervene_claim(void);
HIDDEN struct claim_counts *intervene_counts(void);
HIDDEN void intervene_changed(void); /* those who are held look again */
HIDDEN uint32_t intervene_mark(uint32_t site);

/* forbid.c */
HIDDEN void forbid_start(void);
HIDDEN void forbid_arrive(struct agent *me, uint32_t mark); /* at any point, before it is asked who is held */
HIDDEN enum hold forbid_holds(struct agent *me, uint32_t mark);
HIDDEN bool forbid_covers(const struct thread *self, uint64_t address, uint64_t size);
HIDDEN void forbid_passes(struct agent *me, uint32_t mark); /* does what it stands at */
HIDDEN void forbid_continues(struct agent *me, uint32_t mark, uint64_t address, uint64_t size);
HIDDEN bool forbid_lapses(void);                /* closes groups that hold others up; true: some */
HIDDEN bool forbid_lets_go(struct agent *held); /* true: that is giving up */
HIDDEN void forbid_ended(struct agent *me);
HIDDEN void forbid_forgets(uint64_t address, uint64_t size); /* memory begins a new life */

/* waking.c */
HIDDEN void waking_passes(struct agent *me, uint32_t mark); /* does what it stands at */

/* force.c */
HIDDEN void force_start(void);
HIDDEN enum hold force_holds(struct agent *me, uint32_t mark);
HIDDEN void force_passes(struct agent *me, uint32_t mark);
HIDDEN bool force_lets_go(struct agent *held);
HIDDEN void force_ended(struct agent *me);

#endif
