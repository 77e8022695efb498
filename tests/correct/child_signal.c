/* SIGCHLD wakes a loop that polls; the handler only notes it.
 * uncontrolled: fork */
#include "check.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void on_child(int number)
{
	int saved = errno;
	char byte = (char)number;
	if (write(ends[1], &byte, 1) != 1)
		abort();
	errno = saved;
}

static void *worker(void *none)
{
	for (volatile int i = 0; i < 100; i++)
		;
	return none;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_child, .sa_flags = SA_RESTART };
	EQUAL(pipe(ends), 0);
	EQUAL(sigaction(SIGCHLD, &action, NULL), 0);
	pthread_t thread = start(worker, NULL);
	pid_t child = fork();
	if (child == 0) {
		usleep(2000);
		_exit(3);
	}
	struct pollfd polled = { .fd = ends[0], .events = POLLIN };
	while (poll(&polled, 1, -1) < 0)
		EQUAL(errno, EINTR);
	int status = 0;
	EQUAL(waitpid(child, &status, WNOHANG), child);
	EQUAL(WEXITSTATUS(status), 3);
	finish(thread);
	printf("child ended\n");
	return 0;
}
