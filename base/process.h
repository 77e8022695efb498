/* Runs a helper program (a compiler, a linker) to its end. Programs under test
 * are started by loom/launch.c alone. */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include "base/error.h"

/* Runs argv[0], found through PATH, with our descriptors. *status is its exit
 * status, 128 + signal when it was killed. */
struct error *process_run(char *const *argv, int *status);

#endif
