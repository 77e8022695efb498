/* What the files of the room process/ offer each other: start, threads, memory and ends of
 * the process under test. It stands above all other rooms and may use each of them; what
 * it does for all of them is in runtime.h. */
#ifndef RUNTIME_PROCESS_H
#define RUNTIME_PROCESS_H

#include "loom/runtime/interpose.h"
#include "loom/runtime/observe/observe.h"
#include "loom/runtime/sync/sync.h"

/* ---- fork_server.c: a program that forks once per run ---- */
HIDDEN bool server_prepare(char **environment); /* is this to be a server? */
HIDDEN void server_loop(void);                  /* returns in each child */

/* ---- inherited_text.c: what a server's runs inherit of it ---- */
HIDDEN void text_prepare(void);               /* before libraries are initialised */
HIDDEN void text_before_run(bool controlled); /* control ended the last one */
HIDDEN void text_begin_run(int number);       /* in the run */

/* ---- memory.c ---- */
HIDDEN void memory_start(void);

/* stack.c: to be called before shadow memory is mapped; may start the program once more. */
HIDDEN void stack_settle(char **argv, char **environment);

#endif
