/* Starting processes. vfork keeps this cheap: a run costs no copy of the tool's
 * page tables. Between vfork and exec the child borrows the memory of its
 * parent, so that there only system calls are made.
 */
#include "loom/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
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
#include "loom/harvest.h"

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
	if (spawn->processors)
		sched_setaffinity(0, sizeof *spawn->processors, spawn->processors);
	if (spawn->small_pages)
		prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
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

int spawn_move_up(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, AREA_DESCRIPTOR);

	/* The limit on descriptors may be lower than that. */
	for (int floor = AREA_DESCRIPTOR / 2; moved < 0 && floor > 2; floor /= 2)
		moved = fcntl(fd, F_DUPFD_CLOEXEC, floor);
	return moved;
}

struct error *spawn_area(const struct area_options *options, const struct area_control *control,
			 uint64_t seed, int *fd)
{
	struct area_head head = {
		.magic = AREA_MAGIC, .version = AREA_VERSION, .options = *options, .control = *control
	};
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
	*fd = spawn_move_up(made);
	return *fd < 0 ? error_errno(errno, "cannot make a run area") : NULL;
}

#define PLAN_OFFSET (AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, plan))

#define SITES_OFFSET (AREA_SCHEDULE_OFFSET + offsetof(struct area_schedule, sites))

static struct error *write_part(int fd, uint64_t offset, const void *from, size_t size)
{
	const char *at = from;

	for (size_t left = size; left;) {
		ssize_t done = pwrite(fd, at, left, (off_t)offset);

		if (done < 0 && errno != EINTR)
			return error_errno(errno, "cannot write a schedule for the program to follow");
		if (done > 0) {
			at += done;
			left -= (size_t)done;
			offset += (uint64_t)done;
		}
	}
	return NULL;
}

struct error *spawn_write_turns(int fd, uint64_t offset, const struct schedule_turn *turns, size_t n)
{
	if (n > AREA_TURNS)
		return error_new("the schedule is too long: %zu turns, at most %u can be followed", n,
				 AREA_TURNS);
	_cleanup_free_ struct area_turn *plan = memory_alloc(n * sizeof *plan);

	for (size_t i = 0; i < n; i++)
		plan[i] = (struct area_turn){ .thread = turns[i].thread,
					      .kind = turns[i].wake ? TURN_WAKE : TURN_RUN,
					      .end = (uint16_t)turns[i].stop,
					      .points = turns[i].points,
					      .site = turns[i].site };
	return write_part(fd, offset, plan, n * sizeof *plan);
}

struct error *spawn_plan(int fd, const struct schedule_turn *turns, size_t n)
{
	return spawn_write_turns(fd, PLAN_OFFSET, turns, n);
}

struct error *spawn_copy_plan(int fd, int from, size_t n)
{
	_cleanup_free_ struct area_turn *plan = memory_alloc(n * sizeof *plan);

	TRY(harvest_read(from, 0, plan, n * sizeof *plan));
	return write_part(fd, PLAN_OFFSET, plan, n * sizeof *plan);
}

struct error *spawn_sites(int fd, const uint64_t *sites, size_t n)
{
	if (n > AREA_POINT_SITES)
		return error_new("the schedule names too many sites: %zu, at most %u can be followed", n,
				 AREA_POINT_SITES);
	return write_part(fd, SITES_OFFSET, sites, n * sizeof *sites);
}

struct error *spawn_copy_sites(int fd, int from, size_t n)
{
	_cleanup_free_ uint64_t *sites = memory_alloc((n + 1) * sizeof *sites);

	TRY(harvest_read(from, 0, sites, n * sizeof *sites));
	return spawn_sites(fd, sites, n);
}

struct error *spawn_sites_file(const uint64_t *sites, size_t n, int *fd)
{
	*fd = memfd_create("unsnarl-sites", MFD_CLOEXEC);
	if (*fd < 0)
		return error_errno(errno, "cannot make a file for a set of sites");
	struct error *error = write_part(*fd, 0, sites, n * sizeof *sites);

	if (error) {
		close(*fd);
		*fd = -1;
	}
	return error;
}

static bool is_ours(const char *entry)
{
	static const char *const names[] = { AREA_ENVIRONMENT "=", SERVER_ENVIRONMENT "=" };

	return !strncmp(entry, names[0], strlen(names[0])) || !strncmp(entry, names[1], strlen(names[1]));
}

char **spawn_environment(char *entry)
{
	size_t n = 0;

	while (environ[n])
		n++;
	char **environment = memory_alloc((n + 2) * sizeof *environment);
	size_t at = 0;

	environment[at++] = entry;
	for (size_t i = 0; i < n; i++)
		if (!is_ours(environ[i]))
			environment[at++] = environ[i];
	return environment;
}

char **spawn_bound_environment(char *const *environment)
{
	size_t n = 0;

	while (environment[n])
		n++;
	char **bound = memory_alloc((n + 2) * sizeof *bound);

	memcpy(bound, environment, n * sizeof *bound);
	if (!getenv("LD_BIND_NOW"))
		bound[n] = (char *)"LD_BIND_NOW=unsnarl";
	return bound;
}

void spawn_entry(char entry[SPAWN_ENTRY_SIZE], int area)
{
	/* As long as a server's entry, which takes its place: a program's stack lies alike in all runs. */
	snprintf(entry, SPAWN_ENTRY_SIZE, "%s=%06d", AREA_ENVIRONMENT, area);
}

void spawn_server_entry(char entry[SPAWN_ENTRY_SIZE], int socket)
{
	snprintf(entry, SPAWN_ENTRY_SIZE, "%s=%04d", SERVER_ENVIRONMENT, socket);
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
