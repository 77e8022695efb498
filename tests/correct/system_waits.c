/* A command that waits for what another thread writes.
 * uncontrolled: other processes */
#include "check.h"

#include <unistd.h>

static int ends[2];

static void *writer(void *none)
{
	EQUAL(write(ends[1], "x\n", 2), 2);
	return none;
}

int main(void)
{
	char command[64];
	EQUAL(pipe(ends), 0);
	pthread_t thread = start(writer, NULL);
	snprintf(command, sizeof command, "read word <&%d && test \"$word\" = x", ends[0]);
	EQUAL(system(command), 0);
	finish(thread);
	printf("done\n");
	return 0;
}
