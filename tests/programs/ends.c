/* Ends in the way its first argument names. Has the section by which a program
 * with hooks is known, and none of what else makes one. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loom/area.h"
#include "model/unit_format.h"

__attribute__((used, section(UNIT_RUNTIME_SECTION))) static const uint32_t mark = AREA_VERSION;

static int number(char **argv)
{
	return argv[2] ? atoi(argv[2]) : 0;
}

static _Noreturn void hang(void)
{
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_IGN);
	for (;;)
		pause();
}

static int close_all(void)
{
	for (int fd = 0; fd < 4096; fd++)
		close(fd);
	usleep(50000);
	return 0;
}

/* Says what is wrong with the run area, or its seed. */
static int area(void)
{
	const char *name = getenv(AREA_ENVIRONMENT);
	int fd = name ? atoi(name) : -1;
	struct area_head head;
	struct stat status;

	if (fd < 3 || fstat(fd, &status) < 0)
		return puts("no descriptor"), 1;
	if ((uint64_t)status.st_size != AREA_SIZE)
		return puts("wrong size"), 1;
	if (ftruncate(fd, 0) == 0)
		return puts("can be truncated"), 1;
	if (pread(fd, &head, sizeof head, 0) != sizeof head || head.magic != AREA_MAGIC)
		return puts("wrong head"), 1;
	if (head.version != AREA_VERSION || head.processes || head.threads)
		return puts("wrong start"), 1;
	printf("seed %llu jitter %u context %u\n", (unsigned long long)head.options.seed,
	       head.options.jitter_us, head.options.context);
	/* For the harvest to find. */
	head.threads = 7;
	return pwrite(fd, &head, sizeof head, 0) == sizeof head ? 0 : 1;
}

/* The surroundings that launch promises. */
static int surroundings(void)
{
	struct rlimit core;
	sigset_t blocked;
	char byte;

	if (read(0, &byte, 1) != 0)
		return puts("stdin is not empty"), 1;
	if (getsid(0) != getpid() || getpgrp() != getpid())
		return puts("not in a session of its own"), 1;
	if (fcntl(1, F_GETFL) & O_NONBLOCK || fcntl(2, F_GETFL) & O_NONBLOCK)
		return puts("output does not block"), 1;
	if (getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur > 1)
		return puts("would dump core"), 1;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int s = 1; s < 32; s++)
		if (sigismember(&blocked, s))
			return printf("signal %d is blocked\n", s), 1;
	for (int fd = 3; fd < 2048; fd++)
		if (fcntl(fd, F_GETFD) >= 0 && fd != atoi(getenv(AREA_ENVIRONMENT)))
			return printf("descriptor %d is open\n", fd), 1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";

	if (strcmp(how, "exit") == 0)
		exit(number(argv));
	if (strcmp(how, "_exit") == 0)
		_exit(number(argv));
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "raise") == 0)
		return raise(number(argv));
	if (strcmp(how, "segv") == 0)
		return *(volatile int *)8;
	if (strcmp(how, "hang") == 0)
		hang();
	if (strcmp(how, "sleep") == 0)
		return usleep((useconds_t)number(argv));
	if (strcmp(how, "close-all") == 0)
		return close_all();
	if (strcmp(how, "area") == 0)
		return area();
	if (strcmp(how, "surroundings") == 0)
		return surroundings();
	return 99;
}
