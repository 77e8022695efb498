/* Kills and reaps descendants. The caller is their subreaper: a process whose
 * parent dies becomes its child, however it escaped (setsid, double fork). So
 * every living descendant has an ancestor among the caller's children, and when
 * there is no child left there is no descendant left.
 */
#include "loom/sweep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define PATIENCE_S 30 /* a killed process may have gigabytes to give back */
#define PAUSE_NS 50000
#define LONGEST_PAUSE_NS 10000000

struct error *sweep_prepare(int *children)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || sigprocmask(SIG_BLOCK, &child, NULL) < 0)
		return error_errno(errno, "cannot become the keeper of the program's processes");
	*children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	return *children < 0 ? error_errno(errno, "cannot watch for the end of processes") : NULL;
}

bool sweep_ended(int children, pid_t program)
{
	struct signalfd_siginfo news[8];

	/* Read first: what ends from here on makes the descriptor readable again. */
	while (read(children, news, sizeof news) > 0)
		;
	for (;;) {
		siginfo_t ended = { 0 };

		if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0)
			return true;
		if (ended.si_pid == 0 || ended.si_pid == program)
			return ended.si_pid == program;
		waitpid(ended.si_pid, NULL, WNOHANG | __WALL);
	}
}

static void end(pid_t child)
{
	pid_t group = getpgid(child);

	/* The group first: no fork inside it outruns that. A descendant cannot be in
	 * the group of this process, which has a session of its own; be sure though. */
	if (group > 1 && group != getpgrp())
		kill(-group, SIGKILL);
	kill(child, SIGKILL);
}

static pid_t parent_of(const char *pid)
{
	char path[64], text[512];

	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	int parent = 0;

	if (!file)
		return 0;
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	/* The name in parentheses may hold anything, parentheses as well. */
	const char *behind = strrchr(text, ')');

	return behind && sscanf(behind, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* For kernels without a list of children. */
static void end_children_slowly(void)
{
	DIR *all = opendir("/proc");

	for (struct dirent *entry; all && (entry = readdir(all));)
		if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == getpid())
			end((pid_t)atoi(entry->d_name));
	if (all)
		closedir(all);
}

static void end_children(void)
{
	_cleanup_fclose_ FILE *list = fopen("/proc/thread-self/children", "re");
	int child;

	if (!list)
		end_children_slowly();
	while (list && fscanf(list, "%d", &child) == 1)
		end((pid_t)child);
}

bool sweep_others(pid_t program)
{
	siginfo_t ended;

	for (;;) {
		ended = (siginfo_t){ 0 };
		if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 || !ended.si_pid ||
		    ended.si_pid == program)
			break;
		waitpid(ended.si_pid, NULL, WNOHANG | __WALL);
	}
	_cleanup_fclose_ FILE *list = fopen("/proc/thread-self/children", "re");
	int child;

	while (list && fscanf(list, "%d", &child) == 1)
		if (child != program)
			return true;
	return false;
}

struct error *sweep(pid_t program, int *status, struct rusage *usage)
{
	struct timespec pause = { .tv_nsec = PAUSE_NS }, now, start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	/* Before the program is reaped: until then its number is not given away. */
	kill(-program, SIGKILL);
	for (;;) {
		struct rusage used;
		int how;
		pid_t ended = wait4(-1, &how, WNOHANG | __WALL, &used);

		if (ended == program) {
			*status = how;
			*usage = used;
		}
		if (ended > 0 || (ended < 0 && errno == EINTR))
			continue;
		if (ended < 0)
			return NULL;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec > PATIENCE_S)
			return error_new("a process that the program started cannot be killed; "
					 "look for it among the children of process %d",
					 (int)getpid());
		end_children();
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < LONGEST_PAUSE_NS)
			pause.tv_nsec *= 2;
	}
}
