/* Leaves processes behind that outlive it, hold its pipes open and ignore what
 * signals can be ignored. A further argument marks all of them in /proc. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void stay(void)
{
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_IGN);
	for (;;)
		pause();
}

static void leave_child(int escape)
{
	if (fork() != 0)
		return;
	if (escape)
		setsid();
	stay();
}

static void leave_daemon(void)
{
	pid_t middle = fork();

	if (middle == 0) {
		setsid();
		if (fork() == 0)
			stay();
		_exit(0);
	}
	waitpid(middle, NULL, 0);
}

/* Each has a child in yet another session. */
static void leave_chain(int length)
{
	if (length == 0 || fork() != 0)
		return;
	setsid();
	leave_chain(length - 1);
	stay();
}

/* Keeps forking and leaving, so that no number is valid for long. */
static void leave_comet(void)
{
	if (fork() != 0)
		return;
	for (;;) {
		setsid();
		if (fork() > 0)
			_exit(0);
	}
}

/* Waits for an orphan to vanish, as scripts that stop daemons do. */
static int bury_orphan(void)
{
	int ends[2];
	pid_t orphan = 0;

	if (pipe(ends) < 0)
		return 1;
	pid_t middle = fork();

	if (middle == 0) {
		orphan = fork();
		if (orphan == 0) {
			usleep(20000);
			_exit(0);
		}
		_exit(write(ends[1], &orphan, sizeof orphan) < 0);
	}
	waitpid(middle, NULL, 0);
	if (read(ends[0], &orphan, sizeof orphan) < 0)
		return 1;
	while (kill(orphan, 0) == 0)
		usleep(1000);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "orphan") == 0)
		return bury_orphan();
	if (strcmp(what, "child") == 0)
		leave_child(0);
	if (strcmp(what, "session") == 0)
		leave_child(1);
	if (strcmp(what, "daemon") == 0)
		leave_daemon();
	if (strcmp(what, "chain") == 0)
		leave_chain(6);
	if (strcmp(what, "comet") == 0)
		leave_comet();
	if (strcmp(what, "hang") == 0) {
		leave_daemon();
		leave_child(1);
		stay();
	}
	puts("left");
	return 0;
}
