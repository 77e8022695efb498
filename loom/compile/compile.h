/* The compiled loom's front door: `unsnarl cc` and `unsnarl c++`, drop-in
 * compilers that put hooks into what they compile. */
#ifndef COMPILE_COMPILE_H
#define COMPILE_COMPILE_H

#include <stdbool.h>

#include "base/error.h"

/* Does what clang would do with these arguments (argv[0] is ignored), hooks
 * included. *status is the exit status for the caller; errors are ours alone,
 * the compiler prints its own. */
struct error *compile_main(bool cxx, int argc, char **argv, int *status);

#endif
