/* Locks on files under control: asked for without waiting, and again when a lock was given back. They
 * keep out other processes, too, so a thread that waits for one is never called deadlocked for that. */
#include "loom/runtime/sync/blocking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a thread waits for: flock(2) of the file, or with a lock, fcntl(2). */
struct lock_wait {
	int fd, operation;
	struct flock *lock;
};

static long try_file_lock(const struct lock_wait *wait)
{
	if (wait->lock)
		return raw_call(SYS_fcntl, wait->fd, wait->operation, (long)wait->lock, 0, 0, 0);
	return raw_call(SYS_flock, wait->fd, wait->operation | LOCK_NB, 0, 0, 0, 0);
}

static bool is_taken(long result)
{
	return result == -EAGAIN || result == -EACCES;
}

/* Takes it if it can be had; that its thread takes it once more then changes nothing. */
static bool lock_look(struct agent *agent)
{
	return !is_taken(try_file_lock(agent->looked));
}

static int lock_acquire(struct agent *me, struct lock_wait wait)
{
	long result;
	while (is_taken(result = try_file_lock(&wait))) {
		me->look = lock_look;
		me->looked = &wait;
		me->foreign = true;
		enum wait_result end = control_wait(me, WAIT_INPUT, 0, NEVER);
		cancel_point(me);
		if (end == WAIT_INTERRUPTED && !me->restarts) {
			result = -EINTR;
			break;
		}
	}
	blocking_moved(); /* one may have been given back for another */
	return (int)with_errno(result);
}

INTERPOSE int flock(int fd, int operation)
{
	struct agent *me = control_me();
	if (!me)
		return REAL(flock)(fd, operation);
	control_call(me, (const void *)(intptr_t)(fd + 1));
	if (!(operation & (LOCK_NB | LOCK_UN)))
		return lock_acquire(me, (struct lock_wait){ .fd = fd, .operation = operation });
	int result = REAL(flock)(fd, operation);
	blocking_moved();
	return result;
}

/* All that fcntl can be asked for has one argument of a word, or none. */
static int file_control(int fd, int operation, void *argument)
{
	struct agent *me = control_me();
	bool may_wait = operation == F_SETLKW || operation == F_OFD_SETLKW;
	if (!me || !(may_wait || operation == F_SETLK || operation == F_OFD_SETLK))
		return REAL(fcntl)(fd, operation, argument);
	control_call(me, (const void *)(intptr_t)(fd + 1));
	if (may_wait)
		return lock_acquire(me, (struct lock_wait){
						.fd = fd,
						.operation = operation == F_SETLKW ? F_SETLK : F_OFD_SETLK,
						.lock = argument,
					});
	int result = REAL(fcntl)(fd, operation, argument);
	blocking_moved();
	return result;
}

INTERPOSE int fcntl(int fd, int operation, ...)
{
	va_list list;
	va_start(list, operation);
	void *argument = va_arg(list, void *);
	va_end(list);
	return file_control(fd, operation, argument);
}

INTERPOSE int fcntl64(int fd, int operation, ...)
{
	va_list list;
	va_start(list, operation);
	void *argument = va_arg(list, void *);
	va_end(list);
	return file_control(fd, operation, argument);
}

INTERPOSE int lockf(int fd, int operation, off_t size)
{
	struct agent *me = control_me();
	if (!me || operation != F_LOCK)
		return REAL(lockf)(fd, operation, size);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = size };
	control_call(me, (const void *)(intptr_t)(fd + 1));
	return lock_acquire(me, (struct lock_wait){ .fd = fd, .operation = F_SETLK, .lock = &lock });
}
