/* One thread waits for a child that waits for what another thread writes.
 * uncontrolled: fork */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static int ends[2];
static pid_t child;

static void *waiter(void *none)
{
	int status = 0;
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(WEXITSTATUS(status), 'x');
	return none;
}

int main(void)
{
	EQUAL(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		char byte = 0;
		_exit(read(ends[0], &byte, 1) == 1 ? byte : 1);
	}
	pthread_t thread = start(waiter, NULL);
	EQUAL(write(ends[1], "x", 1), 1);
	finish(thread);
	printf("ended\n");
	return 0;
}
