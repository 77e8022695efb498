/* A program that starts itself again in every way there is; what both images
 * did is observed, except when the environment does not lead there.
 * run: fork -> 0
 * run: vfork -> 0
 * run: spawn -> 0
 * run: system -> 0
 * run: popen -> 0
 * run: replace -> 9
 * run: cleared -> 0
 * pair: put > get
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int value;

static void *work(void *argument)
{
	value = 9; /* @put */
	return argument;
}

static int leaf(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return value; /* @get */
}

static int wait_for(pid_t pid)
{
	int status = 0;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int start(const char *how, char *self)
{
	char *arguments[] = {self, "leaf", NULL}, *nothing[] = {NULL}, command[4096];
	pid_t pid;
	snprintf(command, sizeof command, "exec '%s' leaf", self);
	if (strcmp(how, "replace") == 0)
		execv(self, arguments);
	if (strcmp(how, "system") == 0)
		return WEXITSTATUS(system(command));
	if (strcmp(how, "popen") == 0)
		return WEXITSTATUS(pclose(popen(command, "r")));
	if (strcmp(how, "spawn") == 0)
		return posix_spawn(&pid, self, NULL, NULL, arguments, environ) ? -1 : wait_for(pid);
	pid = strcmp(how, "vfork") == 0 ? vfork() : fork();
	if (pid == 0) {
		execve(self, arguments, strcmp(how, "cleared") == 0 ? nothing : environ);
		_exit(99);
	}
	return wait_for(pid);
}

int main(int argc, char **argv)
{
	static char self[4096];
	if (argc > 1 && strcmp(argv[1], "leaf") == 0)
		return leaf();
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		return 1;
	int mine = leaf();
	printf("%d", mine);
	fflush(stdout);
	printf(" %d\n", start(argc > 1 ? argv[1] : "fork", self));
	return 0;
}
