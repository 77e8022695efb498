/* A child sends its parent a signal that sigsuspend waits for.
 * uncontrolled: fork */
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ready;

static void on_ready(int number)
{
	(void)number;
	ready = 1;
}

static void *sleeper(void *none)
{
	usleep(1000);
	return none;
}

int main(void)
{
	sigset_t set, old;
	pid_t parent = getpid();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	EQUAL(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
	signal(SIGUSR1, on_ready);
	pthread_t thread = start(sleeper, NULL);
	pid_t child = fork();
	if (child == 0)
		_exit(getppid() != parent || kill(getppid(), SIGUSR1) != 0);
	while (!ready)
		sigsuspend(&old);
	int status = 1;
	EQUAL(waitpid(child, &status, 0), child);
	EQUAL(status, 0);
	finish(thread);
	printf("ready\n");
	return 0;
}
