/* waitid waits for a child that waits for another thread.
 * uncontrolled: fork */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *none)
{
	EQUAL(write(ends[1], "x", 1), 1);
	return none;
}

int main(void)
{
	EQUAL(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		char byte = 0;
		_exit(read(ends[0], &byte, 1) == 1 ? byte : 1);
	}
	pthread_t thread = start(writer, NULL);
	siginfo_t info = { 0 };
	EQUAL(waitid(P_PID, (id_t)child, &info, WEXITED), 0);
	EQUAL(info.si_status, 'x');
	finish(thread);
	printf("ended\n");
	return 0;
}
