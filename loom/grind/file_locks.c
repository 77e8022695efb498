/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls on files that wait for another thread or process: locks on files, and named pipes, whose one end is not open
 * before the other one is. */
#include "loom/grind/system_calls.h"

#define LOCK_NB 4
#define LOCK_UN 8
#define OFD_SETLK 37
#define OFD_SETLKW 38
#define O_ACCMODE 3
#define O_NONBLOCK 2048
#define O_PATH 010000000
#define DESCRIPTORS_SEEN 1024u

/* Until `look` says that the call would not wait; false when interrupted, or the program is over. */
static bool await(const char *name, bool (*look)(struct agent *), const void *looked)
{
	struct agent *me = grind.thread->agent;
	bool goes_on = true;

	control_call(site_of_call(SITE_SYNC, name), 0);
	for (me->looked = looked; goes_on && !look(me); me->looked = looked) {
		me->look = look;
		me->foreign = true;
		me->thread->calls = WAIT_NOTHING;
		goes_on = control_wait(me, WAIT_INPUT, 0, NEVER) != WAIT_INTERRUPTED && !control.over;
	}
	me->look = NULL;
	me->looked = NULL;
	me->foreign = false;
	return goes_on;
}

/* ---- locks ---- */

/* Takes it: the program's call finds it taken by the same owner. */
static bool lock_look(struct agent *agent)
{
	const struct call *call = agent->looked;
	bool whole = call->number == __NR_flock;
	UWord operation = whole ? call->a[1] | LOCK_NB : OFD_SETLK;

	return raw_call(call->number, (long)call->a[0], (long)operation, (long)call->a[2], 0, 0, 0) !=
	       -VKI_EAGAIN;
}

/* ---- named pipes ---- */

struct pipe_open {
	const struct call *call;
	int path, flags; /* which arguments */
	struct vki_stat file;
	int fd; /* of a reader */
};

static bool is_pipe(struct pipe_open *open)
{
	const UWord *a = open->call->a;
	int mode = (int)a[open->flags] & O_ACCMODE;

	return mode < 2 && !(a[open->flags] & (O_NONBLOCK | O_PATH)) &&
	       raw_call(__NR_newfstatat, open->path ? (long)(int)a[0] : -100 /* AT_FDCWD */,
			(long)a[open->path], (long)&open->file, 0, 0, 0) >= 0 &&
	       (open->file.st_mode & 0170000) == 0010000; /* S_IFIFO */
}

/* Has a thread of this process the other end, or both? */
static bool other_end_look(struct agent *agent)
{
	const struct pipe_open *open = agent->looked;
	int mine = (int)open->call->a[open->flags] & O_ACCMODE;
	struct vki_pollfd polled = { .fd = open->fd, .events = VKI_POLLIN };
	struct vki_stat other;

	for (int fd = 0; (uint32_t)fd < DESCRIPTORS_SEEN; fd++)
		if (fd != open->fd && raw_call(__NR_fstat, fd, (long)&other, 0, 0, 0, 0) >= 0 &&
		    other.st_ino == open->file.st_ino && other.st_dev == open->file.st_dev &&
		    (raw_call(__NR_fcntl, fd, VKI_F_GETFL, 0, 0, 0, 0) & O_ACCMODE) != mine)
			return true;
	return open->fd >= 0 && raw_call(__NR_poll, (long)&polled, 1, 0, 0, 0, 0) > 0;
}

/* A reader is in at once, and waits for a writer, which is let in when there is a reader. */
static bool open_pipe(const struct call *call, UInt trc)
{
	struct pipe_open open = { .call = call, .path = call->number == __NR_openat, .fd = -1 };

	open.flags = open.path + 1;
	if (children_made || !is_pipe(&open))
		return false;
	if ((call->a[open.flags] & O_ACCMODE) != 0) { /* a writer */
		await("open", other_end_look, &open);
		return false;
	}
	call_with(call, trc, open.flags, call->a[open.flags] | O_NONBLOCK);
	open.fd = (int)guest_word(call->tid, REGISTER(RAX));
	if (open.fd < 0)
		return true;
	raw_call(__NR_fcntl, open.fd, VKI_F_SETFL,
		 raw_call(__NR_fcntl, open.fd, VKI_F_GETFL, 0, 0, 0, 0) & ~O_NONBLOCK, 0, 0, 0);
	if (!await("open", other_end_look, &open)) {
		raw_call(__NR_close, open.fd, 0, 0, 0, 0, 0);
		answer(call, -VKI_EINTR);
	}
	return true;
}

bool file_call(const struct call *call, UInt trc)
{
	switch (call->number) {
	case __NR_flock:
		if (!(call->a[1] & (LOCK_NB | LOCK_UN)))
			await("flock", lock_look, call);
		return false;
	case __NR_fcntl:
		if (call->a[1] == OFD_SETLKW)
			await("fcntl", lock_look, call);
		return false;
	case __NR_open:
	case __NR_openat:
		return open_pipe(call, trc);
	default:
		return false;
	}
}
