/* Starting processes. vfork keeps this cheap: a run costs no copy of the tool's
 * page tables. Between vfork and exec the child borrows the memory of its
 * parent, so that there only system calls are made.
 */
#include "loom/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"

#define AREA_DESCRIPTOR 1000 /* the first tried: above what programs count on to be free */
#define SHADOW_RANDOM_BITS 28

/* Runs in the child, on the parent's memory; returns only when it failed. */
static int become(const struct spawn *spawn, pid_t parent)
{
	struct rlimit core;
	sigset_t none;

	setsid();
	/* A parent that died before the request cannot be noticed by it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return ESRCH;
	if (dup2(spawn->in, STDIN_FILENO) < 0 || dup2(spawn->out, STDOUT_FILENO) < 0 ||
	    dup2(spawn->err, STDERR_FILENO) < 0)
		return errno;
	if (spawn->area >= 0 && fcntl(spawn->area, F_SETFD, 0) < 0)
		return errno;
	if (spawn->still)
		personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
	/* A limit of 1 byte also keeps a core handler from being started; the shadow
	 * memory would make cores huge. */
	if (getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur > 1) {
		core.rlim_cur = 1;
		setrlimit(RLIMIT_CORE, &core);
	}
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(spawn->path ? spawn->path : spawn->argv[0], spawn->argv, spawn->environment);
	return errno;
}

struct error *spawn(const struct spawn *spawn, pid_t *pid)
{
	/* volatile: written by the child while the parent is suspended. */
	volatile int failure = 0;
	pid_t parent = getpid(), child = vfork();

	if (child == 0) {
		failure = become(spawn, parent);
		_exit(127);
	}
	if (child < 0)
		return error_errno(errno, "cannot start %s", spawn->argv[0]);
	if (failure) {
		waitpid(child, NULL, 0);
		return error_errno(failure, "cannot start %s", spawn->argv[0]);
	}
	*pid = child;
	return NULL;
}

/* Moves a descriptor out of the way of the program's own. */
static int move_up(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, AREA_DESCRIPTOR);

	/* The limit on descriptors may be lower than that. */
	for (int floor = AREA_DESCRIPTOR / 2; moved < 0 && floor > 2; floor /= 2)
		moved = fcntl(fd, F_DUPFD_CLOEXEC, floor);
	return moved;
}

struct error *spawn_area(const struct area_options *options, uint64_t seed, int *fd)
{
	struct area_head head = { .magic = AREA_MAGIC, .version = AREA_VERSION, .options = *options };
	_cleanup_close_ int made = memfd_create("unsnarl-area", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (made < 0)
		return error_errno(errno, "cannot make a run area");
	if (ftruncate(made, (off_t)AREA_SIZE) < 0)
		return error_errno(errno,
				   "cannot make a run area of %llu GiB, mostly empty (look at ulimit -f)",
				   (unsigned long long)(AREA_SIZE >> 30));
	/* A program that truncates every descriptor it finds must not lose the area. */
	fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	head.options.seed = seed;
	if (pwrite(made, &head, sizeof head, 0) != (ssize_t)sizeof head)
		return error_errno(errno, "cannot write the head of a run area");
	*fd = move_up(made);
	return *fd < 0 ? error_errno(errno, "cannot make a run area") : NULL;
}

char **spawn_environment(char *entry)
{
	size_t n = 0, name = strlen(AREA_ENVIRONMENT);

	while (environ[n])
		n++;
	char **environment = memory_alloc((n + 2) * sizeof *environment);
	size_t at = 0;

	environment[at++] = entry;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], AREA_ENVIRONMENT, name) != 0 || environ[i][name] != '=')
			environment[at++] = environ[i];
	return environment;
}

void spawn_entry(char entry[SPAWN_ENTRY_SIZE], int area)
{
	snprintf(entry, SPAWN_ENTRY_SIZE, "%s=%d", AREA_ENVIRONMENT, area);
}

/* Only root may read the setting. Others can tell by their own addresses: with
 * 32 bits each of the two lies out of the range of 28 bits in 15 of 16 processes. */
static bool lies_far(void)
{
	/* 28 bits keep libraries within 1 TiB below the stack and the executable
	 * within 1 TiB above two thirds of the address space. */
	const uintptr_t libraries = 0x7ef000000000, executable = 0x566000000000, between = 0x6e0000000000;
	uintptr_t library = (uintptr_t)&getppid, own = (uintptr_t)&spawn_must_be_still;

	return (library > between && library < libraries) || (own > executable && own < between);
}

bool spawn_must_be_still(void)
{
	_cleanup_fclose_ FILE *setting = fopen("/proc/sys/vm/mmap_rnd_bits", "re");
	int bits;

	if (setting && fscanf(setting, "%d", &bits) == 1)
		return bits > SHADOW_RANDOM_BITS;
	return lies_far();
}
