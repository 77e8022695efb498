#include "base/process.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

struct error *process_run(char *const *argv, int *status)
{
	pid_t pid;
	int failed = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (failed)
		return error_errno(failed, "cannot start %s: is it installed?", argv[0]);
	int raw;
	while (waitpid(pid, &raw, 0) < 0)
		if (errno != EINTR)
			return error_errno(errno, "cannot wait for %s", argv[0]);
	*status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
	return NULL;
}
