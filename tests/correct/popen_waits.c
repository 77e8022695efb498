/* The output of a command that waits for what another thread writes; then its end.
 * uncontrolled: other processes */
#include "check.h"

#include <unistd.h>

static int ends[2], more[2];

static void *writer(void *none)
{
	EQUAL(write(ends[1], "x\n", 2), 2);
	EQUAL(write(more[1], "y\n", 2), 2);
	return none;
}

int main(void)
{
	char command[128], line[16];
	EQUAL(pipe(ends), 0);
	EQUAL(pipe(more), 0);
	pthread_t thread = start(writer, NULL);
	snprintf(command, sizeof command, "read word <&%d; echo got $word; read word <&%d", ends[0], more[0]);
	FILE *from = popen(command, "r");
	CHECK(from);
	CHECK(fgets(line, sizeof line, from));
	EQUAL(pclose(from), 0);
	finish(thread);
	printf("%s", line);
	return 0;
}
