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

/* To the first thread that lets it in, when its turn comes. */
HIDDEN void signals_to_process(int number, siginfo_t *info);

#endif
