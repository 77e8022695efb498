/* vfork: the child closes and duplicates descriptors, writes a variable of its parent, executes; threads go on.
 * uncontrolled: other processes */
#include "check.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int failure;
static int count;

static void *worker(void *none)
{
	for (int i = 0; i < 50; i++)
		__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
	return none;
}

int main(void)
{
	pthread_t thread = start(worker, NULL);
	for (int i = 0; i < 3; i++) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC), status = 1;
		pid_t child = vfork();
		if (child == 0) {
			dup2(null, 0);
			execl(i == 2 ? "/nowhere/true" : "/bin/true", "true", (char *)NULL);
			failure = errno;
			_exit(7);
		}
		CHECK(child > 0);
		EQUAL(waitpid(child, &status, 0), child);
		EQUAL(WEXITSTATUS(status), i == 2 ? 7 : 0);
		EQUAL(close(null), 0);
	}
	EQUAL(failure, ENOENT);
	finish(thread);
	printf("%d\n", count);
	return 0;
}
