/* Random numbers: under control every run gets the same ones, be it from the kernel, from
 * libc or from the C++ library. */
#include "loom/runtime/sync/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t chance_state = 0x6a09e667f3bcc908u;

static uint64_t chance_next(void)
{
	/* splitmix64 */
	uint64_t z = chance_state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void chance_fill(void *to, size_t size)
{
	unsigned char *bytes = to;
	for (size_t i = 0; i < size; i += 8) {
		uint64_t next = chance_next();
		memcpy(bytes + i, &next, size - i < 8 ? size - i : 8);
	}
}

INTERPOSE ssize_t getrandom(void *to, size_t size, unsigned flags)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(getrandom)(to, size, flags);
	control_call(me, &chance_state);
	chance_fill(to, size);
	return (ssize_t)size;
}

INTERPOSE int getentropy(void *to, size_t size)
{
	struct agent *me = control_me();
	if (!me || size > 256)
		return REAL(getentropy)(to, size);
	control_call(me, &chance_state);
	chance_fill(to, size);
	return 0;
}

/* libc has these since version 2.36. */
extern uint32_t arc4random(void);
extern void arc4random_buf(void *to, size_t size);
extern uint32_t arc4random_uniform(uint32_t below);

INTERPOSE uint32_t arc4random(void)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(arc4random)();
	control_call(me, &chance_state);
	return (uint32_t)chance_next();
}

INTERPOSE void arc4random_buf(void *to, size_t size)
{
	struct agent *me = control_me();
	if (!me) {
		REAL(arc4random_buf)(to, size);
		return;
	}
	control_call(me, &chance_state);
	chance_fill(to, size);
}

INTERPOSE uint32_t arc4random_uniform(uint32_t below)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(arc4random_uniform)(below);
	control_call(me, &chance_state);
	return (uint32_t)((chance_next() >> 32) * below >> 32);
}

/* std::random_device: asks the processor where it can. */
extern unsigned _ZNSt13random_device9_M_getvalEv(void *device);

INTERPOSE unsigned _ZNSt13random_device9_M_getvalEv(void *device)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(_ZNSt13random_device9_M_getvalEv)(device);
	control_call(me, &chance_state);
	return (unsigned)chance_next();
}

/* ---- the files of random numbers ---- */

static uint64_t chance_files[16]; /* descriptors below 1024 that are such a file */

static bool is_random(const char *path)
{
	return strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0;
}

bool chance_reads(int fd)
{
	return fd >= 0 && fd < 1024 && chance_files[fd / 64] >> fd % 64 & 1;
}

void chance_close(int fd)
{
	if (chance_reads(fd))
		chance_files[fd / 64] &= ~(1ull << fd % 64);
}

static int opened(const char *path, int fd)
{
	if (fd >= 0 && fd < 1024 && control_me() && is_random(path))
		chance_files[fd / 64] |= 1ull << fd % 64;
	return fd;
}

static mode_t mode_of(int flags, va_list *list)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(*list, mode_t) : 0;
}

INTERPOSE int open(const char *path, int flags, ...)
{
	va_list list;
	va_start(list, flags);
	mode_t mode = mode_of(flags, &list);
	va_end(list);
	int fd;
	if (UNLIKELY(runtime.controlled) && named_pipe_open(path, flags, &fd))
		return fd;
	return opened(path, REAL(open)(path, flags, mode));
}

INTERPOSE int open64(const char *path, int flags, ...)
{
	va_list list;
	va_start(list, flags);
	mode_t mode = mode_of(flags, &list);
	va_end(list);
	int fd;
	if (UNLIKELY(runtime.controlled) && named_pipe_open(path, flags, &fd))
		return fd;
	return opened(path, REAL(open64)(path, flags, mode));
}

static ssize_t cookie_read(void *none, char *to, size_t size)
{
	(void)none;
	chance_fill(to, size);
	return (ssize_t)size;
}

INTERPOSE FILE *fopen(const char *path, const char *mode)
{
	if (control_me() && is_random(path) && strchr(mode, 'r'))
		return fopencookie(NULL, mode, (cookie_io_functions_t){ .read = cookie_read });
	int flags = strchr(mode, 'r') ? O_RDONLY : O_WRONLY, fd;
	if (UNLIKELY(runtime.controlled) && !strchr(mode, '+') &&
	    named_pipe_open(path, flags | (strchr(mode, 'e') ? O_CLOEXEC : 0), &fd))
		return fd < 0 ? NULL : fdopen(fd, mode);
	return REAL(fopen)(path, mode);
}
