/* Asks every millisecond whether the child has ended, and gives up after ten seconds.
 * uncontrolled: fork */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static void *worker(void *none)
{
	usleep(500);
	return none;
}

int main(void)
{
	pthread_t thread = start(worker, NULL);
	pid_t child = fork();
	if (child == 0) {
		usleep(20000);
		_exit(0);
	}
	int tries = 0;
	while (waitpid(child, NULL, WNOHANG) != child) {
		CHECK(++tries < 10000);
		usleep(1000);
	}
	finish(thread);
	printf("it ended\n");
	return 0;
}
