/* Runs a helper program (a compiler, a linker) to its end. Programs under test
 * are started by loom/launch.c alone. */
#ifndef BASE_PROCESS_RUN_H
#define BASE_PROCESS_RUN_H

#include "base/error.h"

/* Runs argv[0], found through PATH, with our descriptors. *status is its exit
 * status, 128 + signal when it was killed. */
struct error *process_run(char *const *argv, int *status);

/* From now on an interruption (SIGINT, SIGTERM, SIGHUP) waits until somebody asks for it. */
void process_catch(void);
/* The same for a process that has called process_catch: a signal is passed on to the program and
 * *signal is its number when the program has ended; 0 else. */
struct error *process_run_caught(char *const *argv, int *status, int *signal);

#endif
