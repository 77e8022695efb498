/* Root makes namespaces directly; others need one of users around them, which many
 * kernels grant and some containers refuse, some of them only half way. Half way would
 * leave a process that is nobody, so it is tried in a child first. */
#include "loom/world/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

static bool put(const char *path, const char *text)
{
	_cleanup_close_ int file = open(path, O_WRONLY | O_CLOEXEC);

	return file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
}

/* With a namespace of users; without rights a user may map himself alone. */
static bool enter_as_user(int flags)
{
	uid_t user = geteuid();
	gid_t group = getegid();
	char map[64];

	if (unshare(flags | CLONE_NEWUSER) < 0)
		return false;
	snprintf(map, sizeof map, "%u %u 1", (unsigned)user, (unsigned)user);
	if (!put("/proc/self/uid_map", map))
		return false;
	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof map, "%u %u 1", (unsigned)group, (unsigned)group);
	return put("/proc/self/gid_map", map);
}

/* Does it all go well, mounting included? */
static bool would_work(int flags)
{
	int status = 1;
	pid_t child = fork();

	if (child == 0)
		_exit(!enter_as_user(flags | CLONE_NEWNS) ||
		      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && status == 0;
}

bool namespaces_enter(int flags, bool *as_user)
{
	if (unshare(flags) == 0)
		return true;
	if (*as_user || !would_work(flags) || !enter_as_user(flags))
		return false;
	*as_user = true;
	return true;
}
