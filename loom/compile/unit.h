/* One source file on its way to an object with hooks. */
#ifndef COMPILE_UNIT_H
#define COMPILE_UNIT_H

#include "loom/compile/transform.h"

/* Reads bitcode, puts hooks, table and the original bitcode in, and writes the
 * result to `to`. Error when the file is unreadable or the result is unsound. */
struct error *unit_weave(const char *bitcode, const char *to, const struct transform_options *options);

#endif
