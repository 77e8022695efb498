/* Helper programs. Signals are asked for, not handled: so nothing of this process is ever
 * interrupted half way, and what is temporary can be removed. */
#include "base/process_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

extern char **environ;

static struct error *wait_for(pid_t pid, const char *name, int *status)
{
	int raw;

	while (waitpid(pid, &raw, 0) < 0)
		if (errno != EINTR)
			return error_errno(errno, "cannot wait for %s", name);
	*status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
	return NULL;
}

struct error *process_run(char *const *argv, int *status)
{
	pid_t pid;
	int failed = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

	if (failed)
		return error_errno(failed, "cannot start %s: is it installed?", argv[0]);
	return wait_for(pid, argv[0], status);
}

/* Those that are not ignored by the wish of whoever started us. */
static void caught(sigset_t *set)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;

	sigemptyset(set);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(set, signals[i]);
}

void process_catch(void)
{
	sigset_t set;

	caught(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int start(pid_t *pid, char *const *argv)
{
	posix_spawnattr_t attributes;
	sigset_t set;
	int failed = posix_spawnattr_init(&attributes);

	if (failed)
		return failed;
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attributes, &set);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	failed = posix_spawnp(pid, argv[0], NULL, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

struct error *process_run_caught(char *const *argv, int *status, int *signal)
{
	sigset_t set;
	pid_t pid;
	int failed = start(&pid, argv);

	*signal = 0;
	if (failed)
		return error_errno(failed, "cannot start %s: is it installed?", argv[0]);
	caught(&set);
	_cleanup_close_ int signals = signalfd(-1, &set, SFD_CLOEXEC), ended = pidfd_open(pid, 0);
	struct pollfd polled[] = { { .fd = signals, .events = POLLIN }, { .fd = ended, .events = POLLIN } };
	struct signalfd_siginfo news;

	while (ended >= 0 && !polled[1].revents) {
		if (poll(polled, 2, -1) <= 0 || !polled[0].revents || read(signals, &news, sizeof news) < 0)
			continue;
		*signal = (int)news.ssi_signo;
		kill(pid, *signal);
	}
	return wait_for(pid, argv[0], status);
}
