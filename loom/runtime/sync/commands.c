/* Commands under control: libc would wait for them where no other thread can run. They are started here
 * and waited for like any other child. */
#include "loom/runtime/sync/children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int start_shell(pid_t *pid, const char *command, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes)
{
	char *words[] = { "sh", "-c", (char *)(uintptr_t)command, NULL };
	return REAL(posix_spawn)(pid, "/bin/sh", actions, attributes, words, environ);
}

/* As system(3) has it: the caller ignores what the terminal sends, the command does not. */
static int run_command(struct agent *me, const char *command)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN }, interrupt, quit;
	sigset_t child, before, defaults;
	posix_spawnattr_t attributes;
	pid_t pid;
	int status = -1;
	token_carry_no_more(me);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	REAL(pthread_sigmask)(SIG_BLOCK, &child, &before);
	REAL(sigaction)(SIGINT, &ignored, &interrupt);
	REAL(sigaction)(SIGQUIT, &ignored, &quit);
	sigemptyset(&defaults);
	if (interrupt.sa_handler != SIG_IGN)
		sigaddset(&defaults, SIGINT);
	if (quit.sa_handler != SIG_IGN)
		sigaddset(&defaults, SIGQUIT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &before);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int failed = start_shell(&pid, command, NULL, &attributes);
	if (failed)
		errno = failed;
	else
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	posix_spawnattr_destroy(&attributes);
	REAL(sigaction)(SIGINT, &interrupt, NULL);
	REAL(sigaction)(SIGQUIT, &quit, NULL);
	REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
	return status;
}

INTERPOSE int system(const char *command)
{
	struct agent *me = control_me();
	if (!me || !command)
		return REAL(system)(command);
	control_call(me, NULL);
	children_start();
	return run_command(me, command);
}

/* ---- commands at the other end of a stream ---- */

#define COMMANDS_MOST 64

static struct {
	FILE *stream;
	pid_t pid;
} commands[COMMANDS_MOST];

/* The stream of a command that reads or writes it; NULL with errno. */
static FILE *open_command(const char *command, bool reads, bool close_on_exec, uint32_t slot)
{
	int ends[2];
	posix_spawn_file_actions_t actions;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return NULL;
	int ours = ends[reads ? 0 : 1], its = ends[reads ? 1 : 0];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, its, reads ? 1 : 0);
	int failed = start_shell(&commands[slot].pid, command, &actions, NULL);
	posix_spawn_file_actions_destroy(&actions);
	REAL(close)(its);
	FILE *stream = failed ? NULL : fdopen(ours, reads ? "r" : "w");
	if (!stream) {
		REAL(close)(ours);
		errno = failed ? failed : ENOMEM;
		return NULL;
	}
	if (!close_on_exec)
		REAL(fcntl)(ours, F_SETFD, 0);
	return commands[slot].stream = stream;
}

INTERPOSE FILE *popen(const char *command, const char *mode)
{
	struct agent *me = control_me();
	uint32_t slot = 0;
	while (slot < COMMANDS_MOST && commands[slot].stream)
		slot++;
	if (!me || slot == COMMANDS_MOST || (mode[0] != 'r' && mode[0] != 'w')) {
		children_start();
		return REAL(popen)(command, mode);
	}
	control_call(me, NULL);
	children_start();
	return open_command(command, mode[0] == 'r', strchr(mode, 'e') != NULL, slot);
}

INTERPOSE int pclose(FILE *stream)
{
	int status;
	uint32_t slot = 0;
	while (slot < COMMANDS_MOST && commands[slot].stream != stream)
		slot++;
	if (slot == COMMANDS_MOST)
		return REAL(pclose)(stream);
	pid_t pid = commands[slot].pid, ended;
	commands[slot].stream = NULL;
	fclose(stream);
	while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	return ended < 0 ? -1 : status;
}
