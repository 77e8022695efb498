/* Prints the number that unsnarl_self->sync holds when lockf is called: a stand-in
 * for the runtime's own synchronisation functions. Built without hooks. */
#include <stdio.h>
#include <unistd.h>

#include "loom/runtime/observe/layout.h"

extern __thread struct thread *unsnarl_self;

int lockf(int file, int command, off_t size)
{
	printf("%d %u\n", command + (int)size, unsnarl_self->sync);
	return file;
}

/* No synchronisation: 0, after any that was. */
void elsewhere(void)
{
	if (unsnarl_self->sync)
		printf("still in %u\n", unsnarl_self->sync);
}
