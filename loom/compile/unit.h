/* One source file on its way to an object with hooks. Knows nothing of LLVM, so that the
 * driver can do without it until there is a unit to weave. */
#ifndef COMPILE_UNIT_H
#define COMPILE_UNIT_H

#include <stdbool.h>

#include "base/error.h"

struct guard_set; /* model/guard_set.h */

struct transform_options {
	bool loops;                     /* hook loop headers */
	bool optimise;                  /* the unit is compiled with optimisation */
	const char *source;             /* as named on the command line */
	const struct guard_set *guard;  /* a production build: only its sites are hooked; NULL else */
	const struct guard_set *sparse; /* observed only at these sites; NULL: everywhere */
	uint32_t sample;                /* with `sparse`: and at one in so many others; 0: at none */
};

/* Reads bitcode, puts hooks, table and the original bitcode in, and writes the
 * result to `to`. Error when the file is unreadable or the result is unsound. */
struct error *unit_weave(const char *bitcode, const char *to, const struct transform_options *options);

#endif
