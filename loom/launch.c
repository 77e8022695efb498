/* The two simple ways to start a program: one run from start to end, and taking
 * the place of this process.
 */
#include "loom/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "loom/binary.h"
#include "loom/spawn.h"
#include "loom/steer.h"
#include "loom/world/view.h"

#define AS_LONG_AS_IT_TAKES 1e8
#define NOT_STARTED 127 /* exit status of a process that found no program, as shells have it */

struct error *launch_run(const struct launch_options *options, struct run *run)
{
	struct launch_pool *pool;
	bool got, done;

	if (options->loom == LOOM_BINARY && options->server && *options->server)
		return steer_run(*options->server, options, run);
	/* A pool of one: the worker, not the caller, becomes the keeper of whatever
	 * the program leaves behind. */
	TRY(launch_pool_start(options, 1, 1, &pool));
	struct error *error = launch_pool_next(pool, AS_LONG_AS_IT_TAKES, run, &got, &done);

	launch_pool_stop(pool);
	return error || got ? error : error_new("the run was interrupted");
}

/* Makes the area and names it in the environment's first entry. */
static struct error *ready(const struct launch_options *options, char entry[SPAWN_ENTRY_SIZE], int *area)
{
	TRY(spawn_area(&options->area, &options->control, options->area.seed, area));
	TRY(spawn_plan(*area, options->plan, options->control.nplan));
	TRY(spawn_sites(*area, options->sites, options->control.nsites));
	spawn_entry(entry, *area);
	if (fcntl(*area, F_SETFD, 0) < 0)
		return error_errno(errno, "cannot hand the run area to %s", options->argv[0]);
	if (options->still || spawn_must_be_still())
		personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
	return NULL;
}

/* Gives back the pages of one loaded file that can be read again. */
static int give_back(struct dl_phdr_info *loaded, size_t size, void *unused)
{
	const uintptr_t page = 4095;

	(void)size;
	(void)unused;
	for (int i = 0; i < loaded->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &loaded->dlpi_phdr[i];
		uintptr_t from = (loaded->dlpi_addr + part->p_vaddr) & ~page;

		if (part->p_type == PT_LOAD && !(part->p_flags & PF_W))
			madvise((void *)from,
				(loaded->dlpi_addr + part->p_vaddr + part->p_memsz - from + page) & ~page,
				MADV_DONTNEED);
	}
	return 0;
}

/* The kernel keeps the largest amount of memory that a process has had through exec: what the tool itself
 * took would be said of the program. */
static void forget_peak(void)
{
	_cleanup_close_ int marks = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	dl_iterate_phdr(give_back, NULL);
	if (marks >= 0 && write(marks, "5", 1) != 1)
		return; /* an old kernel: the peak stays */
}

/* Starts the program itself, on the binary loom, beside what looks at it. */
static struct error *start_beside(const struct launch_options *options, char **environment, pid_t *child)
{
	_cleanup_(binary_free) struct binary binary = { 0 };

	*child = 0;
	if (options->loom != LOOM_BINARY)
		return NULL;
	TRY(binary_prepare(options, &binary));
	_cleanup_free_ char **own = binary_environment(&binary, environment);

	*child = fork();
	if (*child == 0) {
		int input = options->world && options->world->input >= 0 ? dup(options->world->input)
									 : open("/dev/null", O_RDONLY);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0); /* what the terminal sends is not for it */
		dup2(input, STDIN_FILENO);
		execve(binary.path, binary.argv, own);
		_exit(NOT_STARTED);
	}
	return *child < 0 ? error_errno(errno, "cannot start %s", binary.path) : NULL;
}

struct error *launch_under(const struct launch_options *options, char *const *argv, int *status)
{
	char entry[SPAWN_ENTRY_SIZE];
	_cleanup_free_ char **environment = spawn_environment(entry);
	_cleanup_close_ int area = -1;
	struct view *view = NULL;
	int end = 0;

	TRY(ready(options, entry, &area));
	TRY(view_open(options->world, &view));
	TRY(view_begin(view));
	pid_t beside, child;

	TRY(start_beside(options, environment, &beside));
	child = fork();
	if (child == 0) {
		execvpe(argv[0], argv, environment);
		_exit(NOT_STARTED);
	}
	if (child < 0)
		return error_errno(errno, "cannot start %s", argv[0]);
	/* What the terminal sends is for the one that was started. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(child, &end, 0) < 0 && errno == EINTR)
		;
	if (beside > 0) {
		kill(beside, SIGKILL);
		waitpid(beside, NULL, 0);
	}
	view_close(view);
	*status = WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end);
	if (*status == NOT_STARTED)
		return error_new("cannot start %s: is it installed?", argv[0]);
	return NULL;
}

struct error *launch_exec(const struct launch_options *options)
{
	char entry[SPAWN_ENTRY_SIZE];
	_cleanup_free_ char **own = spawn_environment(entry), **environment = NULL;
	_cleanup_(binary_free) struct binary binary = { 0 };
	_cleanup_close_ int area = -1;

	TRY(binary_prepare(options, &binary));
	environment = binary_environment(&binary, own);
	TRY(ready(options, entry, &area));
	forget_peak();
	if (binary.path)
		execve(binary.path, binary.argv, environment);
	else
		execve(options->path ? options->path : options->argv[0], options->argv, environment);
	return error_errno(errno, "cannot start %s", options->argv[0]);
}
