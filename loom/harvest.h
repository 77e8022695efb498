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

/* The schedule that a controlled run left in its area: policy, seed, turns, waits,
 * what was not under control. *end is an enum area_end. */
struct error *harvest_schedule(int fd, struct schedule *out, uint32_t *end);

/* Reads `size` bytes; what lies behind the end of the file reads as zero. */
struct error *harvest_read(int fd, uint64_t offset, void *bytes, size_t size);

/* A turn of an area in the words of the model; false when it is unsound. */
struct area_turn;
bool harvest_turn(const struct area_turn *from, struct schedule_turn *to);

#endif
