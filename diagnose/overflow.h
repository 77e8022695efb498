/* Accesses that leave the memory they began in: a copy that is longer than its block, or
 * a walk whose next step lies behind the end of the block or of the variable on the stack
 * that it walked through. Pure, on a traced run.
 */
#ifndef DIAGNOSE_OVERFLOW_H
#define DIAGNOSE_OVERFLOW_H

#include "model/atlas.h"
#include "model/run.h"

/* The first write that does so, by its place in the trace; run->nevents when there is none. */
size_t overflow_find(const struct observations *run, const struct atlas *atlas);

#endif
