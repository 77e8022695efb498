/* A progress bar on a terminal: how much of how many is done, a few words from
 * the caller and the time left, on one line that is cleared at the end. Where
 * there is no terminal there is no bar, and all functions do nothing.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdint.h>

struct progress;

/* NULL (which the others accept) when `fd` is not a terminal. */
struct progress *progress_start(int fd, uint64_t total);

/* Redraws, at most ten times a second. */
void progress_show(struct progress *progress, uint64_t done, const char *words);

/* Clears the line and frees the bar. */
void progress_stop(struct progress *progress);
void progress_stopp(struct progress **progress); /* for _cleanup_ */

#endif
