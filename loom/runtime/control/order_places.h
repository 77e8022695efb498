/* Where, and how often, the two steps of an order have been done. Only while the late one
 * has not been done for it does an early step come too early. */
#ifndef RUNTIME_ORDER_PLACES_H
#define RUNTIME_ORDER_PLACES_H

#include "loom/runtime/control/intervene.h"

/* Did the late step come at the place of `me`, in the number that its early step is to wait for? Not asked of what
 * is to wait until the late one is not done any more. */
HIDDEN bool order_places_served(const struct agent *me, const struct claim *claim);
/* Was it so at any place? Asked before a lock, where the place of the early step is not known yet. */
HIDDEN bool order_places_served_somewhere(const struct claim *claim);
/* Was the late step done at the place of `me` at all? */
HIDDEN bool order_places_late(const struct agent *me, const struct claim_step *step);
/* `me` does what it stands at. */
HIDDEN void order_places_pass(const struct agent *me, uint32_t mark);
/* The memory begins a new life: what was done there in an earlier one is not done. */
HIDDEN void order_places_forget(uint64_t address, uint64_t size);

#endif
