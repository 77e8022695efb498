/* Guard sets and logs of guarded programs on the terminal and as JSON; for guard and relax. */
#ifndef REPORT_GUARD_VIEW_H
#define REPORT_GUARD_VIEW_H

#include "analysis/invariant/violations.h"

/* Tells each violation in its source. */
void guard_log_print(const struct violations *violations);
void guard_log_json(const char *verb, const struct violations *violations);
/* On stderr: lines of a log that are damaged; accesses of a set that the program does not have any more. */
void guard_damaged_print(const char *verb, uint64_t lines);
void guard_gone_print(size_t gone, size_t all, const char *program);

/* What came of widening a set. */
void relax_print(const char *path, const struct relaxed *relaxed);
void relax_json(const char *path, const struct relaxed *relaxed);

#endif
