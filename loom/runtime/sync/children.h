/* What the files on other processes offer each other: see children.c. */
#ifndef RUNTIME_CHILDREN_H
#define RUNTIME_CHILDREN_H

#include "loom/runtime/sync/sync.h"

/* The calling thread, if it is under control, is about to start another process. */
HIDDEN void children_start(void);

#endif
