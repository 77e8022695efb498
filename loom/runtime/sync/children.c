/* Other processes: children are not under control. Who waits for one lets the other threads
 * go on; and whether any is alive tells whether something may still come from outside. */
#include "loom/runtime/sync/children.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of /proc; -1 when it cannot be read. */
static long read_text(const char *path, char *text, size_t size)
{
	long fd = raw_call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
	if (fd < 0)
		return -1;
	long n = raw_call(SYS_read, fd, (long)text, (long)size - 1, 0, 0, 0);
	raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

/* Not ended; one that has, but was not waited for, can do nothing any more. */
static bool is_alive(long pid)
{
	char path[64], text[256];
	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	if (read_text(path, text, sizeof text) <= 0)
		return false;
	const char *name_end = strrchr(text, ')');
	return !name_end || (name_end[1] && name_end[2] != 'Z' && name_end[2] != 'X');
}

/* Children that one of our threads has started. */
static bool has_child_alive(const char *tid)
{
	char path[64], text[4096];
	snprintf(path, sizeof path, "/proc/self/task/%s/children", tid);
	if (read_text(path, text, sizeof text) < 0)
		return true; /* a kernel that does not tell */
	for (char *at = text, *end;; at = end) {
		long pid = strtol(at, &end, 10);
		if (end == at)
			return false;
		if (is_alive(pid) && !forked_is_stuck(pid))
			return true;
	}
}

/* Processes that were observed: also grandchildren whose parent is gone. */
static bool has_observed_alive(void)
{
	for (uint32_t i = 1; i < runtime.head->processes && i < AREA_PROCESSES; i++) {
		int32_t pid = 0;
		raw_call(SYS_pread64, runtime.area_fd, (long)&pid, sizeof pid, (long)AREA_PROCESS_OFFSET(i),
			 0, 0);
		if (pid > 0 && pid != control.pid && is_alive(pid) && !forked_is_stuck(pid))
			return true;
	}
	return false;
}

bool children_alive(void)
{
	char names[1024];
	siginfo_t ended = { 0 };
	bool alive = false;
	if (!control.forked)
		return false;
	if (has_observed_alive())
		return true;
	if (raw_call(SYS_waitid, P_ALL, 0, (long)&ended, WEXITED | WNOHANG | WNOWAIT | __WALL, 0, 0) < 0)
		return false; /* no children at all */
	if (!ended.si_pid && !control.schedule->nstuck)
		return true;
	long folder =
		raw_call(SYS_open, (long)"/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0, 0);
	if (folder < 0)
		return true;
	for (long n;
	     !alive && (n = raw_call(SYS_getdents64, folder, (long)names, sizeof names, 0, 0, 0)) > 0;)
		for (long at = 0; !alive && at < n;) {
			const struct dirent64 *entry = (const struct dirent64 *)(const void *)(names + at);
			alive = entry->d_name[0] != '.' && has_child_alive(entry->d_name);
			at += entry->d_reclen;
		}
	raw_call(SYS_close, folder, 0, 0, 0, 0, 0);
	return alive;
}

/* ---- waiting for children ---- */

struct child_wait {
	idtype_t kind;
	id_t id;
	int options;
};

static bool child_look(struct agent *agent)
{
	const struct child_wait *wait = agent->looked;
	siginfo_t ended = { 0 };
	long result = raw_call(SYS_waitid, wait->kind, wait->id, (long)&ended,
			       wait->options | WNOHANG | WNOWAIT, 0, 0);
	return result != 0 || ended.si_pid != 0;
}

bool children_are_awaited(const struct agent *agent)
{
	return agent->look == child_look;
}

/* Until a child has news, or there is none; false when interrupted. */
static bool await_child(struct agent *me, struct child_wait wait)
{
	for (;;) {
		me->looked = &wait;
		me->look = child_look;
		if (child_look(me)) {
			me->look = NULL;
			me->looked = NULL;
			return true;
		}
		me->foreign = true;
		enum wait_result result = control_wait(me, WAIT_INPUT, 0, NEVER);
		cancel_point(me);
		if (result == WAIT_INTERRUPTED && !me->restarts)
			return false;
	}
}

INTERPOSE pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	struct agent *me = control_me();
	if (me) {
		struct child_wait wait = { .kind = pid == -1 ? P_ALL
						   : pid > 0 ? P_PID
							     : P_PGID,
					   .id = pid > 0     ? (id_t)pid
						 : pid == -1 ? 0
							     : (id_t)-pid,
					   .options = WEXITED | (options & WUNTRACED ? WSTOPPED : 0) |
						      (options & ~(WNOHANG | WUNTRACED)) };
		control_call(me, NULL);
		cancel_point(me);
		if (!(options & WNOHANG) && !await_child(me, wait)) {
			errno = EINTR;
			return -1;
		}
	}
	return REAL(wait4)(pid, status, options, usage);
}

INTERPOSE pid_t waitpid(pid_t pid, int *status, int options)
{
	return control_me() ? wait4(pid, status, options, NULL) : REAL(waitpid)(pid, status, options);
}

INTERPOSE pid_t wait(int *status)
{
	return control_me() ? wait4(-1, status, 0, NULL) : REAL(wait)(status);
}

INTERPOSE pid_t wait3(int *status, int options, struct rusage *usage)
{
	return control_me() ? wait4(-1, status, options, usage) : REAL(wait3)(status, options, usage);
}

INTERPOSE int waitid(idtype_t kind, id_t id, siginfo_t *info, int options)
{
	struct agent *me = control_me();
	if (me) {
		control_call(me, NULL);
		cancel_point(me);
		if (!(options & WNOHANG) &&
		    !await_child(me, (struct child_wait){ kind, id, options & ~WNOWAIT })) {
			errno = EINTR;
			return -1;
		}
	}
	return REAL(waitid)(kind, id, info, options);
}

/* ---- starting them otherwise than by fork ---- */

void children_start(void)
{
	if (!control_me())
		return;
	control.forked = true;
	control_uncontrolled("other processes that it starts: they run free");
}

INTERPOSE int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			  const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	children_start();
	return REAL(posix_spawn)(pid, path, actions, attributes, argv, environment);
}

INTERPOSE int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	children_start();
	return REAL(posix_spawnp)(pid, file, actions, attributes, argv, environment);
}

/* vfork's child lives on the stack and in the thread of its parent until it executes something else: what it
 * does in between is no point and gives the token to nobody. */
static struct agent *vforks;

__attribute__((used)) static void vfork_begins(void)
{
	struct agent *me = control_me();
	if (!me)
		return;
	control_call(me, NULL);
	children_start();
	vforks = me;
	me->inside = true;
}

__attribute__((used)) static long vfork_is_over(long result)
{
	if (vforks && control.current == vforks && vforks->thread == unsnarl_self) {
		vforks->inside = false;
		vforks = NULL;
	}
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

/* The return address is in a register while two processes share the stack. */
__asm__(".pushsection .text\n"
	".weak vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	subq $8, %rsp\n"
	"	call vfork_begins\n"
	"	addq $8, %rsp\n"
	"	popq %rdi\n"
	"	movl $58, %eax\n"
	"	syscall\n"
	"	pushq %rdi\n"
	"	testq %rax, %rax\n"
	"	jz 1f\n"
	"	movq %rax, %rdi\n"
	"	subq $8, %rsp\n"
	"	call vfork_is_over\n"
	"	addq $8, %rsp\n"
	"1:	ret\n"
	".size vfork, . - vfork\n"
	".popsection\n");
