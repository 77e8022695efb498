/* Two threads over two pipes, each reads before it writes.
 * expect: deadlock */
#include "../../correct/check.h"

#include <unistd.h>

static int to[2], back[2];

static void *other(void *none)
{
	char byte;
	EQUAL(read(to[0], &byte, 1), 1);
	EQUAL(write(back[1], &byte, 1), 1);
	return none;
}

int main(void)
{
	char byte = 'x';
	EQUAL(pipe(to), 0);
	EQUAL(pipe(back), 0);
	pthread_t thread = start(other, NULL);
	EQUAL(read(back[0], &byte, 1), 1);
	EQUAL(write(to[1], &byte, 1), 1);
	finish(thread);
	return 0;
}
