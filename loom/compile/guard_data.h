/* Guarded production builds: the set that the command line names, the object that holds
 * it, and what the linker needs. */
#ifndef COMPILE_GUARD_DATA_H
#define COMPILE_GUARD_DATA_H

#include <stdio.h>

#include "model/guard_set.h"

/* Reads the set and applies --limit (milliseconds as text; NULL: the set's own). */
struct error *guard_load(const char *path, const char *limit, struct guard_set *out);
/* A C source with struct guard_data of loom/guard/guard.h. `log` may be NULL. */
void guard_data_write(FILE *out, const struct guard_set *set, const char *log);
/* The name that objects made with this set refer to and that its data define: objects of another set do not
 * link. */
void guard_symbol(const struct guard_set *set, char out[64]);

#endif
