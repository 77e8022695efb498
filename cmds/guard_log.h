/* Logs of guarded programs on the terminal and as JSON; for guard and relax. */
#ifndef CMDS_GUARD_LOG_H
#define CMDS_GUARD_LOG_H

#include "analysis/invariant/violations.h"

/* Reads logs, names in a NULL-terminated list; says on stderr how many lines could not be read. */
struct error *guard_log_read(const char *verb, char *const *paths, struct violations *out);
/* Tells each violation in its source. */
void guard_log_print(const struct violations *violations);
void guard_log_json(const char *verb, const struct violations *violations);

#endif
