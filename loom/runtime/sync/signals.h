/* What the files on signals and timers offer each other: see handlers.c. */
#ifndef RUNTIME_SIGNALS_H
#define RUNTIME_SIGNALS_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "loom/runtime/sync/sync.h"

/* libc's own: in agent->signals it stands for an asynchronous cancellation that has to come. */
#define SIGNAL_CANCEL 32

/* To this thread, whatever it waits for, when its turn comes. False when no handler is to run now: then the kernel
 * does what is usual, or keeps the signal until the thread lets it in. */
HIDDEN bool signals_to_agent(struct agent *agent, int number);
/* To the first thread that lets it in, when its turn comes. */
HIDDEN void signals_to_process(int number, siginfo_t *info);

#endif
