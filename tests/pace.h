/* Bars on time for machines that are not always as fast: a fixed piece of work, the
 * yardstick, tells how much slower than on a calm machine everything goes just now,
 * and a bar is stretched by as much, up to four times. All times are CPU time of this process.
 */
#ifndef TESTS_PACE_H
#define TESTS_PACE_H

#include <stdbool.h>

double pace_cpu(void);

/* One attempt; returns its CPU time. */
typedef double pace_work(void *data);
/* Does the best of up to five attempts take less than `most` seconds, each time divided by how slow
 * the machine was right before and after it? Under a sanitizer there is one attempt, and clocks mean
 * nothing. */
bool pace_is_below(double most, pace_work *work, void *data);

#endif
