/* From a run area to observations. The area was written by a process that may
 * have crashed or been hostile: everything is bounds-checked. */
#ifndef LOOM_HARVEST_H
#define LOOM_HARVEST_H

#include "base/error.h"
#include "model/run.h"

/* Reads the area in `fd`. Observations of several processes are united; units
 * of all processes get common numbers. Never fails for odd contents: what is
 * not sound is counted in observations.dropped. */
struct error *harvest(int fd, struct observations *out);

#endif
