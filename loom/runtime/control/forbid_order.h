/* What forbid.c asks where the claim is an order. */
#ifndef RUNTIME_FORBID_ORDER_H
#define RUNTIME_FORBID_ORDER_H

#include "loom/runtime/control/intervene.h"

HIDDEN enum hold forbid_order_holds(struct agent *me, uint32_t mark);
HIDDEN void forbid_order_passes(struct agent *me, uint32_t mark);
/* True: that is giving up. */
HIDDEN bool forbid_order_lets_go(struct agent *held);

#endif
