/* Without a limit on the stack the kernel puts libraries far down, where the shadow memory
 * has to be. The program is then started once more with a limit that is as good as none,
 * and the limit taken away again before the program sees it. */
#include "loom/runtime/process/process.h"

#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AS_GOOD_AS_NONE (1ull << 40) /* the kernel leaves that much room; also how the second start knows */
#define USUAL_THREAD_STACK (2ull << 20) /* libc's where there is no limit */

static bool libraries_lie_low(void)
{
	return (uint64_t)&getrlimit < (CELLS_START & ~4095ull) + UPPER_DISPLACEMENT + CELLS_SIZE;
}

/* libc has taken the limit for the size of threads' stacks. */
static void take_limit_away(struct rlimit *limit)
{
	pthread_attr_t usual;
	limit->rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_STACK, limit);
	if (pthread_attr_init(&usual) != 0)
		return;
	if (pthread_attr_setstacksize(&usual, USUAL_THREAD_STACK) == 0)
		pthread_setattr_default_np(&usual);
	pthread_attr_destroy(&usual);
}

void stack_settle(char **argv, char **environment)
{
	struct rlimit limit;
	char path[PATH_MAX];
	if (getrlimit(RLIMIT_STACK, &limit) != 0)
		return;
	if (limit.rlim_cur == AS_GOOD_AS_NONE && limit.rlim_max == RLIM_INFINITY)
		take_limit_away(&limit);
	else if (limit.rlim_cur == RLIM_INFINITY && libraries_lie_low()) {
		ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
		limit.rlim_cur = AS_GOOD_AS_NONE;
		if (n <= 0 || setrlimit(RLIMIT_STACK, &limit) != 0)
			return;
		path[n] = '\0';
		raw_call(SYS_execve, (long)path, (long)argv, (long)environment, 0, 0, 0);
		limit.rlim_cur = RLIM_INFINITY;
		setrlimit(RLIMIT_STACK, &limit);
	}
}
